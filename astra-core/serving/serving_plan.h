// Ranks the ways to serve a load of requests on so many GPUs, by the closed
// form of steady_state.h.
//
//   ServingPlans plans = PlanServing(space);
//
// Candidates are deployments that use all GPUs: replicas of one shape, which
// compute prompts and decode, or with separate pools P replicas of one shape
// for prompts and D of another for decoding. For each the load is raised until
// a limit is reached, in steps of sqrt(2) of the sequences that decode together
// and then one by one (by bisection). The time of a step jumps where its
// sequences fill one more tile, so that bisection may miss about 1 % of the
// largest load, which `exhaustive` finds. A deployment is worth its goodput:
// output tokens a second for each GPU at the largest load whose mean times keep
// the limits. The rate of two pools is that of the slower one. Ranks of
// data-parallel attention count as equally busy in every step; where prompts
// come one by one, a step lasts as long as that of the rank with a prompt,
// which replays show.
//
// Every candidate is counted: those that are ranked, and the others by the rule
// that leaves them out.

#ifndef ASTRA_CORE_SERVING_SERVING_PLAN_H_
#define ASTRA_CORE_SERVING_SERVING_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/serving/capacity_search.h"
#include "astra-core/serving/steady_state.h"
#include "astra-core/serving/step_prices.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/step.h"

namespace astra {

// A replica: how it is spread, what its cache holds, and what its steps take.
struct ServingShape {
  ServingLayout layout;
  BatchingOptions options;
  StepCost* cost = nullptr;
};

struct ServingSpace {
  std::vector<ServingShape> shapes;
  SteadyRequests requests;
  std::string scheduler;
  double request_seconds = 0;
  int64_t gpus = 1;
  // Which deployments are candidates: replicas that do all, separate pools.
  bool has_shared = true;
  bool has_pools = false;
  // Seconds in which one GPU at each end moves the KV cache of a prompt; more
  // GPUs share it.
  double transfer_seconds = 0;
  // Limits of the mean times, in seconds.
  double most_ttft = std::numeric_limits<double>::infinity();
  double most_tpot = std::numeric_limits<double>::infinity();
  bool exhaustive = false;  // Tries each number of sequences instead.
};

// A deployment under a load.
struct ServingPlan {
  size_t shape = 0;  // Index in the space; that of decoding, with two pools.
  int64_t replicas = 1;
  std::optional<size_t> prefill_shape;
  int64_t prefill_replicas = 0;
  SteadyLoad load;            // Of all replicas together.
  double output_per_gpu = 0;  // Tokens per second.

  double per_user() const { return 1 / load.tpot; }  // Tokens per second.
};

// The rule for deployments that keep the limits, but serve less than a request
// in 1 / kLeastCapacity seconds.
inline constexpr std::string_view kServeNothing =
    "serve less than a request in 100 s within the limits";
static_assert(kLeastCapacity == 0.01);

struct ServingPlans {
  std::vector<ServingPlan> best;  // One for each deployment, the best first.
  // Loads of any deployment that no other beats in both tokens per second and
  // GPU and tokens per second and user, within the limit of the first token;
  // sorted by the latter.
  std::vector<ServingPlan> front;
  int64_t deployments = 0;  // Candidates.
  int64_t loads = 0;        // Deployments under a load that were evaluated.
  std::map<std::string, int64_t> left_out;  // Deployments by rule.
  // The shortest mean times that any deployment reaches, in seconds; 0: none.
  double least_ttft = 0;
  double least_tpot = 0;
};

// Requires a known scheduler, shapes, and two output tokens.
ServingPlans PlanServing(const ServingSpace& space);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_SERVING_PLAN_H_
