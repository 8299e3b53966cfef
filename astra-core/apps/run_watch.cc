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

// Returns text such as "20 events/s" for what `number` has grown by since it
// was `before`; "" if there is no rate yet.
std::string RateText(uint64_t number, uint64_t before,
                     std::chrono::duration<double> passed,
                     std::string_view what) {
  if (number == 0 || passed.count() <= 0) return "";
  // Another simulation counts from 0.
  const uint64_t grown = number >= before ? number - before : number;
  return fmt::format("{} {}/s",
                     Short(static_cast<double>(grown) / passed.count()), what);
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

std::string RunActivity::Describe(const WorkDone& work, Clock::time_point now) {
  const std::chrono::duration<double> passed = now - counted_at_;
  std::string text = RateText(work.events, counted_.events, passed, "events");
  const std::string messages =
      RateText(work.messages, counted_.messages, passed, "messages");
  if (!messages.empty()) text += (text.empty() ? "" : "  ") + messages;
  counted_ = work;
  counted_at_ = now;
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

absl::Status RunWatch::Update(const RunProgress& progress) {
  if (!signals_) signals_.emplace();
  const char* signal = signals_->Wait(std::chrono::milliseconds(0));
  if (signal != nullptr) {
    return WithExitCode(
        absl::AbortedError(fmt::format(
            "stopped by {} at {:.3f} us of simulated time, with {:.1f} % of "
            "the work done",
            signal, ToMicroseconds(progress.simulated), 100 * progress.share)),
        StopCode(signal));
  }
  if (shows_progress_ && progress_.IsDue()) {
    progress_.Update(
        progress.share, SimulatedText(progress.simulated),
        activity_.Describe(progress.work, RunActivity::Clock::now()));
  }
  return absl::OkStatus();
}

}  // namespace astra
