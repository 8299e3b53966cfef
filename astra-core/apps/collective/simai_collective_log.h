// Reads a log of nccl-tests together with the cluster that it was taken on.
//
// The log tells the collective, the ranks and servers, NCCL's version and
// whether it ran from a CUDA graph; the command line tells the rest.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_LOG_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_LOG_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

// A log, and the NCCL and cluster that it was taken on.
struct LoggedRun {
  NcclOptions nccl;
  CollectiveEstimator cluster;
  MeasuredTable table;
};

// Reads the log that `options.measurements` names.
//
// Errors: those of ReadNcclTestsLog, BuildEstimator, CheckGiven and
// CheckEngine; InvalidArgument for a fact that neither or both of log and
// command line tell.
absl::StatusOr<LoggedRun> ReadLoggedRun(const SimaiCollectiveOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_LOG_H_
