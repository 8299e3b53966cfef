// report.html of a run: one page that needs no other file and no network, with
// the summary, where the time goes, the timeline, what bounds it, collectives,
// links on the drawn topology, queues, messages, and memory.

#ifndef ASTRA_CORE_APPS_RUN_REPORT_H_
#define ASTRA_CORE_APPS_RUN_REPORT_H_

#include <string>
#include <string_view>

#include "astra-core/apps/run_subject.h"
#include "astra-core/results/message_times.h"
#include "astra-core/run/run.h"

namespace astra {

// Returns the page of a run that has finished. Sections about what the run does
// not know are left out. `messages` may be null.
std::string RunReport(std::string_view name, const RunSubject& subject,
                      const RunResult& run, const MessageTimes* messages);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_REPORT_H_
