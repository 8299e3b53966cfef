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
//   token comes out of it, so the time to first token has no transfer in it.
//   The KV cache of the prompt then moves for `transfer_time`, while its blocks
//   stay taken at the sender; the receiver takes blocks when the sequence
//   starts there. Requests of one output token end in the first pool.
//
// Time is in whole picoseconds. Events of one instant are handled in a fixed
// order, so that results are the same on all machines. Memory grows with the
// requests that have not ended, not with all.
//
// Pipeline stages, speculative decoding, cancelled requests and caches beyond
// the GPU are left out.

#ifndef WORKLOAD_SERVING_SIMULATION_H_
#define WORKLOAD_SERVING_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/units.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/request.h"
#include "workload/serving/request_source.h"
#include "workload/serving/router.h"
#include "workload/serving/schedulers/registry.h"
#include "workload/serving/step.h"

namespace astra {

inline constexpr int64_t kMaxReplicas = 65'536;  // Of a pool, with their ranks.

struct PoolOptions {
  int64_t replicas = 1;
  int64_t ranks = 1;  // Ranks of data-parallel attention in each replica.
  const SchedulerKind* scheduler = nullptr;
  BatchingOptions options;             // Of each rank.
  const RouterKind* router = nullptr;  // None: the first of Routers().
  StepCost* cost = nullptr;
};

struct ServingOptions {
  PoolOptions pool;
  std::optional<PoolOptions> decode;  // Pool for what follows the prompt.

  // How long the KV cache of a prompt moves between the pools; none: no time.
  std::function<TimePs(Bytes)> transfer_time;
  Bytes kv_bytes_per_token;

  // Requests in flight in a closed loop: one that ends asks for the next. 0:
  // requests arrive at their own times.
  int64_t in_flight = 0;
  // From the arrival of a request to its place in the queue of a replica. In a
  // closed loop it decides whether requests that end in successive steps are
  // served together.
  TimePs entry_delay;
  uint64_t seed = 0;  // Of the routers.
};

// A step of a replica; with several ranks there is one record for each rank
// that took part.
struct StepRecord {
  TimePs start;
  TimePs duration;
  uint32_t replica = 0;
  bool is_decode_pool = false;
  int64_t sequences = 0;      // In the batch.
  int64_t prompt_tokens = 0;  // Positions of prompts computed.
  int64_t decodes = 0;
  int64_t decode_context = 0;
  int64_t samples = 0;  // Output tokens that come out.
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t used_blocks = 0;
  int64_t cached_blocks = 0;  // Of prefixes that no sequence holds.
  int64_t num_blocks = 0;
  int64_t preemptions = 0;  // While this step was formed.
};

// Gets the results as they come, ordered by time.
class ServingObserver {
 public:
  virtual ~ServingObserver() = default;
  virtual void OnRequest(const RequestResult& result) = 0;
  virtual void OnStep(const StepRecord& step) = 0;
  // `tokens` output tokens came `gap` after the token before of their requests.
  virtual void OnTokens(TimePs gap, int64_t tokens) = 0;
};

// Serves all requests of `source`.
//
// Errors: InvalidArgument for options out of range, and for a request that no
// replica can hold; OutOfRange where the time passes kMaxServingTime.
absl::Status Serve(const ServingOptions& options, RequestSource* source,
                   ServingObserver* observer);

}  // namespace astra

#endif  // WORKLOAD_SERVING_SIMULATION_H_
