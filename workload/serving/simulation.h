// Serves requests with pools of replicas, event by event.
//
//   ServingOptions options;
//   options.pool = {.replicas = 4, .scheduler = scheduler,
//                   .options = scheduler->defaults, .cost = &cost};
//   options.pool.options.num_blocks = 2588;
//   ServingMetrics metrics(...);                  // An observer; see
//   metrics.h. ASTRA_RETURN_IF_ERROR(Serve(options, &source, &metrics));
//
// Model. A request arrives, and the router gives it to a replica at once. A
// replica that has ended a step forms the next one in the same instant, after
// all events of this instant; StepCost says how long it takes. A sequence gets
// its token at the end of the step. Replicas do not slow one another, except:
//
// - The ranks of one replica with data-parallel attention have queues and
//   caches of their own, but begin and end each step together: it lasts as long
//   as that of the slowest rank (`ranks`).
// - With a pool for decoding, the first pool computes prompts only. The first
//   token comes out of it: users see it at once, or with
//   `first_token_from_decode` once the KV cache has arrived. The cache moves as
//   kv_transfer.h says, while its blocks stay taken at the sender; the receiver
//   takes blocks when the sequence starts there. Requests of one output token
//   end in the first pool.
//
// - A replica of several pipeline stages has as many steps under way at once
//   (`steps_under_way`), each on a stage: it forms the next one as soon as
//   there are fewer. A step enters a stage once it has left the one before and
//   the step ahead of it has left this one, so that the slowest stage sets the
//   pace. Which sequences may be in several steps is the scheduler's choice.
//   Sources: vLLM, vllm/v1/engine/core.py (step_with_batch_queue); SGLang,
//   python/sglang/srt/managers/scheduler_pp_mixin.py (event_loop_pp);
//   TensorRT-LLM, tensorrt_llm/_torch/pyexecutor/py_executor.py
//   (_executor_loop_pp).
//
// - Of pools with a StageNetwork, steps last as long as their messages.
// - A replica that loads its weights (`load_weights`) begins its first step
// when
//   they are there. Routers know nothing of it.
//
// A request that has ended may have a successor (RequestSource::After), which
// arrives some time later. In a closed loop the two count as one request in
// flight, also while nothing of them is here.
//
// Time is in whole picoseconds. Events of one instant are handled in a fixed
// order, so that results are the same on all machines. Memory grows with the
// requests that have not ended, not with all.
//
// Cancelled requests are left out.

#ifndef WORKLOAD_SERVING_SIMULATION_H_
#define WORKLOAD_SERVING_SIMULATION_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "workload/serving/request_source.h"
#include "workload/serving/serving_options.h"
#include "workload/serving/serving_process.h"

namespace astra {

// Serves all requests of `source`.
//
// Errors: InvalidArgument for options out of range, and for a request that no
// replica can hold; OutOfRange where the time passes kMaxServingTime.
absl::Status Serve(const ServingOptions& options, RequestSource* source,
                   ServingObserver* observer);

// Handles all events of `process`, which is under no other clock. Errors: those
// of Serve().
absl::Status ServeToTheEnd(ServingProcess& process);

// Returns the same under a clock that another owns, such as that of a network
// on which KV caches move. The arguments must outlive the result. Errors: those
// of Serve().
absl::StatusOr<std::unique_ptr<ServingProcess>> StartServing(
    const ServingOptions& options, RequestSource* source,
    ServingObserver* observer);

}  // namespace astra

#endif  // WORKLOAD_SERVING_SIMULATION_H_
