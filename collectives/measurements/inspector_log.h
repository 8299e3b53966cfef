// Reads what NCCL's inspector writes of the collectives of a running job. The
// inspector is a profiler plugin of NCCL 2.28 and later. Each process writes a
// file of its own, with one JSON object on each line:
//
// clang-format off
//   {"header": {"id": "0x9e7a479f95a66c", "rank": 31, "n_ranks": 32, "nnodes": 4},
//    "metadata": {"inspector_output_format_version": "v4.0", ...},
//    "coll_perf": {"coll": "ReduceScatter", "coll_sn": 129,
//                  "coll_msg_size_bytes": 65536, "coll_exec_time_us": 110,
//                  "coll_timing_source": "kernel_gpu", ...}}
//
//   id                   the communicator, the same on all of its ranks
//   n_ranks, nnodes      its ranks, and its servers as NCCL counts them
//   coll_sn              number of the call among those of the communicator
//                        and the collective
//   coll_msg_size_bytes  count of the call to NCCL, times the bytes of a type
//   coll_exec_time_us    whole microseconds, rounded down
//   coll_timing_source   "kernel_gpu", "kernel_cpu" or "collective_cpu"
// clang-format on
//
// Sizes: the count of an all-gather is what one rank sends, and that of a
// reduce-scatter what one rank receives, so coll_msg_size_bytes is one rank's
// part. InspectorRecord::size is the "size" of nccl-tests, which is n_ranks
// times as much; so it is for an all-to-all, a gather and a scatter, whose
// count is the part for one peer. The sizes of the other collectives agree.
//
// Times: the longest time of a channel of the kernel on this rank, by the
// GPU's clock ("kernel_gpu") or as the proxy sees it ("kernel_cpu"). It
// contains no launch, but it contains the wait for ranks that come later. Times
// of "collective_cpu" begin where the host enqueues the collective; such a
// record has a problem.
//
// A line with "p2p_perf" in place of "coll_perf" times one send or one receive.
// It does not tell what the other ranks send at the same time, so such a record
// has a problem, too. All other lines ("dump_stats") hold no times and are
// passed over, as are further keys.
//
// Source: NCCL, plugins/profiler/inspector (ext-profiler/inspector in 2.28):
// inspector_json.cc (keys), inspector_plugin.cc (sizes), inspector.cc (times,
// and the factor n_ranks in its own bandwidths); nccl.h (counts of calls).

#ifndef COLLECTIVES_MEASUREMENTS_INSPECTOR_LOG_H_
#define COLLECTIVES_MEASUREMENTS_INSPECTOR_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"

namespace astra {

// One collective, as one rank saw it.
struct InspectorRecord {
  // Reason why the record cannot be used, in one line; empty if it can. The
  // fields from `collective` on are valid only if there is no problem.
  std::string problem;

  std::string communicator;  // Text of "id".
  int64_t serial = 0;        // Number of the call, "coll_sn".
  uint32_t num_ranks = 0;    // Always a multiple of num_nodes if no problem.
  uint32_t num_nodes = 0;

  CollectiveKind collective = CollectiveKind::kAllReduce;
  Bytes size;  // The "size" of nccl-tests.
  double time_us = 0;
};

struct InspectorLog {
  std::vector<InspectorRecord> records;  // At least one.
};

// Largest number of records. A file with more is taken for a mistake.
constexpr size_t kMaxInspectorRecords = 1'000'000;

// Reads a file of the inspector.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line that is no JSON
// object or holds more than one, a missing key, numbers of ranks or servers out
// of range, no record, and too many records.
absl::StatusOr<InspectorLog> ParseInspectorLog(std::string_view file,
                                               std::string_view contents);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_INSPECTOR_LOG_H_
