// Formats run.json and cost.json of a run.

#ifndef ASTRA_CORE_APPS_RUN_JSON_H_
#define ASTRA_CORE_APPS_RUN_JSON_H_

#include <string>
#include <string_view>

#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_subject.h"
#include "astra-core/base/log.h"
#include "astra-core/run/run.h"

namespace astra {

// Returns the inputs as they were understood, and the totals: the same for
// equal inputs, whenever and wherever `program` runs them.
std::string RunJson(std::string_view program, const RunOptions& options,
                    const RunSubject& subject, const Warnings& warnings,
                    const RunResult& run);

// Parts of run.json: the fidelity and the collectives; when the run is to stop;
// the network; what the network carried until `end`.
Json ModelJson(const RunOptions& options, const SimulationOptions& simulation);
// Adds nothing for a run that goes to its end.
void AddStopAt(TimePs stop_at, Json& model);
Json NetworkJson(const RunOptions& options, const NetworkOptions& network);
Json SimulatedJson(const NetworkStatistics& network, TimePs end);

// Adds the events of a run and the times without them, its network, and what
// that carried.
void AddNetworkRun(const RunOptions& options, const RunEvents& events,
                   const NetworkOptions& network, const RunResult& run,
                   Json& json);

// Returns what the process has cost until now, of which the run took `wall_s`.
std::string CostJson(const RunOptions& options, const RunResult& run,
                     double wall_s);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_JSON_H_
