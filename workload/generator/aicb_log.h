// Formats a blueprint as the list of what one rank does, in the columns of
// AICB's log files: comma-separated, one line for each collective or message.
//
//   comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,
//   _elapsed_time,algbw,busbw,count
//
//   comm_type        "CommType.all_reduce", "CommType.isend", ...
//   comm_group       "CommGroup.tp_group", ...; pp_group for messages
//   comm_group_size  number of ranks in the group
//   msg_size         bytes; for a matrix product, the shapes of its operands
//   stage            "forward.", "backward." or "step.", then the module
//   additional       for messages, the neighbour: "send_next", "recv_prev", ...
//   count            1
//
// An empty cell reads None. A line of type epoch_end ends the preparations,
// which are empty here, and another such line ends the iteration.
//
// docs/aicb-differences.md lists where the lines differ from AICB's.
//
// Source: AICB, log_analyzer/log.py (the columns).

#ifndef WORKLOAD_GENERATOR_AICB_LOG_H_
#define WORKLOAD_GENERATOR_AICB_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"

namespace astra {

// Largest size of a log, which is estimated from its first micro-batch.
constexpr size_t kMaxAicbLogBytes = size_t{1} << 30;

struct AicbLogOptions {
  int64_t pipeline_rank = 0;   // Pipeline stage whose rank is listed.
  bool with_products = false;  // Whether matrix products are listed too.
};

// Formats the micro-batches in the order of 1F1B: stage p of P runs P - p - 1
// of them forward, then one forward and one backward in turn, then the
// remaining ones backward. Work that is done once an iteration follows. A
// collective stands where it starts.
//
// Errors: InvalidArgument for a stage that does not exist; Unimplemented for
// virtual stages, and for collectives over CP, or over ETP where it differs
// from TP, because the format has no name for them; ResourceExhausted for more
// than kMaxAicbLogBytes.
absl::StatusOr<std::string> FormatAicbLog(const Blueprint& blueprint,
                                          const AicbLogOptions& options);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_AICB_LOG_H_
