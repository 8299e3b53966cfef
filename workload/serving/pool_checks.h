// Checks what a simulation of serving is given: its options before it begins,
// and each request when it arrives.

#ifndef WORKLOAD_SERVING_POOL_CHECKS_H_
#define WORKLOAD_SERVING_POOL_CHECKS_H_

#include "absl/status/status.h"
#include "workload/serving/request.h"
#include "workload/serving/serving_options.h"

namespace astra {

// Errors: InvalidArgument, with the field, for an option out of range.
absl::Status CheckServingOptions(const ServingOptions& options);

// Checks that the replicas can hold a request, and that its hashes fit the
// blocks there. Errors: InvalidArgument, with the request.
absl::Status CheckRequest(const Request& request,
                          const ServingOptions& options);

}  // namespace astra

#endif  // WORKLOAD_SERVING_POOL_CHECKS_H_
