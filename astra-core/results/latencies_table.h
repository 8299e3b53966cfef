// latencies.csv: how long the requests of jobs that serve took, beside the
// other jobs and alone.

#ifndef ASTRA_CORE_RESULTS_LATENCIES_TABLE_H_
#define ASTRA_CORE_RESULTS_LATENCIES_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/results/table.h"
#include "workload/serving/time_histogram.h"

namespace astra {

// One latency of the requests of a job, such as the time to the first token.
struct JobLatency {
  std::string_view name;
  TimeFigures beside;                // With the other jobs.
  std::optional<TimeFigures> alone;  // None: the job did not run alone.
};

// What became of a job that serves.
struct ServedRow {
  int64_t requests = 0;
  TimePs end;                      // When the last request ended.
  std::vector<JobLatency> others;  // All latencies but that to the end.
  JobLatency end_to_end;

  // Returns the mean latency over that alone; 1 if requests take no time.
  // Requires that the job ran alone, too.
  double slowdown() const;
};

// Appends the rows of a job to latencies.csv, whose header is
// LatenciesHeader().
void AppendLatencies(std::string_view job, const ServedRow& served,
                     std::string* text);
std::string LatenciesHeader();

void AppendLatenciesColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_LATENCIES_TABLE_H_
