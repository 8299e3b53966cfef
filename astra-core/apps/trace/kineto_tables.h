// The tables that simai_trace makes of a trace of PyTorch's profiler, which
// other programs read: operators.csv for --operator-table, communication.csv
// for
// --measured, and kernels.csv for people.

#ifndef ASTRA_CORE_APPS_TRACE_KINETO_TABLES_H_
#define ASTRA_CORE_APPS_TRACE_KINETO_TABLES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/files.h"
#include "workload/traces/kineto_profile.h"

namespace astra {

struct KinetoTableOptions {
  std::string gpu;     // Name in both tables.
  std::string source;  // Of the rows: the file.
  int64_t gpus_per_server = 8;
};

// Returns the files; those without rows are left out.
std::vector<NamedFile> KinetoTables(const KinetoProfile& trace,
                                    const KinetoTableOptions& options);

// Returns lines of text: where the time of the kernels goes, and what the
// tables leave out.
std::string DescribeKineto(const KinetoProfile& trace);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_KINETO_TABLES_H_
