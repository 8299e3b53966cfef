// Makes the profile that InternEvo's way of planning prices with: the user's
// tables, and the models' times for what these leave out. Writes it in the form
// in which it can be read, edited and given back with --profile.
//
//   products.csv, collectives.csv   the tables; see evo_profile.h
//   fits.csv                        a linear model of each, with its errors
//   pics/cal/linear.svg             speed of products, measured and fitted
//   pics/comm/KEY.svg               bandwidth of a collective, in the same way

#ifndef ASTRA_CORE_APPS_PLAN_INTERNEVO_PROFILE_H_
#define ASTRA_CORE_APPS_PLAN_INTERNEVO_PROFILE_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/plan/internevo_request.h"
#include "astra-core/base/log.h"
#include "astra-core/planner/internevo/evo_profile.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "workload/operators/compute_model.h"

namespace astra {

struct PreparedProfile {
  EvoProfile profile;
  std::string products_csv;
  bool has_measured_products = false;
  std::set<EvoKey> measured;  // Tables of the user.
};

// The cluster, for times of collectives.
struct EvoNetwork {
  const SystemSpec& system;
  Routes& routes;
};

// Returns a profile with all of `keys`. Warns of those that the user's tables
// leave out.
//
// Errors: NotFound for a folder with neither of the files; those of ReadFile,
// of the readers and of ModelCollective.
absl::StatusOr<PreparedProfile> PrepareProfile(const EvoRequest& request,
                                               absl::Span<const EvoKey> keys,
                                               const ComputeModel& operators,
                                               const EvoNetwork& network,
                                               Warnings* warnings);

// Writes the files into `folder`, and removes pictures of an earlier run.
//
// Errors: those of OutputFolder.
absl::Status WriteProfile(const PreparedProfile& prepared,
                          const std::string& folder);

// Returns a line for the linear model of a table: "start + size / rate, errors
// 2.1 % mean, 8.4 % worst". `unit` is "GB/s" or "TFLOP/s" of the rate.
std::string DescribeLine(const EvoLine& line, std::string_view unit);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_INTERNEVO_PROFILE_H_
