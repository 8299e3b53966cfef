// The line that shows a person how far a long run is.

#ifndef ASTRA_CORE_BASE_PROGRESS_H_
#define ASTRA_CORE_BASE_PROGRESS_H_

#include <chrono>
#include <cstdio>
#include <string>

#include "astra-core/base/units.h"

namespace astra {

// "  42 %  simulated 1.250 ms  3 s left", for a run that has taken `elapsed`
// seconds for the share `fraction` of its work. Requires 0 <= fraction <= 1.
std::string ProgressText(double fraction, TimePs simulated, double elapsed_s);

// Keeps one line of a terminal up to date, at most five times a second and
// only once the run has lasted a second. Prints nothing into a pipe or file.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* out = stderr);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(double fraction, TimePs simulated);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + std::chrono::seconds(1);
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PROGRESS_H_
