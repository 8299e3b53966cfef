#include "collectives/flow_graph.h"

#include <numeric>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Turns (row, value) pairs into compressed sparse rows: counts the values of
// each row, sums the counts to row starts, then drops each value into its row.
template <class ForEachPair>
void GroupByRow(size_t num_rows, const ForEachPair& for_each_pair,
                std::vector<uint32_t>& starts, std::vector<FlowId>& values) {
  starts.assign(num_rows + 1, 0);
  for_each_pair([&](uint32_t row, FlowId) { ++starts[row + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());

  std::vector<uint32_t> next_slot = starts;
  values.resize(starts.back());
  for_each_pair(
      [&](uint32_t row, FlowId value) { values[next_slot[row]++] = value; });
}

}  // namespace

FlowId FlowGraph::Builder::Add(const Flow& flow) {
  ASTRA_CHECK(flows_.size() < kMaxFlows, "{} flows", flows_.size());
  ASTRA_CHECK(flow.source != flow.target, "rank {} sends to itself",
              flow.source);
  flows_.push_back(flow);
  return FlowId(static_cast<uint32_t>(flows_.size() - 1));
}

void FlowGraph::Builder::AddDependency(FlowId earlier, FlowId later) {
  ASTRA_CHECK(earlier < later && later.index() < flows_.size(),
              "flow {} waits for flow {}", later, earlier);
  edges_.emplace_back(earlier, later);
}

FlowGraph FlowGraph::Builder::Build() && {
  FlowGraph graph;
  graph.num_ranks_ = num_ranks_;
  graph.num_dependencies_.resize(flows_.size());
  for (const auto& [_, later] : edges_) {
    ++graph.num_dependencies_[later.index()];
  }
  GroupByRow(
      flows_.size(),
      [&](const auto& add) {
        for (const auto& [earlier, later] : edges_) add(earlier.index(), later);
      },
      graph.first_dependent_, graph.dependents_);
  GroupByRow(
      num_ranks_,
      [&](const auto& add) {
        for (uint32_t i = 0; i < flows_.size(); ++i) {
          add(flows_[i].source.index(), FlowId(i));
          add(flows_[i].target.index(), FlowId(i));
        }
      },
      graph.first_flow_, graph.flows_of_);
  graph.flows_ = std::move(flows_);
  return graph;
}

}  // namespace astra
