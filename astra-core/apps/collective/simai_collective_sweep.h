// What simai_collective does without a log: times over sizes.

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
  std::string tuning;  // The text of --tuning; empty without.
};

struct CollectiveSweep {
  CollectiveEstimator cluster;
  NcclOptions nccl;
  std::vector<CollectiveSweepRow> rows;  // At least one.
  Warnings warnings;
};

// Sizes that leave a rank without a part of the buffer are left out, with a
// warning. With --flows, writes that file.
//
// Errors: those of the readers and of the estimators; InvalidArgument for a
// root that is no rank, sizes that are all too small, and --tuning of what NCCL
// makes of sends and receives.
absl::StatusOr<CollectiveSweep> RunCollectiveSweep(
    const SimaiCollectiveOptions& options);

// Whether NVSwitches can do the operation of --redop on elements of the type,
// so that NVLS is a candidate.
//
// Source: NCCL 2.30, src/include/device.h (ncclNvlsSupported).
bool NvSwitchesDo(std::string_view redop, std::string_view type);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_SWEEP_H_
