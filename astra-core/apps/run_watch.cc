#include "astra-core/apps/run_watch.h"

#include <algorithm>
#include <string_view>

#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

// "1.25 M" for 1,250,000.
std::string Short(double number) {
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [size, unit] : kUnits) {
    if (number >= size) return fmt::format("{:.3g}{}", number / size, unit);
  }
  return fmt::format("{:.0f}", number);
}

}  // namespace

void RunActivity::End(const CollectiveRecord& record) {
  const Ended ended = {record.communication, record.num_ranks, record.time};
  last_.erase(
      std::remove_if(last_.begin(), last_.end(),
                     [&](const Ended& other) { return other.IsLike(ended); }),
      last_.end());
  last_.push_front(ended);
  if (last_.size() > kMostNamed) last_.pop_back();
}

std::string RunActivity::Describe(Clock::time_point now) {
  std::string text;
  if (num_messages_) {
    const std::chrono::duration<double> passed = now - counted_at_;
    const uint64_t number = num_messages_();
    // Another network counts from 0.
    const uint64_t arrived = number >= counted_ ? number - counted_ : number;
    if (passed.count() > 0) {
      text = fmt::format("{} messages/s",
                         Short(static_cast<double>(arrived) / passed.count()));
    }
    counted_ = number;
    counted_at_ = now;
  }
  std::string_view separator = text.empty() ? "ended: " : "  ended: ";
  for (const auto& [what, num_ranks, time] : last_) {
    constexpr double kMbPerByte = 1e-6;
    text +=
        fmt::format("{}{} over {}, {} ranks, {:.3g} MB: {:.3f} ms", separator,
                    Name(what.kind), Name(what.dimension), num_ranks,
                    kMbPerByte * static_cast<double>(what.bytes.count()),
                    ToMicroseconds(time) * 1e-3);
    separator = "; ";
  }
  return text;
}

absl::Status RunWatch::Update(double fraction, TimePs simulated) {
  if (!signals_) signals_.emplace();
  const char* signal = signals_->Wait(std::chrono::milliseconds(0));
  if (signal != nullptr) {
    return WithExitCode(
        absl::AbortedError(fmt::format(
            "stopped by {} at {:.3f} us of simulated time, with {:.1f} % of "
            "the work done",
            signal, ToMicroseconds(simulated), 100 * fraction)),
        StopCode(signal));
  }
  if (shows_progress_ && progress_.IsDue()) {
    progress_.Update(fraction, SimulatedText(simulated),
                     activity_.Describe(RunActivity::Clock::now()));
  }
  return absl::OkStatus();
}

}  // namespace astra
