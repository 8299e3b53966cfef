// Makes an execution trace of the files of a Chakra trace, one for each rank,
// and such files of an execution trace.
//
// What a node takes is its duration_micros. Our own files say it to the
// picosecond, in the attribute duration_ps, which other readers pass over; so
// do update_ps, phase, dimension, collective_kind and buffer_bytes for what
// Chakra has no word for. Of a kernel without a duration, num_ops and
// tensor_size give the time on a GPU, as in ASTRA-sim: that of its arithmetic
// or of its memory traffic, whichever is longer.

#ifndef WORKLOAD_TRACES_CHAKRA_TRACE_H_
#define WORKLOAD_TRACES_CHAKRA_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "workload/traces/chakra_file.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// What a GPU does at most in a second.
struct PeakRates {
  double flops = 0;
  double memory_bytes = 0;
};

// Parses the groups of a trace, a JSON object of lists of ranks by name:
// {"0": [0, 1], "1": [2, 3]}. ASTRA-sim reads it as
// --comm-group-configuration. A group whose name begins with a dimension, as
// "TP.0", has that.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not a rank below
// `num_ranks`, a rank that is twice in a group, and an empty group.
absl::StatusOr<std::vector<ProcessGroup>> ParseProcessGroups(
    std::string_view file, std::string_view contents, uint32_t num_ranks);

// Returns the JSON text that ParseProcessGroups() reads as `groups`.
std::string FormatProcessGroups(absl::Span<const ProcessGroup> groups);

// Puts the ranks of a trace together, one file after another.
class ChakraImport {
 public:
  // `peak` is that of the GPU; without it every kernel needs a duration.
  ChakraImport(std::vector<ProcessGroup> groups, uint32_t num_ranks,
               std::optional<PeakRates> peak);

  // Adds the next rank. `name` is its file, for messages.
  //
  // Errors: InvalidArgument "NAME: node N (WORDS): ..." for an id that is there
  // twice, a dependency on no node or in a circle, an unknown group, a
  // collective or peer that there is none of, a message without a size, and a
  // kernel without a duration.
  absl::Status AddRank(std::string_view name, const ChakraFile& file);

  // Requires num_ranks calls of AddRank(). Appends to `warnings` what in the
  // files has no effect.
  //
  // Errors: those of CheckRanksAgree() and CheckEnds().
  absl::StatusOr<ExecutionTrace> Finish(Warnings* warnings);

 private:
  class Rank;

  TraceNameId NameOf(std::string_view name);
  ProcessGroupId AddGroupOfAll();

  ExecutionTrace trace_;
  uint32_t num_ranks_;
  std::optional<PeakRates> peak_;
  std::map<std::string, ProcessGroupId, std::less<>> groups_;
  std::map<std::string, TraceNameId, std::less<>> names_;
  // What has no effect, for warnings.
  std::set<std::string> unread_attributes_;
  std::set<uint32_t> unknown_fields_;
  std::set<std::string> undimensioned_groups_;
  std::map<ChakraNodeType, int64_t> timeless_nodes_;
};

// Returns the file of `rank`.
ChakraFile ChakraFileOf(const ExecutionTrace& trace, RankId rank);

}  // namespace astra

#endif  // WORKLOAD_TRACES_CHAKRA_TRACE_H_
