// Registry of the collective algorithms, by the name that results use.
//
// To add one, write collectives/algorithms/NAME.{h,cc}, add its lines to the
// table in registry.cc, and write tests/collectives/algorithms/NAME_test.cc for
// its own properties. tests/collectives/contract_test.cc reads the table and
// tests the contract that holds for all algorithms.

#ifndef COLLECTIVES_REGISTRY_H_
#define COLLECTIVES_REGISTRY_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

struct CollectiveAlgorithm {
  CollectiveKind kind;
  std::string_view name;

  // Returns the messages. Errors: FailedPrecondition if the layout does not
  // allow the algorithm, such as "nvls needs an NVSwitch in each server";
  // ResourceExhausted if there are too many messages.
  absl::StatusOr<std::unique_ptr<const FlowGraph>> (*lower)(
      const CollectiveRequest& request);

  // Returns the same messages as steps. Errors: those of `lower`.
  absl::StatusOr<StepSchedule> (*steps)(const CollectiveRequest& request);

  // True if the layout must have reducers; see reduction_tree.h.
  bool needs_reducers = false;

  // True if ranks send what they had at the beginning although sums arrive
  // meanwhile, so that these go into another buffer.
  bool is_out_of_place = false;
};

// Returns all algorithms in a fixed order, sorted by kind.
absl::Span<const CollectiveAlgorithm> CollectiveAlgorithms();

// Returns the algorithm `name` for collectives of `kind`.
//
// Errors: NotFound, with the names of all algorithms of `kind`, if there is
// none.
absl::StatusOr<CollectiveAlgorithm> FindCollectiveAlgorithm(
    CollectiveKind kind, std::string_view name);

// Returns the algorithm that is used if none is asked for.
const CollectiveAlgorithm& DefaultCollectiveAlgorithm(CollectiveKind kind);

}  // namespace astra

#endif  // COLLECTIVES_REGISTRY_H_
