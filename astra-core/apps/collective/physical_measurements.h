// Reads the collectives of a folder that simai_physical wrote, to fit the
// constants of a system to them.
//
// run.json tells how many ranks took part and how many of them share a server;
// collectives.csv has the collectives. Other columns and keys are not read.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_PHYSICAL_MEASUREMENTS_H_
#define ASTRA_CORE_APPS_COLLECTIVE_PHYSICAL_MEASUREMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/files.h"
#include "astra-core/base/units.h"

namespace astra {

struct PhysicalCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string algorithm;   // As collectives.csv names it, such as "ring".
  std::string protocol;    // "LL", "LL128" or "Simple" of NCCL; else "-".
  uint32_t num_ranks = 0;  // Ranks of the group.
  Bytes bytes;
  double time_us = 0;  // From the last rank's joining to its last result.
};

struct PhysicalMeasurements {
  uint32_t num_ranks = 0;         // Ranks of the run.
  uint32_t ranks_per_server = 0;  // At most num_ranks.
  std::vector<PhysicalCollective> collectives;
};

// Reads run.json and collectives.csv of a run.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a file that cannot be
// read, a run of another program, and a group of more ranks than the run has.
absl::StatusOr<PhysicalMeasurements> ParsePhysicalMeasurements(
    const NamedFile& run_json, const NamedFile& collectives_csv);

// Reads the folder `folder`. Errors: also those of ReadFile.
absl::StatusOr<PhysicalMeasurements> ReadPhysicalMeasurements(
    const std::string& folder);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_PHYSICAL_MEASUREMENTS_H_
