// What a pool of replicas is made of, and what is recorded of its steps.

#ifndef WORKLOAD_SERVING_POOL_H_
#define WORKLOAD_SERVING_POOL_H_

#include <cstdint>

#include "astra-core/base/units.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/router.h"
#include "workload/serving/schedulers/registry.h"
#include "workload/serving/stage_network.h"
#include "workload/serving/step.h"

namespace astra {

inline constexpr int64_t kMaxReplicas = 65'536;  // Of a pool, with their ranks.

struct PoolOptions {
  int64_t replicas = 1;
  int64_t ranks = 1;  // Ranks of data-parallel attention in each replica.
  int64_t steps_under_way = 1;  // At most, of each replica: pipeline stages.
  const SchedulerKind* scheduler = nullptr;
  BatchingOptions options = {};        // Of each rank.
  const RouterKind* router = nullptr;  // None: the first of Routers().
  StepCost* cost = nullptr;
  // Carries what steps send between servers; none: they take their closed form.
  StageNetwork* network = nullptr;
  // How long a block takes from the host's memory; one after the other on each
  // rank.
  TimePs host_block_time = TimePs(0);
};

// A step of a replica; with several ranks there is one record for each rank
// that took part.
struct StepRecord {
  TimePs start;     // When the step was formed.
  TimePs duration;  // From then on, through all pipeline stages.
  uint32_t replica = 0;
  bool is_decode_pool = false;
  int64_t sequences = 0;      // In the batch.
  int64_t prompt_tokens = 0;  // Positions of prompts computed.
  int64_t decodes = 0;        // Sequences that decode.
  int64_t draft_tokens = 0;   // Positions of drafts behind these.
  int64_t decode_context = 0;
  int64_t samples = 0;   // Output tokens that come out,
  int64_t accepted = 0;  // and how many of them were drafts.
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t used_blocks = 0;
  int64_t cached_blocks = 0;  // Of prefixes that no sequence holds.
  int64_t num_blocks = 0;
  int64_t preemptions = 0;  // While this step was formed.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_POOL_H_
