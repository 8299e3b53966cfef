// A deployment that serves requests as one of the jobs of --jobs, as the code
// that runs the jobs sees it. A program that knows how to serve gives
// RunProgram() a function that reads such jobs.

#ifndef ASTRA_CORE_APPS_SERVED_JOB_H_
#define ASTRA_CORE_APPS_SERVED_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/jobs/job.h"
#include "astra-core/jobs/jobs_file.h"
#include "astra-core/results/latencies_table.h"
#include "topology/cluster_part.h"
#include "topology/topology.h"

namespace astra {

class ServedJob {
 public:
  virtual ~ServedJob() = default;

  // Returns the name of the model, for tables.
  virtual std::string model() const = 0;

  // Returns how many GPUs the job takes on servers of `gpus_per_server`.
  virtual uint32_t NumGpus(uint32_t gpus_per_server) const = 0;

  // Lays the deployment on a part of the cluster, before all of the following.
  // `new_idle` makes idle networks with the nodes of the part, on which
  // messages are timed alone. Errors: as those of ReadServedJob.
  virtual absl::Status Place(const ClusterPart& part, NetworkFactory new_idle,
                             Warnings* warnings) = 0;

  // Returns what RunJobs() runs, once or several times one after the other. The
  // object must outlive the runs.
  virtual ServingWork work() = 0;

  // The next run writes its files to `folder`, which must outlive that run;
  // later runs write none.
  virtual void RecordNextRun(const OutputFolder& folder) = 0;

  // The following are of the run that has ended last.

  // Returns the latencies, without those of the job alone.
  virtual ServedRow Served() const = 0;

  // Returns the files of a run that was recorded, and tells what they leave
  // out. May be called once for each.
  virtual std::vector<NamedFile> TakeFiles(Warnings* warnings) = 0;
};

// Reads a job that serves: the keys of `spec` mean what the options of
// simai_serving mean. `options` are those of the program that runs the jobs,
// and `topology` is theirs. Both must outlive the result.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: job NAME: ..." for keys that are
// unknown, wrong or without effect, and for what they name.
using ReadServedJob = absl::StatusOr<std::unique_ptr<ServedJob>> (*)(
    const JobSpec& spec, const RunOptions& options, const Topology& topology,
    Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVED_JOB_H_
