#include "astra-core/base/progress.h"

#include <unistd.h>

#include "fmt/format.h"

namespace astra {

std::string ProgressText(double fraction, std::string_view done,
                         double elapsed_s) {
  std::string text = fmt::format("{:4.0f} %  {}", 100 * fraction, done);
  if (fraction > 0) {
    text += fmt::format("  {:.0f} s left", elapsed_s / fraction - elapsed_s);
  }
  return text;
}

std::string SimulatedText(TimePs simulated) {
  return fmt::format("simulated {:.3f} ms", ToMicroseconds(simulated) * 1e-3);
}

ProgressLine::ProgressLine(std::FILE* out)
    : out_(out), is_terminal_(isatty(fileno(out)) != 0) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Clear() {
  if (is_shown_) fmt::print(out_, "\r\x1b[K");
  is_shown_ = false;
}

void ProgressLine::Update(double fraction, std::string_view done) {
  if (!IsDue()) return;
  const Clock::time_point now = Clock::now();
  next_ = now + std::chrono::milliseconds(200);
  is_shown_ = true;
  const std::chrono::duration<double> elapsed = now - begin_;
  fmt::print(out_, "\r\x1b[K{}", ProgressText(fraction, done, elapsed.count()));
  std::fflush(out_);
}

}  // namespace astra
