// Derives the system and options of a measured collective from its row.

#ifndef COLLECTIVES_CALIBRATION_MEASURED_SETUP_H_
#define COLLECTIVES_CALIBRATION_MEASURED_SETUP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"

namespace astra {

struct MeasuredSetup {
  SystemSpec system;
  uint32_t num_gpus = 2;
  uint32_t gpus_per_server = 1;  // GPUs that reach one another by NVLink.
  NcclOptions options;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
};

// Combines the bundled interconnect of the row's GPU and the bundled transport
// of its NICs with the numbers of the row. Facts that the row does not state
// are those of the system that it names, or else of the nearest bundled system.
//
// A job that does not fit into one rack has equal parts on each:
// GpusOfDomain().
//
// Errors: InvalidArgument with the reason why the row cannot be predicted.
absl::StatusOr<MeasuredSetup> SetupOf(const MeasuredRow& row);

// Checks that the NICs of a group's servers could carry half of its bytes, or
// more, in the time of `row`: each server receives at least the parts of the
// others. A call that failed looks like a collective that took almost no time.
// Dispatches and combines of experts are not checked.
//
// Errors: InvalidArgument with the rate of the NICs.
absl::Status CheckTime(const MeasuredRow& row, const MeasuredSetup& setup);

// Returns whether the constants of `system` decide the time of a row of
// `setup`: both have the same interconnect and, over several servers, the same
// transport.
bool IsOnLinksOf(const SystemSpec& system, const MeasuredSetup& setup);

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_MEASURED_SETUP_H_
