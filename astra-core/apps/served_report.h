// Tells what became of the requests of jobs that serve.

#ifndef ASTRA_CORE_APPS_SERVED_REPORT_H_
#define ASTRA_CORE_APPS_SERVED_REPORT_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/results/jobs_table.h"

namespace astra {

// Returns latencies.csv; "" if no job serves.
std::string LatenciesCsv(absl::Span<const JobRow> jobs);

// Returns lines of text for a job that serves: one for the job, and one for
// each of its latencies.
std::string DescribeServed(const JobRow& job);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVED_REPORT_H_
