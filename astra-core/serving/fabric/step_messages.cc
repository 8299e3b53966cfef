#include "astra-core/serving/fabric/step_messages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/status/statusor.h"

namespace astra {
namespace {

constexpr uint32_t kNumPowers = 62;

double D(TimePs time) { return static_cast<double>(time.count()); }

// Returns when the last of `messages` arrives on an idle network.
TimePs TimeOn(NetworkBackend& network,
              absl::Span<const FabricMessage> messages) {
  constexpr TimePs kTooLate(std::numeric_limits<int64_t>::max() / 2);
  uint32_t id = 0;
  for (const FabricMessage& message : messages) {
    network.Send({.id = MessageId(id++),
                  .source = message.source,
                  .target = message.target,
                  .bytes = message.bytes,
                  .channel = static_cast<uint32_t>(FabricChannel::kSteps)});
  }
  std::vector<MessageId> arrived;
  for (size_t missing = messages.size(); missing > 0;) {
    arrived.clear();
    network.AdvanceTo(kTooLate, &arrived);
    if (arrived.empty()) return kTooLate;  // There is no way.
    missing -= arrived.size();
  }
  return network.now();
}

}  // namespace

StepMessages::Traffic& StepMessages::TrafficOf(uint32_t replica,
                                               uint32_t pattern) {
  const auto [entry, is_new] = traffic_.try_emplace({replica, pattern});
  Traffic& traffic = entry->second;
  if (!is_new) return traffic;
  traffic.alone_ps.resize(kNumPowers);
  absl::StatusOr<std::vector<PairShare>> pairs =
      PairsOf(patterns_[pattern], place_, replica, topology_);
  status_.Update(pairs.status());
  if (pairs.ok()) traffic.pairs = *std::move(pairs);
  return traffic;
}

std::vector<FabricMessage> StepMessages::MessagesOf(const Traffic& traffic,
                                                    double bytes) {
  std::vector<FabricMessage> messages;
  messages.reserve(traffic.pairs.size());
  for (const PairShare& pair : traffic.pairs) {
    const auto rounded = std::llround(pair.share * bytes);
    messages.push_back(
        {pair.source, pair.target, Bytes(std::max<int64_t>(1, rounded))});
  }
  return messages;
}

double StepMessages::AtPower(Traffic& traffic, uint32_t power) {
  std::optional<double>& time = traffic.alone_ps[power];
  if (!time) {
    const std::unique_ptr<NetworkBackend> network = new_network_();
    time = D(TimeOn(
        *network, MessagesOf(traffic, std::ldexp(1, static_cast<int>(power)))));
  }
  return *time;
}

double StepMessages::AloneAt(Traffic& traffic, double bytes) {
  const auto power = static_cast<uint32_t>(std::ilogb(std::max(1.0, bytes)));
  const double low = AtPower(traffic, power);
  const double share = bytes / std::ldexp(1, static_cast<int>(power)) - 1;
  if (share <= 0) return low;
  return low + share * (AtPower(traffic, power + 1) - low);
}

StepMessages::Fit StepMessages::FitOf(uint32_t replica,
                                      const StageMessages& messages) {
  Traffic& traffic = TrafficOf(replica, messages.pattern);
  if (traffic.pairs.empty() || messages.bytes < 1) return {};
  const double most = D(messages.time);
  double bytes = messages.bytes;
  double alone = AloneAt(traffic, bytes);
  if (alone > most) {
    // The time is latency + seconds_per_byte x bytes, as in its octave.
    const double of_bytes = AloneAt(traffic, 2 * bytes) - alone;
    const double latency = std::max(0.0, alone - of_bytes);
    if (most <= latency) return {};
    bytes *= (most - latency) / (alone - latency);
    alone = std::min(most, AloneAt(traffic, bytes));
  }
  return {bytes, TimePs(std::llround(alone))};
}

TimePs StepMessages::TimeAlone(uint32_t replica,
                               absl::Span<const StageMessages> messages) {
  TimePs sum;
  for (const StageMessages& each : messages) sum += FitOf(replica, each).alone;
  return sum;
}

void StepMessages::Start(uint32_t pass, uint32_t replica,
                         absl::Span<const StageMessages> messages) {
  SendNext({.id = pass,
            .replica = replica,
            .messages = {messages.begin(), messages.end()},
            .next = 0,
            .start = fabric_.network().now(),
            .alone = TimePs(0)});
}

void StepMessages::SendNext(Pass pass) {
  const TimePs now = fabric_.network().now();
  while (pass.next < pass.messages.size()) {
    const StageMessages& next = pass.messages[pass.next++];
    const Fit fit = FitOf(pass.replica, next);
    if (fit.bytes == 0) continue;
    pass.alone += fit.alone;
    const std::vector<FabricMessage> messages =
        MessagesOf(TrafficOf(pass.replica, next.pattern), fit.bytes);
    for (const FabricMessage& message : messages) {
      bytes_sent_ += message.bytes.count();
    }
    fabric_.Send(FabricChannel::kSteps, messages,
                 [this, pass = std::move(pass)] { SendNext(pass); });
    return;
  }
  alone_ += pass.alone;
  lost_ += now - pass.start - pass.alone;
  fabric_.process().EndPass(now, pass.id);
}

}  // namespace astra
