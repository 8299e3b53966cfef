// Every collective algorithm there is, by the name that results use.
//
// To add one: write collectives/algorithms/NAME.{h,cc}, add its lines to the
// table in registry.cc, and write tests/collectives/algorithms/NAME_test.cc for
// what is particular to it. The contract that holds for all of them is tested
// by tests/collectives/contract_test.cc, which reads the table.

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

  // The messages. Errors: FailedPrecondition if the layout does not allow the
  // algorithm, such as "nvls needs an NVSwitch in each server";
  // ResourceExhausted if there are too many messages.
  absl::StatusOr<std::unique_ptr<const FlowGraph>> (*lower)(
      const CollectiveRequest& request);

  // The same as steps. Errors: as above.
  absl::StatusOr<StepSchedule> (*steps)(const CollectiveRequest& request);

  // Whether the layout must have reducers; see reduction_tree.h.
  bool needs_reducers = false;
};

// In a fixed order, sorted by kind.
absl::Span<const CollectiveAlgorithm> CollectiveAlgorithms();

// Errors: NotFound, with the names there are, if `kind` has no algorithm
// `name`.
absl::StatusOr<CollectiveAlgorithm> FindCollectiveAlgorithm(
    CollectiveKind kind, std::string_view name);

// The algorithm that is used where none is asked for.
const CollectiveAlgorithm& DefaultCollectiveAlgorithm(CollectiveKind kind);

}  // namespace astra

#endif  // COLLECTIVES_REGISTRY_H_
