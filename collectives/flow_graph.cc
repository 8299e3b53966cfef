#include "collectives/flow_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Values grouped by row (compressed sparse rows).
class Rows {
 public:
  Rows() = default;

  // Counts the values of each row, sums the counts to row starts, then puts
  // each value into its row. Sorts the rows.
  template <class ForEachPair>
  Rows(size_t num_rows, const ForEachPair& for_each_pair) {
    starts_.assign(num_rows + 1, 0);
    for_each_pair([&](uint32_t row, uint32_t) { ++starts_[row + 1]; });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());

    std::vector<uint32_t> next_slot = starts_;
    values_.resize(starts_.back());
    for_each_pair([&](uint32_t row, uint32_t value) {
      values_[next_slot[row]++] = value;
    });
    for (size_t row = 0; row < num_rows; ++row) {
      std::sort(values_.begin() + starts_[row],
                values_.begin() + starts_[row + 1]);
    }
  }

  void Append(size_t row, std::vector<FlowId>* out) const {
    for (uint32_t i = starts_[row]; i < starts_[row + 1]; ++i) {
      out->push_back(FlowId(values_[i]));
    }
  }

 private:
  std::vector<uint32_t> starts_;  // By row: begin of its values; and the end.
  std::vector<uint32_t> values_;
};

class StoredFlowGraph final : public FlowGraph {
 public:
  // `edges` are pairs (flow that is waited for, flow that waits).
  StoredFlowGraph(uint32_t num_ranks, uint32_t num_members,
                  std::vector<ByteRange> chunks, std::vector<Flow> flows,
                  const std::vector<std::pair<uint32_t, uint32_t>>& edges)
      : FlowGraph({.num_ranks = num_ranks,
                   .num_members = num_members,
                   .num_flows = flows.size(),
                   .num_chunks = static_cast<uint32_t>(chunks.size())}),
        chunks_(std::move(chunks)),
        flows_(std::move(flows)),
        num_dependencies_(flows_.size()),
        num_flows_of_(num_members) {
    for (const auto& [_, later] : edges) ++num_dependencies_[later];
    dependents_ = Rows(flows_.size(), [&](const auto& add) {
      for (const auto& [earlier, later] : edges) add(earlier, later);
    });
    first_flows_ = Rows(num_members, [&](const auto& add) {
      for (uint32_t i = 0; i < flows_.size(); ++i) {
        if (num_dependencies_[i] == 0) add(flows_[i].source.index(), i);
      }
    });
    for (const Flow& flow : flows_) {
      ++num_flows_of_[flow.source.index()];
      ++num_flows_of_[flow.target.index()];
    }
  }

  Flow flow(FlowId id) const override { return flows_[id.index()]; }

  ByteRange chunk(ChunkId chunk) const override {
    return chunks_[chunk.index()];
  }

  uint32_t num_dependencies(FlowId id) const override {
    return num_dependencies_[id.index()];
  }

  void AppendDependents(FlowId id, std::vector<FlowId>* out) const override {
    dependents_.Append(id.index(), out);
  }

  void AppendFirstFlows(GroupRank source,
                        std::vector<FlowId>* out) const override {
    first_flows_.Append(source.index(), out);
  }

  uint64_t num_flows_of(GroupRank member) const override {
    return num_flows_of_[member.index()];
  }

 private:
  std::vector<ByteRange> chunks_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> num_dependencies_;  // Flows that each flow waits for.
  // Flows that each member sends or receives.
  std::vector<uint32_t> num_flows_of_;
  Rows dependents_;   // Flows that wait for a flow, by that flow.
  Rows first_flows_;  // Flows that wait for none, by source.
};

}  // namespace

ChunkId FlowGraph::Builder::AddChunk(ByteRange range) {
  ASTRA_CHECK(chunks_.size() < kMaxStoredFlows, "{} chunks", chunks_.size());
  ASTRA_CHECK(0 <= range.begin && range.begin <= range.end,
              "a chunk from {} to {}", range.begin, range.end);
  chunks_.push_back(range);
  return ChunkId(static_cast<uint32_t>(chunks_.size() - 1));
}

FlowId FlowGraph::Builder::Add(Flow flow) {
  ASTRA_CHECK(flows_.size() < kMaxStoredFlows, "{} flows", flows_.size());
  ASTRA_CHECK(std::max(flow.source, flow.target).index() < num_members_ &&
                  flow.source != flow.target,
              "member {} of {} sends to {}", flow.source, num_members_,
              flow.target);
  const uint64_t first = flow.first_chunk.index();
  ASTRA_CHECK(first + flow.num_chunks <= chunks_.size(),
              "chunks {} to {} of {}", first, first + flow.num_chunks,
              chunks_.size());
  flow.bytes = Bytes(0);
  for (uint64_t i = first; i < first + flow.num_chunks; ++i) {
    flow.bytes += Bytes(chunks_[i].size());
  }
  flows_.push_back(flow);
  return FlowId(flows_.size() - 1);
}

void FlowGraph::Builder::AddDependency(FlowId earlier, FlowId later) {
  ASTRA_CHECK(earlier < later && later.index() < flows_.size(),
              "flow {} waits for flow {}", later, earlier);
  const Flow& before = flows_[earlier.index()];
  const GroupRank source = flows_[later.index()].source;
  ASTRA_CHECK(source == before.source || source == before.target,
              "flow {} from member {} waits for one from {} to {}", later,
              source, before.source, before.target);
  edges_.emplace_back(static_cast<uint32_t>(earlier.index()),
                      static_cast<uint32_t>(later.index()));
}

std::unique_ptr<const FlowGraph> FlowGraph::Builder::Build() && {
  ASTRA_CHECK(edges_.size() <= std::numeric_limits<uint32_t>::max(),
              "{} dependencies", edges_.size());
  return std::make_unique<StoredFlowGraph>(
      num_ranks_, num_members_, std::move(chunks_), std::move(flows_), edges_);
}

}  // namespace astra
