// Makes the files of simai_trace.

#ifndef ASTRA_CORE_APPS_TRACE_TRACE_FILES_H_
#define ASTRA_CORE_APPS_TRACE_TRACE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/trace/simai_trace_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Reads the trace that `options` name, or makes that of their workload. Errors:
// those of the readers and of TraceOf().
absl::StatusOr<ExecutionTrace> ReadTrace(const SimaiTraceOptions& options,
                                         Warnings* warnings);

// Writes the files to the folder of `options`, from which files of ranks of an
// earlier trace of this name are removed. Returns the last lines of the
// program.
//
// Errors: those of the readers, of GoalText() and of OutputFolder.
absl::StatusOr<std::string> WriteTrace(const SimaiTraceOptions& options,
                                       const ExecutionTrace& trace);

// Reads the trace of PyTorch that `options` name and writes its tables. Returns
// the last lines of the program.
//
// Errors: those of ReadFile, ParseKinetoProfile, FindGpu and OutputFolder.
absl::StatusOr<std::string> WriteKinetoTables(const SimaiTraceOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_TRACE_FILES_H_
