// Which replica of a pool a request goes to.
//
// A router is one function in router.cc and a line of the table there.

#ifndef WORKLOAD_SERVING_ROUTER_H_
#define WORKLOAD_SERVING_ROUTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "workload/serving/replica.h"
#include "workload/serving/request.h"

namespace astra {

struct RoutingCase {
  const Request& request;
  absl::Span<const std::unique_ptr<Replica>> replicas;  // At least one.
  uint64_t turn = 0;  // Requests that this pool got before.
  uint64_t seed = 0;
};

struct RouterKind {
  std::string_view name;
  std::string_view meaning;
  size_t (*choose)(const RoutingCase& routing);  // Index of the replica.
};

// Returns all routers; the first is the default.
absl::Span<const RouterKind> Routers();

// Returns the router of that name.
//
// Errors: InvalidArgument for an unknown name, with the nearest one.
absl::StatusOr<const RouterKind*> FindRouter(std::string_view name);

}  // namespace astra

#endif  // WORKLOAD_SERVING_ROUTER_H_
