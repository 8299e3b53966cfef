// Turns tables of collectives that other programs measured into the columns of
// measured_table.h, so that `simai_collective --compare-table` reads them
// unchanged.
//
//   if (const std::optional<TableForm> form = OtherFormOf(csv)) {
//     ASTRA_ASSIGN_OR_RETURN(rows, ReadOtherRows(*form, file, csv));
//   }
//
// The path of the file tells what the table does not state:
//
// clang-format off
//   Vidur: NODE/all_reduce.csv, NODE/send_recv.csv, as in
//   a100_dgx/all_reduce.csv
//     time_stats.NAME.median  ms
//     num_workers             GPUs
//     devices_per_node        GPUs of each node
//     size                    bytes
//     collective              NAME: "all_reduce", "send_recv"
//     NODE                    the GPU; "pairwise" in it: NVLink joins pairs
//   Estimator: CLUSTER/nccl/GPU_NAME_PRECISION[_NODES_GPUS].csv, as in
//   Perlmutter/nccl/NVIDIAA100-SXM4-80GB_allgather_large_fp16_2_4.csv
//     shape                   elements that a rank sends
//     nodes, GPUsPerNode
//     dur(us)
//     NAME                    "allreduce", "allgather" or "p2p", also with
//                             "_large" behind it
//     PRECISION               "fp16", "bf16" or "fp32"
//     CLUSTER                 the bundled system of this name or alias, such as
//                             "Perlmutter" or "Vista"; a folder of another
//                             name tells no system
// clang-format on
//
// Neither states the NICs; between nodes, those of the system count, or of the
// nearest system where the path names none.
//
// Vidur queues 11 collectives and takes the median duration of their kernels,
// so that no launch is part of its times.
//
// Sources: Vidur, data/profiling/network, and how it measured:
// vidur/profiling/collectives; estimate-train-time, regressors. The
// times show that `shape` of an all-gather is the part of one rank: only then
// are bus bandwidths between two nodes those of the all-reduce, 4.3 GB/s.

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

// Columns of the cells that ReadOtherRows returns.
inline constexpr std::string_view kOtherColumns[] = {
    "gpu",        "system",     "nodes", "gpus_total", "nic_gbps",
    "nvlink_gen", "collective", "bytes", "time_us",    "env",
};

// Value of "nvlink_gen" for servers in which NVLink joins pairs of GPUs.
inline constexpr std::string_view kPairsOfGpus = "pairs";

// Returns the program whose columns `csv` has, or nullopt if it is neither.
std::optional<TableForm> OtherFormOf(const CsvReader& csv);

// Rows with their cells in the order of kOtherColumns.
using OtherRows = std::vector<std::vector<std::string>>;

// Reads the rest of `csv`, the file `file`.
//
// Errors: InvalidArgument for a path that does not tell the GPU or, for the
// estimator, the collective and the precision; for cells that are no numbers;
// and for more than 1,000,000 rows.
absl::StatusOr<OtherRows> ReadOtherRows(TableForm form, std::string_view file,
                                        CsvReader& csv);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_OTHER_TABLES_H_
