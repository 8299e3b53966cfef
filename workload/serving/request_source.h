// Where requests come from, one after the other, so that a run of a million
// requests need not hold them all.

#ifndef WORKLOAD_SERVING_REQUEST_SOURCE_H_
#define WORKLOAD_SERVING_REQUEST_SOURCE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/serving/request.h"

namespace astra {

class RequestSource {
 public:
  virtual ~RequestSource() = default;

  // Returns the next request, or none at the end; arrivals never fall. In a
  // closed loop a request arrives when it is asked for, at `now`, and the
  // arrival it has is ignored; `now` never falls.
  virtual std::optional<Request> Next(TimePs now) = 0;

  // Returns the request that follows from one that has ended at `now`, such as
  // the next turn of its session; most have none. It arrives at its own time,
  // which is `now` or later, in a closed loop too.
  virtual std::optional<Request> After(const Request& /*ended*/,
                                       TimePs /*now*/) {
    return std::nullopt;
  }
};

// The requests of a list, such as of a trace. They must be sorted by arrival.
class ListedRequests : public RequestSource {
 public:
  explicit ListedRequests(std::vector<Request> requests)
      : requests_(std::move(requests)) {}

  std::optional<Request> Next(TimePs) override {
    if (next_ == requests_.size()) return std::nullopt;
    return std::move(requests_[next_++]);
  }

 private:
  std::vector<Request> requests_;
  size_t next_ = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_REQUEST_SOURCE_H_
