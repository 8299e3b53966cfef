// Checks what a pool is given: its options before a run begins, and each
// request when it arrives.

#ifndef WORKLOAD_SERVING_POOL_CHECKS_H_
#define WORKLOAD_SERVING_POOL_CHECKS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "workload/serving/pool.h"
#include "workload/serving/request.h"

namespace astra {

// Checks the options of the pool that is called `name`. Errors:
// InvalidArgument, with the field, for an option out of range.
absl::Status CheckPool(const PoolOptions& pool, std::string_view name);

// Checks that a replica of `pool` can hold the request with `output_tokens`,
// and that its hashes fit the blocks there. Errors: InvalidArgument, with the
// request.
absl::Status CheckFits(const Request& request, int64_t output_tokens,
                       const PoolOptions& pool);

}  // namespace astra

#endif  // WORKLOAD_SERVING_POOL_CHECKS_H_
