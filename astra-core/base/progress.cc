#include "astra-core/base/progress.h"

#include <unistd.h>

#include "fmt/format.h"

namespace astra {

std::string ProgressText(double fraction, TimePs simulated, double elapsed_s) {
  std::string text =
      fmt::format("{:4.0f} %  simulated {:.3f} ms", 100 * fraction,
                  ToMicroseconds(simulated) * 1e-3);
  if (fraction > 0) {
    text += fmt::format("  {:.0f} s left", elapsed_s / fraction - elapsed_s);
  }
  return text;
}

ProgressLine::ProgressLine(std::FILE* out)
    : out_(out), is_terminal_(isatty(fileno(out)) != 0) {}

ProgressLine::~ProgressLine() {
  if (is_shown_) fmt::print(out_, "\r\x1b[K");
}

void ProgressLine::Update(double fraction, TimePs simulated) {
  if (!is_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  is_shown_ = true;
  const std::chrono::duration<double> elapsed = now - begin_;
  fmt::print(out_, "\r\x1b[K{}",
             ProgressText(fraction, simulated, elapsed.count()));
  std::fflush(out_);
}

}  // namespace astra
