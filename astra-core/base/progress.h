// Shows the progress of a long run to a person.

#ifndef ASTRA_CORE_BASE_PROGRESS_H_
#define ASTRA_CORE_BASE_PROGRESS_H_

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "astra-core/base/units.h"

namespace astra {

// Returns "  42 %  simulated 1.250 ms  3 s left" for a run that took
// `elapsed_s` seconds for the share `fraction` of its work. `done` describes
// this share. Requires 0 <= fraction <= 1.
std::string ProgressText(double fraction, std::string_view done,
                         double elapsed_s);

// Returns text such as "simulated 1.250 ms".
std::string SimulatedText(TimePs simulated);

// Shows the progress of a run. On a terminal it keeps one line up to date, at
// most five times a second and only after the run has lasted a second. Into a
// pipe or file it writes a line whenever `between_lines` has passed.
class ProgressLine {
 public:
  explicit ProgressLine(
      std::FILE* out = stderr,
      std::chrono::milliseconds between_lines = std::chrono::seconds(10));
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Returns whether Update() would show something. Use it to avoid costly
  // texts.
  bool IsDue() const { return Clock::now() >= next_; }
  void Update(double fraction, std::string_view done);
  void Update(double fraction, TimePs simulated) {
    if (IsDue()) Update(fraction, SimulatedText(simulated));
  }

  // Removes the line from a terminal, so that another line can be printed
  // there.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::duration between_updates_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;  // Earliest time of the next update.
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PROGRESS_H_
