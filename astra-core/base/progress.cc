#include "astra-core/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>

#include "fmt/core.h"

namespace astra {
namespace {

// Returns `text` cut to the columns of the terminal. A line that wraps could
// not be replaced by the next one.
std::string_view CutToWidth(std::string_view text, std::FILE* terminal) {
  constexpr size_t kUsualColumns = 80;
  winsize size{};
  const bool is_known =
      ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return text.substr(0, (is_known ? size.ws_col : kUsualColumns) - 1);
}

}  // namespace

std::string ProgressText(double fraction, std::string_view done,
                         double elapsed_s, std::string_view details) {
  std::string text = fmt::format("{:4.0f} %  {}", 100 * fraction, done);
  if (fraction > 0) {
    text += fmt::format("  {:.0f} s left", elapsed_s / fraction - elapsed_s);
  }
  if (!details.empty()) text += fmt::format("  {}", details);
  return text;
}

std::string SimulatedText(TimePs simulated) {
  return fmt::format("simulated {:.3f} ms", ToMicroseconds(simulated) * 1e-3);
}

ProgressLine::ProgressLine(std::FILE* out,
                           std::chrono::milliseconds between_lines,
                           double between_shares)
    : out_(out), is_terminal_(isatty(fileno(out)) != 0) {
  between_updates_ =
      is_terminal_ ? std::chrono::milliseconds(200) : between_lines;
  if (!is_terminal_) between_shares_ = between_shares;
  next_ = begin_ + (is_terminal_ ? std::chrono::seconds(1) : between_updates_);
}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Clear() {
  if (is_shown_) fmt::print(out_, "\r\x1b[K");
  is_shown_ = false;
}

void ProgressLine::Update(double fraction, std::string_view done,
                          std::string_view details) {
  if (!IsDue()) return;
  const Clock::time_point now = Clock::now();
  if (between_shares_ > 0 && fraction < shown_ + between_shares_ &&
      now < shown_at_ + std::chrono::minutes(1)) {
    next_ = now + std::chrono::milliseconds(200);
    return;
  }
  next_ = now + between_updates_;
  shown_at_ = now;
  shown_ = fraction;
  const std::chrono::duration<double> elapsed = now - begin_;
  WriteLine(ProgressText(fraction, done, elapsed.count(), details));
}

void ProgressLine::WriteLine(std::string_view text) {
  if (is_terminal_) {
    is_shown_ = true;
    fmt::print(out_, "\r\x1b[K{}", CutToWidth(text, out_));
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
}

}  // namespace astra
