// The execution trace of a job: what each rank computes, sends and receives,
// and what has to end before it begins. A trace is a graph for each rank. It
// comes from a file of another tool, such as Chakra's, or from a program.

#ifndef WORKLOAD_TRACES_EXECUTION_TRACE_H_
#define WORKLOAD_TRACES_EXECUTION_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "workload/phase.h"

namespace astra {

enum class TraceNodeKind : uint8_t {
  kMark,        // Takes no time and needs nothing; others may wait for it.
  kCompute,     // A kernel; those of a rank run one after another.
  kHost,        // Work of the CPU, one after another, beside the kernels.
  kMemory,      // A copy from or to memory, one after another, beside both.
  kCollective,  // The rank's part in a collective of a group.
  kSend,        // The rank sends a message to another rank.
  kReceive,     // The rank waits for a message of another rank.
};

using ProcessGroupId = Id<struct ProcessGroupTag>;
using TraceNameId = Id<struct TraceNameTag>;

struct TraceNode {
  uint64_t id = 0;  // Number in its file, for messages.
  TraceNodeKind kind = TraceNodeKind::kMark;
  Phase phase = Phase::kForward;
  TraceNameId name{};
  TimePs duration;  // Of kCompute, kHost and kMemory.

  // Of kCollective, kSend and kReceive.
  CollectiveKind collective = CollectiveKind::kSendRecv;
  Bytes bytes;             // Size of the buffer, as nccl-tests counts it.
  ProcessGroupId group{};  // Of kCollective.
  RankId peer{};           // Of kSend and kReceive: the other rank.
  int64_t tag = 0;         // Of kSend and kReceive.
  TimePs update;           // Passes from the end of a collective to its result.

  // The nodes that must have ended before this one begins are
  // RankTrace::dependencies[first_dependency] and those behind it.
  uint32_t first_dependency = 0;
  uint32_t num_dependencies = 0;

  friend bool operator==(const TraceNode&, const TraceNode&) = default;
};

// What one rank does. A node comes behind all nodes that it depends on. Kernels
// run in the order of the nodes, and so do the collectives of one group, and
// the messages that have their sender, receiver and tag in common.
struct RankTrace {
  std::string file;  // Where it is from, for messages; empty if from no file.
  std::vector<TraceNode> nodes;
  std::vector<uint32_t> dependencies;  // Positions in `nodes`.

  absl::Span<const uint32_t> DependenciesOf(const TraceNode& node) const {
    return absl::MakeConstSpan(dependencies)
        .subspan(node.first_dependency, node.num_dependencies);
  }
};

// The ranks that run collectives together.
struct ProcessGroup {
  std::string name;
  std::optional<ParallelDimension> dimension;  // None if nobody says.
  std::vector<RankId> ranks;                   // Ascending; at least one.

  // Returns the dimension to which results count its collectives.
  ParallelDimension counted_dimension() const {
    return dimension.value_or(ParallelDimension::kData);
  }
};

struct ExecutionTrace {
  std::vector<std::string> names;  // Of nodes; results sum up equal names.
  std::vector<ProcessGroup> groups;
  std::vector<RankTrace> ranks;
  // The share of its speed that a kernel loses while a collective runs beside
  // it, from 0 to below 1.
  double communication_slowdown = 0;

  size_t num_nodes() const;
};

// Returns the dimension that a group's name begins with, as "TP.3" does with
// TP; none for other names, and for PP, over which there are no collectives.
std::optional<ParallelDimension> DimensionOf(std::string_view group_name);

// Returns "rank R (FILE)", or "rank R" of a rank that is from no file.
std::string RankText(const ExecutionTrace& trace, RankId rank);

// Checks that ranks agree with one another: each takes part in the collectives
// of its groups in one order, with the same kinds and sizes, and each message
// that is sent is received with its size.
//
// Errors: InvalidArgument "FILE: rank R, node N (NAME): ..." for the first that
// has no counterpart, or a different one.
absl::Status CheckRanksAgree(const ExecutionTrace& trace);

}  // namespace astra

#endif  // WORKLOAD_TRACES_EXECUTION_TRACE_H_
