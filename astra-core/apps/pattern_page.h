// report.html of a run of traffic (--pattern): how long messages took, the
// queues before links, and the loads of links on the drawn topology.

#ifndef ASTRA_CORE_APPS_PATTERN_PAGE_H_
#define ASTRA_CORE_APPS_PATTERN_PAGE_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/results/completions_table.h"
#include "astra-core/results/message_times.h"
#include "astra-core/run/run.h"
#include "astra-core/run/traffic_run.h"

namespace astra {

// Returns the page of a run that has finished. `rows` are those of
// CompletionsOf(). `messages` may be null: the network records none.
std::string PatternPage(std::string_view name, const TrafficRunRequest& request,
                        const RunResult& run,
                        absl::Span<const CompletionRow> rows,
                        const MessageTimes* messages);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PATTERN_PAGE_H_
