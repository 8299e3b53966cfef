// Traces drawn by hand.

#ifndef TESTS_WORKLOAD_TRACES_TRACE_DRAWING_H_
#define TESTS_WORKLOAD_TRACES_TRACE_DRAWING_H_

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fmt/core.h"
#include "workload/traces/execution_trace.h"

namespace astra::testing {

// Ranks whose nodes are added one by one.
class TraceDrawing {
 public:
  explicit TraceDrawing(uint32_t num_ranks) {
    trace_.names = {"n"};
    trace_.ranks.resize(num_ranks);
    std::vector<uint32_t> all(num_ranks);
    std::iota(all.begin(), all.end(), 0);
    AddGroup(all);
  }

  // Returns the group; group 0 has all ranks. `ranks` are ascending.
  ProcessGroupId AddGroup(const std::vector<uint32_t>& ranks) {
    const ProcessGroupId id(static_cast<uint32_t>(trace_.groups.size()));
    ProcessGroup group{
        fmt::format("DP.{}", id.index()), ParallelDimension::kData, {}};
    for (const uint32_t rank : ranks) group.ranks.emplace_back(rank);
    trace_.groups.push_back(group);
    return id;
  }

  // The nodes that are added from now on have this name.
  void Name(const std::string& name) {
    if (trace_.names.back() != name) trace_.names.push_back(name);
  }

  // Returns the position of the node.
  uint32_t Timed(uint32_t rank, TraceNodeKind kind, int64_t us,
                 std::vector<uint32_t> after = {}) {
    TraceNode node;
    node.kind = kind;
    node.duration = Microseconds(us);
    return Add(rank, node, after);
  }
  uint32_t Kernel(uint32_t rank, int64_t us, std::vector<uint32_t> after = {}) {
    return Timed(rank, TraceNodeKind::kCompute, us, std::move(after));
  }
  uint32_t Sum(uint32_t rank, int64_t bytes, std::vector<uint32_t> after = {},
               ProcessGroupId group = ProcessGroupId(0)) {
    TraceNode node;
    node.kind = TraceNodeKind::kCollective;
    node.collective = CollectiveKind::kAllReduce;
    node.group = group;
    node.bytes = Bytes(bytes);
    return Add(rank, node, after);
  }
  uint32_t Message(uint32_t rank, TraceNodeKind kind, uint32_t peer,
                   int64_t tag, int64_t bytes,
                   std::vector<uint32_t> after = {}) {
    TraceNode node;
    node.kind = kind;
    node.peer = RankId(peer);
    node.tag = tag;
    node.bytes = Bytes(bytes);
    return Add(rank, node, after);
  }

  ExecutionTrace& trace() { return trace_; }
  const ExecutionTrace& trace() const { return trace_; }

 private:
  uint32_t Add(uint32_t rank, TraceNode node,
               const std::vector<uint32_t>& after) {
    RankTrace& own = trace_.ranks[rank];
    node.id = own.nodes.size();
    node.name = TraceNameId(static_cast<uint32_t>(trace_.names.size() - 1));
    node.first_dependency = static_cast<uint32_t>(own.dependencies.size());
    node.num_dependencies = static_cast<uint32_t>(after.size());
    own.dependencies.insert(own.dependencies.end(), after.begin(), after.end());
    own.nodes.push_back(node);
    return static_cast<uint32_t>(node.id);
  }

  ExecutionTrace trace_;
};

}  // namespace astra::testing

#endif  // TESTS_WORKLOAD_TRACES_TRACE_DRAWING_H_
