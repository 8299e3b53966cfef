// Any bytes are a table of kernels, whose rows are kernels or say why not, or
// an error of one line. Rows that are all right become surfaces.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "workload/kernels/kernel_table.h"

namespace astra {
namespace {

void Check(std::string_view text) {
  const absl::StatusOr<KernelTable> table = ParseKernelTable("file", text);
  if (!table.ok()) {
    ASTRA_CHECK(table.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  for (const KernelRow& row : table->rows) {
    ASTRA_CHECK(row.problem.empty() == (row.call.family != nullptr),
                "line {}: neither a kernel nor a problem", row.line);
    ASTRA_CHECK(row.problem.find('\n') == std::string::npos,
                "a problem of several lines");
  }
  const auto surfaces = SurfacesOf(*table, "gpu");
  if (!surfaces.ok()) return;
  for (const SurfaceTimes& times : *surfaces) {
    ASTRA_CHECK(times.log_us.size() == times.lines.size() * times.num_points(),
                "{} times", times.log_us.size());
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
