// A simulation of serving as its owner sees it: events one after the other, and
// results as they come. See simulation.h for the model.

#ifndef WORKLOAD_SERVING_SERVING_PROCESS_H_
#define WORKLOAD_SERVING_SERVING_PROCESS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/units.h"
#include "workload/serving/pool.h"
#include "workload/serving/request.h"

namespace astra {

// Gets the results as they come, ordered by time.
class ServingObserver {
 public:
  virtual ~ServingObserver() = default;
  virtual void OnRequest(const RequestResult& result) = 0;
  // Steps come when they begin, and where a StageNetwork decides how long they
  // take, when they end.
  virtual void OnStep(const StepRecord& step) = 0;
  // `tokens` output tokens came `gap` after the token before of their requests.
  // Of several tokens of one step, all but the first come at once, after 0.
  virtual void OnTokens(TimePs gap, int64_t tokens) = 0;
};

// Serving under a clock that another owns, such as that of a network.
class ServingProcess {
 public:
  virtual ~ServingProcess() = default;

  // Returns the instant of the next event; none if nothing is left but
  // transfers.
  virtual std::optional<TimePs> next() const = 0;

  // Handles all events of the instant next(). Errors: those of Serve().
  virtual absl::Status HandleNext() = 0;

  // Ends a transfer at `end`. Requires that this is no earlier than the last
  // event that was handled.
  virtual void EndTransfer(TimePs end, uint32_t id) = 0;

  // Ends the messages of a step at `now`, which becomes next(); see
  // stage_network.h. Requires that no event is due before.
  virtual void EndPass(TimePs now, uint32_t id) = 0;

  // The same for the weights of a replica.
  virtual void EndWeights(TimePs now, uint32_t replica) = 0;

  // Returns whether all requests have ended and all weights are loaded.
  virtual bool is_done() const = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_SERVING_PROCESS_H_
