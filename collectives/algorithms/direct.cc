#include "collectives/algorithms/direct.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {
namespace {

bool IsRooted(CollectiveKind kind) {
  return kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}

uint64_t NumChunks(const CollectiveRequest& request) {
  const uint64_t n = request.num_ranks();
  return IsRooted(request.kind()) ? n : n * n;
}

uint64_t NumFlows(const CollectiveRequest& request) {
  const uint64_t n = request.num_ranks();
  if (request.kind() == CollectiveKind::kSendRecv) return 1;
  return IsRooted(request.kind()) ? n - 1 : n * (n - 1);
}

// A graph in which no flow waits for another. The senders take turns: with m of
// them, the first m flows are the first flows of each.
class DirectGraph final : public FlowGraph {
 public:
  explicit DirectGraph(const CollectiveRequest& request)
      : FlowGraph({.num_ranks = request.num_ranks(),
                   .num_members = request.num_ranks(),
                   .num_flows = NumFlows(request),
                   .num_chunks = static_cast<uint32_t>(NumChunks(request))}),
        request_(request),
        kind_(request.kind()),
        n_(request.num_ranks()) {}

  Flow flow(FlowId id) const override {
    const auto [source, target] = PairOf(id);
    const uint32_t chunk = kind_ == CollectiveKind::kGather ? source
                           : kind_ == CollectiveKind::kScatter
                               ? target
                               : source * n_ + target;
    return {.source = GroupRank(source),
            .target = GroupRank(target),
            .first_chunk = ChunkId(chunk),
            .bytes = Bytes(DirectGraph::chunk(ChunkId(chunk)).size())};
  }

  ByteRange chunk(ChunkId chunk) const override {
    if (IsRooted(kind_)) return request_.Part(GroupRank(chunk.index()));
    return request_.PairPart(GroupRank(chunk.index() / n_),
                             GroupRank(chunk.index() % n_));
  }

  uint32_t num_dependencies(FlowId /*id*/) const override { return 0; }

  void AppendDependents(FlowId /*id*/,
                        std::vector<FlowId>* /*out*/) const override {}

  void AppendFirstFlows(GroupRank source,
                        std::vector<FlowId>* out) const override {
    const uint32_t from_root = (source.index() + n_ - Root()) % n_;
    switch (kind_) {
      case CollectiveKind::kGather:
        if (from_root > 0) out->push_back(FlowId(from_root - 1));
        return;
      case CollectiveKind::kScatter:
      case CollectiveKind::kSendRecv:
        for (uint64_t i = 0; from_root == 0 && i < num_flows(); ++i) {
          out->push_back(FlowId(i));
        }
        return;
      default:
        for (uint64_t i = source.index(); i < num_flows(); i += n_) {
          out->push_back(FlowId(i));
        }
    }
  }

  uint64_t num_flows_of(GroupRank member) const override {
    if (IsAllToAll(kind_)) return 2 * (uint64_t{n_} - 1);
    return member.index() == Root() ? num_flows() : 1;
  }

 private:
  // Returns the root; a send-recv is rooted at rank 0.
  uint32_t Root() const {
    return IsRooted(kind_) ? request_.root().index() : 0;
  }

  // Returns (source, target).
  std::pair<uint32_t, uint32_t> PairOf(FlowId id) const {
    if (IsAllToAll(kind_)) {
      const auto source = static_cast<uint32_t>(id.index() % n_);
      const auto distance = static_cast<uint32_t>(id.index() / n_) + 1;
      return {source, (source + distance) % n_};
    }
    const auto distance = static_cast<uint32_t>(id.index()) + 1;
    const uint32_t other = (Root() + distance) % n_;
    if (kind_ == CollectiveKind::kGather) return {other, Root()};
    return {Root(), other};
  }

  CollectiveRequest request_;
  CollectiveKind kind_;
  uint32_t n_;
};

absl::Status Check(const CollectiveRequest& request) {
  return CheckSize("direct", request, {NumFlows(request), NumChunks(request)},
                   1, FlowGraph::kMaxFlows);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerDirect(
    const CollectiveRequest& request) {
  ASTRA_RETURN_IF_ERROR(Check(request));
  return Pipelined("direct", request, std::make_unique<DirectGraph>(request));
}

absl::StatusOr<StepSchedule> DirectSteps(const CollectiveRequest& request) {
  ASTRA_RETURN_IF_ERROR(Check(request));
  const DirectGraph graph(request);
  const bool has_equal_parts = !IsAllToAllV(request);
  const double equal_share = request.kind() == CollectiveKind::kSendRecv
                                 ? 1
                                 : 1. / request.num_ranks();
  const auto bytes = static_cast<double>(request.bytes().count());
  ScheduleStep step;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const double share = has_equal_parts
                             ? equal_share
                             : static_cast<double>(flow.bytes.count()) / bytes;
    step.flows.push_back({flow.source, flow.target, share});
  }
  return StepSchedule{.steps = {std::move(step)}};
}

}  // namespace astra
