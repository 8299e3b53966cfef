// jobs.csv and iterations.csv: how long the iterations of several jobs on one
// network took.

#ifndef ASTRA_CORE_RESULTS_JOBS_TABLE_H_
#define ASTRA_CORE_RESULTS_JOBS_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/results/table.h"
#include "topology/topology.h"

namespace astra {

struct JobRow {
  std::string name;
  std::string workload;  // File.
  uint32_t num_gpus = 0;
  std::string servers;  // Such as "0-3 8".
  struct Iteration {
    TimePs begin;
    TimePs end;
  };
  std::vector<Iteration> iterations;  // At least one.
  // Mean of an iteration without the other jobs; none: not known.
  std::optional<TimePs> alone;

  TimePs mean() const {
    return TimePs((iterations.back().end - iterations.front().begin).count() /
                  static_cast<int64_t>(iterations.size()));
  }
  // mean() / alone; 1 if the job takes no time. Requires `alone`.
  double slowdown() const;
};

// A link that carried messages of two jobs or more.
struct SharedLink {
  LinkId link;
  std::vector<double> bytes;  // By job, without headers.

  double all() const;
};

// Returns the links that jobs shared, the one with most bytes over its rate
// first. `bytes` has, by job, those of each link.
std::vector<SharedLink> SharedLinks(
    const Topology& topology, absl::Span<const std::vector<double>> bytes);

// shared_links.csv: a line for each job on each of `links`.
std::string SharedLinksCsv(const Topology& topology,
                           absl::Span<const SharedLink> links,
                           absl::Span<const JobRow> jobs);

std::string JobsCsv(absl::Span<const JobRow> jobs);
std::string IterationsCsv(absl::Span<const JobRow> jobs);

void AppendJobsColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_JOBS_TABLE_H_
