// Shows the progress of a long run to a person.

#ifndef ASTRA_CORE_BASE_PROGRESS_H_
#define ASTRA_CORE_BASE_PROGRESS_H_

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "astra-core/base/units.h"

namespace astra {

// Returns "  42 %  simulated 1.250 ms  3 s left  DETAILS" for a run that took
// `elapsed_s` seconds for the share `fraction` of its work. `done` describes
// this share; `details` may be empty. Requires 0 <= fraction <= 1.
std::string ProgressText(double fraction, std::string_view done,
                         double elapsed_s, std::string_view details = {});

// Returns text such as "simulated 1.250 ms".
std::string SimulatedText(TimePs simulated);

// Shows the progress of a run. On a terminal it keeps one line up to date, cut
// to the width of the terminal, at most five times a second and only after the
// run has lasted a second. Into a pipe or file it writes a line whenever
// `between_lines` has passed and the share `between_shares` more of the work is
// done, or a minute has passed.
class ProgressLine {
 public:
  explicit ProgressLine(
      std::FILE* out = stderr,
      std::chrono::milliseconds between_lines = std::chrono::seconds(10),
      double between_shares = 0);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Returns whether Update() would show something. Use it to avoid costly
  // texts.
  bool IsDue() const { return Clock::now() >= next_; }
  void Update(double fraction, std::string_view done,
              std::string_view details = {});
  void Update(double fraction, TimePs simulated) {
    if (IsDue()) Update(fraction, SimulatedText(simulated));
  }

  // Removes the line from a terminal, so that another line can be printed
  // there.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void WriteLine(std::string_view text);

  std::FILE* out_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::duration between_updates_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;  // Earliest time of the next update.
  // Of a pipe or file: the share from one line to the next, and the last line.
  double between_shares_ = 0;
  Clock::time_point shown_at_ = begin_;
  double shown_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PROGRESS_H_
