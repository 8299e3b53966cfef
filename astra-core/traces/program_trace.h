// The execution trace of a program: what each of its ranks does, with every
// micro-batch.

#ifndef ASTRA_CORE_TRACES_PROGRAM_TRACE_H_
#define ASTRA_CORE_TRACES_PROGRAM_TRACE_H_

#include "absl/status/statusor.h"
#include "workload/program.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Returns the trace, which takes as long as the program on any cluster. The
// names of groups are numbers, which is all that ASTRA-sim reads.
//
// Errors: Unimplemented if stages of the pipeline are a formula, as in SimAI's
// text, which no trace can say; ResourceExhausted if it would have more than
// kMostTraceNodes nodes.
absl::StatusOr<ExecutionTrace> TraceOf(const Program& program);

constexpr int64_t kMostTraceNodes = 200'000'000;

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_PROGRAM_TRACE_H_
