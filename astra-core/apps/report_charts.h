// The charts of report.html; see run_report.h. Each function adds its charts to
// the page and returns HTML, empty if there is nothing to show.

#ifndef ASTRA_CORE_APPS_REPORT_CHARTS_H_
#define ASTRA_CORE_APPS_REPORT_CHARTS_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/engine/result.h"
#include "astra-core/pages/page.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

// Shows where the time of each stage goes, for its rank that works longest.
// Without stages, as in an execution trace, it shows ranks.
std::string BreakdownSection(bool has_stages, const SimulationResult& result,
                             Page& page);

// Shows what a rank of each stage did and waited for, over time; without stages
// what ranks did.
std::string TimelineSection(bool has_stages, const SimulationResult& result,
                            Page& page);

// Shows the memory of each stage, slot by slot of its schedule.
std::string MemorySection(const Program& program,
                          absl::Span<const StageMemory> memories, Page& page);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_REPORT_CHARTS_H_
