// Predicts the times of a collective over buffer sizes with simai_collective.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_SWEEP_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_SWEEP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/nccl_tests_sizes.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/base/log.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

struct CollectiveSweepRow {
  NcclTestsBuffer buffer;
  CollectiveEstimate estimate;
  std::string tuning;  // Text of --tuning; empty without --tuning.
};

struct CollectiveSweep {
  CollectiveEstimator cluster;
  NcclOptions nccl;
  std::vector<CollectiveSweepRow> rows;  // At least one row.
  Warnings warnings;
};

// Predicts each size. A size that leaves a rank without a part of the buffer is
// left out, with a warning. With --flows, also writes the file of flows.
//
// Errors: those of the readers and of the estimators; InvalidArgument for a
// root that is no rank, for sizes that are all too small, and for --tuning of a
// collective that NCCL makes of sends and receives.
absl::StatusOr<CollectiveSweep> RunCollectiveSweep(
    const SimaiCollectiveOptions& options);

// Returns whether NVSwitches can do the operation of --redop on elements of the
// type, so that NVLS is a candidate.
//
// Source: NCCL 2.30, src/include/device.h (ncclNvlsSupported).
bool NvSwitchesDo(std::string_view redop, std::string_view type);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_SWEEP_H_
