#include "astra-core/engine/flow_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/flow_carrier.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Graph i uses channels from i times this number on, so that messages of
// different graphs share no queue pair.
constexpr uint32_t kChannelsPerGraph = 4096;

// Runs graphs that begin at once, on a network that carries nothing else.
class LoneRuns {
 public:
  LoneRuns(absl::Span<const PlacedFlowGraph> graphs, NetworkBackend& network)
      : graphs_(graphs), network_(network), carrier_(network) {
    for (const PlacedFlowGraph& placed : graphs) {
      ASTRA_CHECK(placed.members.size() >= placed.graph->num_members(),
                  "{} nodes for {} members", placed.members.size(),
                  placed.graph->num_members());
      runs_.emplace_back(placed.graph);
      num_running_ += runs_.back().is_done() ? 0 : 1;
    }
  }

  absl::StatusOr<TimePs> Run() {
    const TimePs start = network_.now();
    TimePs least;
    for (const PlacedFlowGraph& placed : graphs_) {
      least = std::max(least, placed.costs.least);
    }
    const TimePs kernels = graphs_.front().costs.start;
    if (kernels > TimePs(0)) carrier_.AdvanceTo(start + kernels, &done_);
    for (uint32_t i = 0; i < runs_.size(); ++i) {
      for (uint32_t rank = 0; rank < runs_[i].graph().num_ranks(); ++rank) {
        runs_[i].Join(GroupRank(rank), &ready_);
      }
      LeaveReady(i);
    }
    while (num_running_ > 0) {
      done_.clear();
      carrier_.AdvanceTo(kNever, &done_);
      if (done_.empty()) return Silence();
      for (const CarriedFlow& arrived : done_) Arrive(arrived);
    }
    return std::max(least, network_.now() - start);
  }

 private:
  void Arrive(const CarriedFlow& arrived) {
    FlowRun& run = runs_[arrived.communicator];
    run.Arrive(arrived.flow, &ready_, &finished_);
    finished_.clear();
    LeaveReady(arrived.communicator);
    if (run.is_done()) --num_running_;
  }

  void LeaveReady(uint32_t graph) {
    const auto& [flows, members, costs, layout] = graphs_[graph];
    for (const FlowId id : ready_) {
      const Flow flow = flows->flow(id);
      carrier_.Leave({.communicator = graph, .flow = id},
                     {.id = {},
                      .source = members[flow.source.index()],
                      .target = members[flow.target.index()],
                      .bytes = costs.OnWire(flow, layout),
                      .channel = graph * kChannelsPerGraph + flow.channel},
                     costs.BeforeSending(id, flow, layout),
                     costs.AtTarget(flow, flows->num_ranks()));
    }
    ready_.clear();
  }

  absl::Status Silence() const {
    uint64_t num_missing = 0;
    uint64_t num_flows = 0;
    for (const FlowRun& run : runs_) {
      num_missing += run.num_missing();
      num_flows += run.graph().num_flows();
    }
    const std::string why = network_.WhyStuck();
    return absl::InternalError(fmt::format(
        "the network fell silent with {} of {} messages missing{}{}",
        num_missing, num_flows, why.empty() ? "" : "; ", why));
  }

  absl::Span<const PlacedFlowGraph> graphs_;
  NetworkBackend& network_;
  FlowCarrier carrier_;
  std::vector<FlowRun> runs_;
  size_t num_running_ = 0;
  std::vector<FlowId> ready_;        // Flows of one graph that may leave.
  std::vector<GroupRank> finished_;  // Scratch.
  std::vector<CarriedFlow> done_;    // Scratch.
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

// Returns flows in the order of asking each flow of the rank in turn.
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

// Checks only the target of a dependent flow: its source took part in `flow`
// and so has joined.
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

uint64_t FlowRun::StateFrom(uint64_t round, uint64_t per_round) const {
  ASTRA_CHECK(num_absent_ == 0, "{} ranks are absent", num_absent_);
  // A sum does not depend on the order of the map.
  const uint64_t first = round * per_round;
  uint64_t sum = HashOf(num_missing_ + first);
  for (const auto& [flow, missing] : partly_released_) {
    sum += HashOf(flow - first, missing);
  }
  const uint64_t num_rounds = graph_->num_flows() / per_round;
  for (uint32_t i = 0; i < missing_.size(); ++i) {
    const uint64_t in_round = graph_->num_flows_of(GroupRank(i)) / num_rounds;
    sum += HashOf(missing_[i] + round * in_round, i);
  }
  return sum;
}

void FlowRun::Skip(uint64_t rounds, uint64_t per_round) {
  const uint64_t num_rounds = graph_->num_flows() / per_round;
  num_missing_ -= rounds * per_round;
  for (uint32_t i = 0; i < missing_.size(); ++i) {
    missing_[i] -= rounds * (graph_->num_flows_of(GroupRank(i)) / num_rounds);
  }
  absl::flat_hash_map<uint64_t, uint32_t> moved;
  for (const auto& [flow, missing] : partly_released_) {
    moved[flow + rounds * per_round] = missing;
  }
  partly_released_ = std::move(moved);
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
  const PlacedFlowGraph placed[] = {{std::move(graph), members, costs, layout}};
  return RunFlowGraphs(placed, network);
}

absl::StatusOr<TimePs> RunFlowGraphs(absl::Span<const PlacedFlowGraph> graphs,
                                     NetworkBackend& network) {
  return LoneRuns(graphs, network).Run();
}

}  // namespace astra
