// Writes the part of the summary that tells what events did to a run.

#ifndef ASTRA_CORE_APPS_EVENTS_REPORT_H_
#define ASTRA_CORE_APPS_EVENTS_REPORT_H_

#include <string>

#include "astra-core/run/events_file.h"
#include "astra-core/run/run.h"

namespace astra {

// Returns lines of text: the events; of a run that has finished, which of them
// would have come later, how much longer it took than without them, and which
// collectives did; and which ranks others waited for.
std::string DescribeEvents(const RunEvents& events, const RunResult& run);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_EVENTS_REPORT_H_
