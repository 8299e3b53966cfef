// Requests for schedules.

#ifndef TESTS_COLLECTIVES_SCHEDULES_SCHEDULE_REQUESTS_H_
#define TESTS_COLLECTIVES_SCHEDULES_SCHEDULE_REQUESTS_H_

#include <cstdint>
#include <memory>

#include "collectives/collective_request.h"
#include "collectives/group_layout.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

// Of ranks on one server.
inline CollectiveRequest RequestOf(CollectiveKind kind, uint32_t num_ranks,
                                   int64_t bytes) {
  return ValueOrDie(CollectiveRequest::Create(
      kind, Bytes(bytes),
      std::make_shared<const GroupLayout>(GroupLayout::Even(1, num_ranks))));
}

}  // namespace astra::testing

#endif  // TESTS_COLLECTIVES_SCHEDULES_SCHEDULE_REQUESTS_H_
