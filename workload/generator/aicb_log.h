// A blueprint as the list of what one rank does, in the columns of AICB's log
// files: comma-separated, a line for each collective or message.
//
//   comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,
//   _elapsed_time,algbw,busbw,count
//
//   comm_type        "CommType.all_reduce", "CommType.isend", ...
//   comm_group       "CommGroup.tp_group", ...; pp_group of messages
//   comm_group_size  its ranks
//   msg_size         bytes; of a matrix product, the shapes of its operands
//   stage            "forward.", "backward." or "step." and the module
//   additional       of messages, the neighbour: "send_next", "recv_prev", ...
//   count            1
//
// What is empty is None. A line of type epoch_end closes the preparations,
// which are empty here, and another one the iteration.
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

constexpr size_t kMaxAicbLogBytes = size_t{1} << 30;  // Checked by micro-batch.

struct AicbLogOptions {
  int64_t pipeline_rank = 0;   // The stage whose rank is listed.
  bool with_products = false;  // Also matrix products.
};

// The micro-batches in the order of 1F1B: stage p of P runs P - p - 1 of them
// forward, then one forward and one backward in turn, then what is left
// backward; then what is done once. Collectives stand where they start.
//
// Errors: InvalidArgument for a stage that is not there; Unimplemented for
// virtual stages, and for collectives over CP, or over ETP where it is not TP,
// which the format has no name for; ResourceExhausted for more than
// kMaxAicbLogBytes.
absl::StatusOr<std::string> FormatAicbLog(const Blueprint& blueprint,
                                          const AicbLogOptions& options);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_AICB_LOG_H_
