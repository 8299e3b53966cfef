#include "astra-core/base/progress.h"

#include <unistd.h>

#include "fmt/core.h"

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

ProgressLine::ProgressLine(std::FILE* out,
                           std::chrono::milliseconds between_lines)
    : out_(out), is_terminal_(isatty(fileno(out)) != 0) {
  between_updates_ =
      is_terminal_ ? std::chrono::milliseconds(200) : between_lines;
  next_ = begin_ + (is_terminal_ ? std::chrono::seconds(1) : between_updates_);
}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Clear() {
  if (is_shown_) fmt::print(out_, "\r\x1b[K");
  is_shown_ = false;
}

void ProgressLine::Update(double fraction, std::string_view done) {
  if (!IsDue()) return;
  const Clock::time_point now = Clock::now();
  next_ = now + between_updates_;
  const std::chrono::duration<double> elapsed = now - begin_;
  const std::string text = ProgressText(fraction, done, elapsed.count());
  if (is_terminal_) {
    is_shown_ = true;
    fmt::print(out_, "\r\x1b[K{}", text);
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
}

}  // namespace astra
