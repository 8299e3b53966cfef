#include "workload/serving/simulation.h"

#include <memory>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "workload/serving/pool_checks.h"
#include "workload/serving/serving_simulation.h"

namespace astra {

absl::StatusOr<std::unique_ptr<ServingProcess>> StartServing(
    const ServingOptions& options, RequestSource* source,
    ServingObserver* observer) {
  ASTRA_RETURN_IF_ERROR(CheckServingOptions(options));
  auto simulation =
      std::make_unique<ServingSimulation>(options, source, observer);
  ASTRA_RETURN_IF_ERROR(simulation->Start());
  return simulation;
}

absl::Status Serve(const ServingOptions& options, RequestSource* source,
                   ServingObserver* observer) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<ServingProcess> process,
                         StartServing(options, source, observer));
  return ServeToTheEnd(*process);
}

absl::Status ServeToTheEnd(ServingProcess& process) {
  while (process.next()) ASTRA_RETURN_IF_ERROR(process.HandleNext());
  ASTRA_CHECK(process.is_done(), "requests never end");
  return absl::OkStatus();
}

}  // namespace astra
