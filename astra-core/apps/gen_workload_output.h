// Makes what gen_workload prints and writes.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_OUTPUT_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/generator/training.h"  // IWYU pragma: export

namespace astra {

// Prints the bundled models or GPUs and returns true, if `flags` asks for them.
// Otherwise returns false.
bool PrintedList(const CommandLine& flags);

// Estimates the time and memory of FormatWorkloadAs() from the lengths of the
// texts of few micro-batches. The estimate is zero if the call would fail.
WorkBudget BudgetOf(const GenWorkloadOptions& options,
                    const Blueprint& blueprint, const ModuleTimes& times);

// Returns the workload in the format that the options ask for. Warns of what
// SimAI itself cannot read, and of memory that the GPU does not have.
//
// Errors: those of the formats; InvalidArgument for a stage that does not
// exist.
absl::StatusOr<std::string> FormatWorkloadAs(const GenWorkloadOptions& options,
                                             const Blueprint& blueprint,
                                             const ModuleTimes& times,
                                             Warnings* warnings);

// Returns the page of --enable-visual.
//
// Errors: those of TimeProgram.
absl::StatusOr<std::string> ChartOf(const GenWorkloadOptions& options,
                                    const Blueprint& blueprint,
                                    const ModuleTimes& times);

// Returns the text of --explain, with the memory of each stage.
std::string Explanation(const GenWorkloadOptions& options,
                        const Blueprint& blueprint, const ModuleTimes& times);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_OUTPUT_H_
