#include "astra-core/engine/flow_run.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace astra {

FlowRun::FlowRun(std::shared_ptr<const FlowGraph> graph)
    : graph_(std::move(graph)), num_missing_(graph_->num_flows()) {
  constexpr uint32_t kNumEnds = 2;
  for (uint32_t i = 0; i < graph_->num_flows(); ++i) {
    holds_.push_back(kNumEnds + graph_->num_dependencies(FlowId(i)));
  }
  for (uint32_t rank = 0; rank < graph_->num_ranks(); ++rank) {
    missing_.push_back(
        static_cast<uint32_t>(graph_->flows_of(GroupRank(rank)).size()));
  }
}

void FlowRun::Release(FlowId flow, std::vector<FlowId>* ready) {
  if (--holds_[flow.index()] == 0) ready->push_back(flow);
}

void FlowRun::Join(GroupRank rank, std::vector<FlowId>* ready) {
  for (const FlowId flow : graph_->flows_of(rank)) Release(flow, ready);
}

void FlowRun::Arrive(FlowId flow, std::vector<FlowId>* ready,
                     std::vector<GroupRank>* finished) {
  --num_missing_;
  for (const FlowId later : graph_->dependents(flow)) Release(later, ready);
  for (const GroupRank rank :
       {graph_->flow(flow).source, graph_->flow(flow).target}) {
    if (--missing_[rank.index()] == 0) finished->push_back(rank);
  }
}

absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const RankId> group,
                                    NetworkBackend& network) {
  constexpr TimePs kNever(std::numeric_limits<int64_t>::max());
  const TimePs start = network.now();
  FlowRun run(std::move(graph));
  std::vector<FlowId> ready;
  for (uint32_t rank = 0; rank < group.size(); ++rank) {
    run.Join(GroupRank(rank), &ready);
  }
  std::vector<GroupRank> finished;
  std::vector<MessageId> arrived;
  while (true) {
    for (const FlowId id : ready) {
      const Flow& flow = run.graph().flow(id);
      network.Send({.id = MessageId(id.index()),
                    .source = group[flow.source.index()],
                    .target = group[flow.target.index()],
                    .bytes = flow.bytes});
    }
    if (run.is_done()) return network.now() - start;
    ready.clear();
    arrived.clear();
    network.AdvanceTo(kNever, &arrived);
    if (arrived.empty()) {
      return absl::InternalError(
          fmt::format("the network fell silent with {} of {} messages missing",
                      run.num_missing(), run.graph().num_flows()));
    }
    for (const MessageId message : arrived) {
      run.Arrive(FlowId(message.index()), &ready, &finished);
    }
  }
}

}  // namespace astra
