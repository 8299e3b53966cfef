// Reads tables of measured kernels in the form of NVIDIA AIConfigurator's, as
// CSV.
//
// The first line may be a comment, which names columns that are the same in all
// rows:
//
//   # SOURCE; the same in all rows: framework=VLLM; op_name=gemm
//   gemm_dtype,m,n,k,latency
//   bfloat16,64,4096,4096,0.0112
//
// `latency` is in milliseconds. `op_name`, or else the begin of the name of the
// file, tells the family (family.h), whose columns the row needs. A missing
// window_size is 0; num_key_value_heads of 0 means num_heads; step of prefill
// is how many positions came before. Other columns mean nothing here.

#ifndef WORKLOAD_KERNELS_KERNEL_TABLE_H_
#define WORKLOAD_KERNELS_KERNEL_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/kernels/family.h"
#include "workload/kernels/surface.h"

namespace astra {

struct KernelRow {
  std::vector<std::string> cells;  // As the file has them.
  // Place of the cell that is wrong, or of the latency; counted from 1.
  uint32_t line = 0;
  uint32_t column = 0;
  KernelCall call;
  double latency_ms = 0;
  // Why the row is no kernel that is known; empty: it is.
  std::string problem;
};

struct KernelTable {
  std::string file;
  std::vector<std::string> columns;
  std::string backend;  // "vllm", "trtllm", ...; empty: not said.
  std::vector<KernelRow> rows;
};

// Returns whether the columns of `contents` include `latency`, as those of no
// other table do.
bool IsKernelTable(std::string_view contents);

// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses,
// and for a file without a column `latency`. Whatever else is wrong is a
// problem of its row.
absl::StatusOr<KernelTable> ParseKernelTable(std::string_view file,
                                             std::string_view contents);

// Reads the file `path`. Errors: those of ParseKernelTable and of ReadFile.
absl::StatusOr<KernelTable> ReadKernelTable(const std::string& path);

// Returns the surfaces of a table measured on `gpu`. Rows of one kernel count
// as the geometric mean of their times.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a row with a problem, or
// a time that is not above 0; "FILE: ..." where shapes times points are more
// than kMaxTableCells.
absl::StatusOr<std::vector<SurfaceTimes>> SurfacesOf(const KernelTable& table,
                                                     std::string_view gpu);

constexpr size_t kMaxTableCells = size_t{1} << 24;

}  // namespace astra

#endif  // WORKLOAD_KERNELS_KERNEL_TABLE_H_
