// Reads the options of simai_vidur, which have Vidur's defaults.

#ifndef ASTRA_CORE_APPS_VIDUR_SIMAI_VIDUR_OPTIONS_H_
#define ASTRA_CORE_APPS_VIDUR_SIMAI_VIDUR_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/router.h"
#include "workload/serving/schedulers/registry.h"
#include "workload/vidur/vidur_cost.h"
#include "workload/vidur/vidur_model.h"
#include "workload/vidur/vidur_profile.h"
#include "workload/vidur/vidur_requests.h"

namespace astra {

struct SimaiVidurOptions {
  VidurReplica replica;
  std::string network_device;
  int64_t replicas = 1;
  const RouterKind* router = nullptr;
  uint64_t seed = 42;  // Of the router.

  const SchedulerKind* scheduler = nullptr;
  BatchingOptions batching;

  VidurLoad load;  // Without the rows of the trace.
  bool replays = false;
  std::string trace_file;  // Empty if there is none.

  VidurPredictorOptions predictor;
  bool has_host_time = false;
  std::array<std::string, kVidurTableNames.size()> tables;  // Paths.

  std::string output;
  Warnings warnings;
};

// Reads the command line. Errors: InvalidArgument for a wrong option, one
// without effect, and sizes beyond those of the predictor; those of
// VidurBlocks.
absl::StatusOr<SimaiVidurOptions> ReadSimaiVidurOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_VIDUR_SIMAI_VIDUR_OPTIONS_H_
