// Reads the output of nccl-tests (all_reduce_perf and its siblings), with the
// lines that NCCL, mpirun and srun mix into it.
//
//   # nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) ... graph: 0
//   #  Rank  0 Group  0 Pid 7 on node1 device  0 [0x1b] NVIDIA H100 80GB HBM3
//   #       size   count    type   redop    root   time  algbw  busbw #wrong
//   ...
//              8       2   float     sum      -1  24.01   0.00   0.00      0
//              ...
//
// The line of names decides what the columns are. Without it they are those of
// nccl-tests 2.13 and later. Prefixes of lines are removed: the tag of mpirun
// --tag-output ("[1,0]<stdout>:") and the label of srun ("0:"). Lines of NCCL
// ("HOST:PID:TID [0] NCCL INFO ...") may come anywhere, even within a row,
// which then goes on some lines further down. Only those lines of NCCL are used
// that say which algorithm was chosen (NCCL_DEBUG_SUBSYS=TUNING).
//
// Source: nccl-tests, src/util.cu and src/common.cu; NCCL, src/enqueue.cc.

#ifndef COLLECTIVES_MEASUREMENTS_NCCL_TESTS_LOG_H_
#define COLLECTIVES_MEASUREMENTS_NCCL_TESTS_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

// The out-of-place or in-place half of a row. Bandwidths are in GB/s (10^9
// B/s), as printed.
struct NcclTestsTime {
  double time_us = 0;
  double algbw = 0;
  double busbw = 0;
  std::optional<double> num_wrong;  // Nullopt if not checked.
};

struct NcclTestsRow {
  Bytes size;
  int64_t count = 0;  // Number of elements.
  std::string type;   // Such as "float".
  std::string redop;  // "sum", "none"; empty without this column.
  std::string root;   // "-1"; empty without this column.
  NcclTestsTime out_of_place;
  NcclTestsTime in_place;

  // The choice that NCCL reported for this size, if it did.
  std::optional<NcclAlgorithm> algorithm;
  std::optional<NcclProtocol> protocol;
};

struct NcclTestsLog {
  std::optional<CollectiveKind> collective;  // Nullopt if unknown.
  uint32_t num_ranks = 0;                    // 0 if no rank is listed.
  // "FILE:LINE:COLUMN" of the last listed rank, or of the first row if no rank
  // is listed.
  std::string ranks_place;
  std::vector<std::string> hosts;  // Hosts, in the order of their ranks.
  std::vector<std::string> gpus;   // Different GPU names, by first rank.
  std::string nccl_version;        // Version as printed; empty if absent.
  std::string nccl_version_place;  // "FILE:LINE:COLUMN" of nccl_version.
  bool uses_cuda_graph = false;
  std::vector<NcclTestsRow> rows;  // Rows; at least one.
};

// Limits of a log. A log beyond them is a mistake.
constexpr size_t kMaxNcclTestsRows = 100'000;
constexpr uint32_t kMaxNcclTestsRanks = 1 << 20;

// Reads a log.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a log without rows, a row
// that is too short or has a cell that is no number, a line of names without
// "time", "algbw" or "busbw", times of the CPU (option -C), and a second test
// in the same log.
absl::StatusOr<NcclTestsLog> ParseNcclTestsLog(std::string_view file,
                                               std::string_view contents);

// Applies ParseNcclTestsLog to the file `path`. Errors: also those of ReadFile.
absl::StatusOr<NcclTestsLog> ReadNcclTestsLog(const std::string& path);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_NCCL_TESTS_LOG_H_
