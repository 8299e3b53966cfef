// Turns tables of collectives that other programs measured into the columns of
// measured_table.h, so that `simai_collective --compare-table` reads them as
// they are.
//
//   if (const std::optional<TableForm> form = OtherFormOf(csv)) {
//     ASTRA_ASSIGN_OR_RETURN(rows, ReadOtherRows(*form, file, csv));
//   }
//
// What the tables themselves do not state, the path of the file tells:
//
// clang-format off
//   Vidur: NODE/all_reduce.csv, NODE/send_recv.csv, as in a100_dgx/all_reduce.csv
//     time_stats.NAME.median  ms
//     num_workers             GPUs
//     devices_per_node        GPUs of each node
//     size                    bytes
//     collective              NAME: "all_reduce", "send_recv"
//     NODE                    the GPU; "pairwise" in it: NVLink joins pairs
//   Estimator: GPU_NAME_PRECISION[_NODES_GPUS].csv, as in
//   NVIDIAA100-SXM4-80GB_allgather_large_fp16_2_4.csv
//     shape                   elements that a rank sends
//     nodes, GPUsPerNode
//     dur(us)
//     NAME                    "allreduce", "allgather" or "p2p", also with
//                             "_large" behind it
//     PRECISION               "fp16", "bf16" or "fp32"
// clang-format on
//
// Neither states the NICs: between nodes, those of the nearest system count.
//
// Sources: Vidur, data/profiling/network; estimate-train-time, regressors. That
// `shape` of an all-gather is the part of one rank follows from its times: bus
// bandwidths between two nodes are then those of the all-reduce, 4.3 GB/s.

#ifndef COLLECTIVES_MEASUREMENTS_OTHER_TABLES_H_
#define COLLECTIVES_MEASUREMENTS_OTHER_TABLES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/csv_reader.h"

namespace astra {

enum class TableForm { kVidur, kEstimator };

// The columns of the cells that ReadOtherRows returns.
inline constexpr std::string_view kOtherColumns[] = {
    "gpu",        "nodes",      "gpus_total", "nic_gbps",
    "nvlink_gen", "collective", "bytes",      "time_us",
};

// What "nvlink_gen" says of servers in which NVLink joins pairs of GPUs.
inline constexpr std::string_view kPairsOfGpus = "pairs";

// The program whose columns `csv` has; none if it is neither of the two.
std::optional<TableForm> OtherFormOf(const CsvReader& csv);

// Cells by kOtherColumns, row by row.
using OtherRows = std::vector<std::vector<std::string>>;

// Reads the rest of `csv`, the file `file`.
//
// Errors: InvalidArgument for a path that does not tell the GPU, or, of the
// estimator, the collective and the precision; cells that are no numbers; and
// more than 1,000,000 rows.
absl::StatusOr<OtherRows> ReadOtherRows(TableForm form, std::string_view file,
                                        CsvReader& csv);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_OTHER_TABLES_H_
