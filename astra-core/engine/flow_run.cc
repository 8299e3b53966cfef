#include "astra-core/engine/flow_run.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/engine/flow_carrier.h"
#include "fmt/format.h"

namespace astra {
namespace {

// One graph on a network of its own.
class LoneRun {
 public:
  LoneRun(std::shared_ptr<const FlowGraph> graph,
          absl::Span<const NodeId> members, NetworkBackend& network,
          const MessageCosts& costs, const GroupLayout* layout)
      : run_(std::move(graph)),
        members_(members),
        network_(network),
        costs_(costs),
        layout_(layout),
        carrier_(network) {}

  absl::StatusOr<TimePs> Run() {
    const TimePs start = network_.now();
    std::vector<CarriedFlow> done;
    if (costs_.start > TimePs(0)) {
      carrier_.AdvanceTo(start + costs_.start, &done);
    }
    for (uint32_t rank = 0; rank < run_.graph().num_ranks(); ++rank) {
      run_.Join(GroupRank(rank), &ready_);
    }
    while (true) {
      for (const FlowId flow : ready_) Leave(flow);
      ready_.clear();
      if (run_.is_done()) {
        return std::max(costs_.least, network_.now() - start);
      }
      done.clear();
      carrier_.AdvanceTo(kNever, &done);
      if (done.empty()) return Silence();
      for (const CarriedFlow& arrived : done) {
        run_.Arrive(arrived.flow, &ready_, &finished_);
      }
      finished_.clear();
    }
  }

 private:
  static constexpr TimePs kNever{std::numeric_limits<int64_t>::max()};

  void Leave(FlowId id) {
    const Flow flow = run_.graph().flow(id);
    carrier_.Leave({.flow = id},
                   {.id = {},
                    .source = members_[flow.source.index()],
                    .target = members_[flow.target.index()],
                    .bytes = costs_.OnWire(flow, layout_),
                    .channel = flow.channel},
                   costs_.BeforeSending(flow, layout_),
                   costs_.AtTarget(flow, run_.graph().num_ranks()));
  }

  absl::Status Silence() const {
    const std::string why = network_.WhyStuck();
    return absl::InternalError(fmt::format(
        "the network fell silent with {} of {} messages missing{}{}",
        run_.num_missing(), run_.graph().num_flows(), why.empty() ? "" : "; ",
        why));
  }

  FlowRun run_;
  absl::Span<const NodeId> members_;
  NetworkBackend& network_;
  const MessageCosts& costs_;
  const GroupLayout* layout_;
  FlowCarrier carrier_;
  std::vector<FlowId> ready_;        // Flows that may leave.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace

FlowRun::FlowRun(std::shared_ptr<const FlowGraph> graph)
    : graph_(std::move(graph)),
      joined_(graph_->num_members()),
      waiting_(graph_->num_ranks()),
      num_absent_(graph_->num_ranks()),
      num_missing_(graph_->num_flows()) {
  missing_.reserve(graph_->num_members());
  for (uint32_t i = 0; i < graph_->num_members(); ++i) {
    const GroupRank member(i);
    missing_.push_back(graph_->num_flows_of(member));
    if (i < graph_->num_ranks()) continue;
    joined_[i] = true;
    graph_->AppendFirstFlows(member, &released_);
    ASTRA_CHECK(released_.empty(), "switch {} sends what it has not received",
                member);
  }
}

// Sorted as if each flow of the rank had been asked in turn.
void FlowRun::Join(GroupRank rank, std::vector<FlowId>* ready) {
  joined_[rank.index()] = true;
  --num_absent_;
  const auto first = static_cast<std::ptrdiff_t>(ready->size());
  std::vector<FlowId>& waiting = waiting_[rank.index()];
  ready->insert(ready->end(), waiting.begin(), waiting.end());
  std::vector<FlowId>().swap(waiting);

  released_.clear();
  graph_->AppendFirstFlows(rank, &released_);
  for (const FlowId flow : released_) {
    const GroupRank target = graph_->flow(flow).target;
    std::vector<FlowId>* list =
        joined_[target.index()] ? ready : &waiting_[target.index()];
    list->push_back(flow);
  }
  std::sort(ready->begin() + first, ready->end());
}

// The source of what waits for an arrived flow is one of the two members that
// were in it, and so has joined.
void FlowRun::Arrive(FlowId flow, std::vector<FlowId>* ready,
                     std::vector<GroupRank>* finished) {
  --num_missing_;
  released_.clear();
  graph_->AppendDependents(flow, &released_);
  for (const FlowId later : released_) {
    if (!IsReleased(later)) continue;
    std::vector<FlowId>* list = ready;
    if (num_absent_ > 0) {
      const GroupRank target = graph_->flow(later).target;
      if (!joined_[target.index()]) list = &waiting_[target.index()];
    }
    list->push_back(later);
  }
  const Flow arrived = graph_->flow(flow);
  for (const GroupRank member : {arrived.source, arrived.target}) {
    if (--missing_[member.index()] > 0) continue;
    if (member.index() < graph_->num_ranks()) finished->push_back(member);
  }
}

// Counts an arrival that `flow` waits for; returns whether it was the last.
bool FlowRun::IsReleased(FlowId flow) {
  const uint32_t num_dependencies = graph_->num_dependencies(flow);
  if (num_dependencies == 1) return true;
  const auto [missing, _] =
      partly_released_.try_emplace(flow.index(), num_dependencies);
  if (--missing->second > 0) return false;
  partly_released_.erase(missing);
  return true;
}

absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const NodeId> members,
                                    NetworkBackend& network,
                                    const MessageCosts& costs,
                                    const GroupLayout* layout) {
  ASTRA_CHECK(members.size() == graph->num_members(), "{} nodes for {} members",
              members.size(), graph->num_members());
  return LoneRun(std::move(graph), members, network, costs, layout).Run();
}

}  // namespace astra
