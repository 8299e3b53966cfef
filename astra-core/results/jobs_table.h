// jobs.csv, iterations.csv and shared_links.csv: how long the iterations of
// several jobs on one network took, and which links they shared.

#ifndef ASTRA_CORE_RESULTS_JOBS_TABLE_H_
#define ASTRA_CORE_RESULTS_JOBS_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/results/latencies_table.h"
#include "astra-core/results/table.h"
#include "topology/topology.h"

namespace astra {

struct JobRow {
  std::string name;
  std::string workload;  // File, or the model of a job that serves.
  uint32_t num_gpus = 0;
  std::string servers;  // Such as "0-3 8".
  struct Iteration {
    TimePs begin;
    TimePs end;
    // The time of the iteration while no job uses storage; none if none does.
    std::optional<TimePs> without_storage = std::nullopt;
  };
  TimePs start;  // When the job began, or began to wait for storage.
  std::vector<Iteration> iterations;  // At least one, unless the job serves.
  std::optional<ServedRow> served;    // Of a job that serves.
  // Mean of an iteration without the other jobs; none: not known.
  std::optional<TimePs> alone;
  // Mean of an iteration while no job uses storage; none if none does.
  std::optional<TimePs> without_storage;

  // Returns when the last iteration, or the last request, ended.
  TimePs end() const { return served ? served->end : iterations.back().end; }
  // Returns the mean time of an iteration, with what it waited for storage.
  // Requires an iteration.
  TimePs mean() const {
    return TimePs((iterations.back().end - start).count() /
                  static_cast<int64_t>(iterations.size()));
  }
  // Returns how long iteration `number` waited for storage before it began.
  TimePs WaitedFor(size_t number) const {
    return iterations[number].begin -
           (number == 0 ? start : iterations[number - 1].end);
  }
  // Returns whether the job was run without the others, too.
  bool RanAlone() const {
    return served ? served->end_to_end.alone.has_value() : alone.has_value();
  }
  // Returns mean() / alone, or 1 if the job takes no time; for a job that
  // serves, the same of the latency of its requests. Requires RanAlone().
  double slowdown() const;
  // mean() / without_storage; 1 if that is 0. Requires `without_storage`.
  double storage_slowdown() const;
};

// A link that carried messages of two users or more: jobs, or what a job writes
// to and reads from storage.
struct SharedLink {
  LinkId link;
  std::vector<double> bytes;  // By user, without headers.

  double all() const;
};

// Returns the links that users shared, the one with most bytes over its rate
// first. `bytes` has, by user, those of each link.
std::vector<SharedLink> SharedLinks(
    const Topology& topology, absl::Span<const std::vector<double>> bytes);

// shared_links.csv: a line for each of `users` on each of `links`.
std::string SharedLinksCsv(const Topology& topology,
                           absl::Span<const SharedLink> links,
                           absl::Span<const std::string> users);

// Columns of storage are left out if no job uses it.
std::string JobsCsv(absl::Span<const JobRow> jobs);

// Returns the names of the jobs in a jobs.csv of an earlier run; none if it is
// no such file.
std::vector<std::string> JobsInCsv(std::string_view contents);

std::string IterationsCsv(absl::Span<const JobRow> jobs);

void AppendJobsColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_JOBS_TABLE_H_
