// Runs collectives of many ranks as messages and prints how long that takes and
// how much memory it needs. Graphs are computed, not stored, so memory should
// grow with the messages in flight: not with all of them, of which a ring
// all-reduce over n ranks has 2 n (n - 1) on each channel.
//
// The network is none: every message arrives 1 us after it was sent.
//
// Usage: large_collectives [ALGORITHM RANKS CHANNELS]
//
// Without arguments: the cases of kCases, smallest first, since the peak memory
// is that of the process so far.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_run.h"
#include "collectives/registry.h"
#include "fmt/core.h"
#include "network-frontends/network_backend.h"

namespace astra {
namespace {

struct Case {
  std::string algorithm;
  uint32_t num_ranks;
  uint32_t num_channels;
};

constexpr uint32_t kRanksPerServer = 8;
constexpr Bytes kBytes = MiB(256);

class ConstantDelay final : public NetworkBackend {
 public:
  TimePs now() const override { return now_; }

  void Send(const Message& message) override {
    in_flight_.emplace_back(now_ + Microseconds(1), message.id);
  }

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    if (in_flight_.empty() || in_flight_.front().first > limit) {
      now_ = limit;
      return;
    }
    now_ = in_flight_.front().first;
    const size_t first = arrived->size();
    while (!in_flight_.empty() && in_flight_.front().first == now_) {
      arrived->push_back(in_flight_.front().second);
      in_flight_.pop_front();
    }
    std::sort(arrived->begin() + static_cast<std::ptrdiff_t>(first),
              arrived->end());
  }

  absl::Span<const double> link_bytes() const override { return {}; }

 private:
  TimePs now_;
  std::deque<std::pair<TimePs, MessageId>> in_flight_;  // By arrival.
};

double PeakMib() {
  constexpr double kKibPerMib = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / kKibPerMib;
}

absl::Status Run(const Case& drawn) {
  constexpr CollectiveKind kKind = CollectiveKind::kAllReduce;
  const auto begin = std::chrono::steady_clock::now();
  ASTRA_ASSIGN_OR_RETURN(const CollectiveAlgorithm algorithm,
                         FindCollectiveAlgorithm(kKind, drawn.algorithm));
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveRequest request,
      CollectiveRequest::Create(
          kKind, kBytes,
          std::make_shared<GroupLayout>(GroupLayout::Even(
              drawn.num_ranks / kRanksPerServer, kRanksPerServer))));
  Chunking chunking;
  chunking.num_channels = drawn.num_channels;
  ASTRA_ASSIGN_OR_RETURN(request, request.With(chunking));
  ASTRA_ASSIGN_OR_RETURN(const std::shared_ptr<const FlowGraph> graph,
                         algorithm.lower(request));
  std::vector<NodeId> members;
  for (uint32_t i = 0; i < graph->num_members(); ++i) {
    members.push_back(NodeId(i));
  }
  ConstantDelay network;
  ASTRA_ASSIGN_OR_RETURN(const TimePs time,
                         RunFlowGraph(graph, members, network));
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - begin;
  fmt::print("{:>9}{:>8}{:>9}{:>13}{:>14.0f}{:>9.2f}{:>10.0f}\n",
             drawn.algorithm, graph->num_ranks(), drawn.num_channels,
             graph->num_flows(), ToMicroseconds(time), wall.count(), PeakMib());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Case>> CasesOf(
    const std::vector<std::string_view>& arguments) {
  if (arguments.empty()) {
    return std::vector<Case>{
        {"ring", 8192, 1}, {"tree", 65536, 2}, {"ring", 8192, 8}};
  }
  if (arguments.size() != 3) {
    return absl::InvalidArgumentError(
        "usage: large_collectives [ALGORITHM RANKS CHANNELS]");
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t ranks,
                         ParseInteger("RANKS", arguments[1], kRanksPerServer,
                                      CollectiveRequest::kMaxRanks));
  ASTRA_ASSIGN_OR_RETURN(const int64_t channels,
                         ParseInteger("CHANNELS", arguments[2], 0,
                                      CollectiveRequest::kMaxChannels));
  return std::vector<Case>{{std::string(arguments[0]),
                            static_cast<uint32_t>(ranks),
                            static_cast<uint32_t>(channels)}};
}

absl::Status Main(const std::vector<std::string_view>& arguments) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Case> cases, CasesOf(arguments));
  fmt::print(
      "algorithm   ranks channels        flows  simulated_us   wall_s"
      "  peak_MiB\n");
  for (const Case& drawn : cases) ASTRA_RETURN_IF_ERROR(Run(drawn));
  return absl::OkStatus();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const absl::Status status = astra::Main({argv + 1, argv + argc});
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}
