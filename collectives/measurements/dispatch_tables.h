// Turns measured dispatches and combines of experts into the columns of
// measured_table.h.
//
// clang-format off
//   DeepEP, as AIConfigurator writes its tables down: a line is two rows.
//     mode             "normal", "ll"
//     nodes            of 8 GPUs each
//     device           the GPU
//     hidden, tokens (of a rank), topk, experts, sms (empty with "ll")
//     dispatch_us, combine_us
//   NVLink all-to-alls of TensorRT-LLM:
//     kernel           "NVLinkOneSided", "NVLinkTwoSided"
//     op               "alltoall_dispatch", "alltoall_combine"; others are
//                      left out
//     dtype            of dispatched tokens: "bfloat16", "fp8", "nvfp4"
//     device, tokens (of a rank), hidden, topk, experts, ep (GPUs)
//     distribution     "balanced"; others are left out
//     latency_us
// clang-format on
//
// DeepEP dispatches in FP8, with a scale of 4 bytes for each 128 elements, and
// combines in BF16. `bytes` is tokens x topk x the bytes of a token, and `env`
// names the dispatcher and the routing:
//
//   dispatcher=deepep@20 routing=experts=256,top_k=8,...
//
// Times of DeepEP are without what several nodes tell one another beforehand
// ("notify"), and those of TensorRT-LLM without its preparation: `env` says so
// by the word "prepared".

#ifndef COLLECTIVES_MEASUREMENTS_DISPATCH_TABLES_H_
#define COLLECTIVES_MEASUREMENTS_DISPATCH_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/csv_reader.h"

namespace astra {

// Columns of the cells of a row.
inline constexpr std::string_view kDispatchColumns[] = {
    "gpu",        "nodes", "gpus_total", "nic_gbps", "nvlink_gen",
    "collective", "bytes", "time_us",    "env",
};

// These words of the column "collective" name parts of a collective.
inline constexpr std::string_view kPreparation = "preparation of a dispatch";
inline constexpr std::string_view kQuantisedCombine =
    "combine that quantises tokens on its way";

// Returns whether `csv` has the columns of one of the two.
bool IsDeepEpTable(const CsvReader& csv);
bool IsNvlinkAllToAllTable(const CsvReader& csv);

// Reads the rest of `csv`. Errors: InvalidArgument for cells that are no
// numbers, and for too many rows.
absl::StatusOr<std::vector<std::vector<std::string>>> ReadDeepEpTable(
    CsvReader& csv);
absl::StatusOr<std::vector<std::vector<std::string>>> ReadNvlinkAllToAllTable(
    CsvReader& csv);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_DISPATCH_TABLES_H_
