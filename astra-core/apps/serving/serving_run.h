// Serves requests with a deployment, and gathers what became of them.
//
// A request is in the queue of its replica `request_us` of the engine after its
// arrival: it is parsed and tokenized, and sent to the process that schedules.
// All times of a request behind its arrival contain this.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_job.h"
#include "workload/serving/metrics.h"
#include "workload/serving/request_source.h"
#include "workload/serving/serving_options.h"
#include "workload/serving/simulation.h"
#include "workload/serving/stage_network.h"

namespace astra {

// Resources that steps spend their time on. The host counts only where the GPU
// waits for it.
enum class StepBound : uint8_t { kCompute, kMemory, kCollectives, kHost };
inline constexpr std::array<std::string_view, 4> kStepBounds = {
    "compute", "memory", "collectives", "host"};

struct ServingLoad {
  RequestSource* source = nullptr;
  int64_t in_flight = 0;  // Of a closed loop; 0: they arrive at their times.
  uint64_t seed = 0;      // Of routers.
  LatencyLimits limits = {};                    // For the goodput.
  std::vector<ServingObserver*> watchers = {};  // Get all results too.
  bool wants_distributions = false;             // Or only their usual figures.
};

using BoundSeconds = std::array<double, std::size(kStepBounds)>;

// Sums up the steps of one pool. Shares are weighted by the times of steps.
struct PoolUse {
  int64_t steps = 0;
  int64_t preemptions = 0;
  double step_seconds = 0;  // Of all replicas.
  double kv_use_mean = 0;
  double kv_use_peak = 0;
  double batch_mean = 0;  // Sequences in a step.
  BoundSeconds seconds{};
};

struct ServingRun {
  ServingSummary summary;
  LatencyLimits limits;  // That the summary counts requests within.
  ServingDistributions distributions;  // Empty unless the load wants them.
  BoundSeconds seconds{};              // Of all replicas of all pools.
  BoundSeconds prompt_seconds{};       // Of these in steps with prompts.
  std::array<PoolUse, 2> pools;        // The second one only decodes.

  double busy_seconds() const;
};

// The replicas that decode, where others compute the prompts.
struct DecodeSide {
  const ServingJob& job;
  ReplicaTimes& times;
  StartKvTransfer transfer = nullptr;
  int64_t transfer_layers = 1;  // Above 1: layerwise.
  bool first_token_from_decode = true;
};

// A network on which a deployment serves.
class ServingNetwork {
 public:
  virtual ~ServingNetwork() = default;

  // Returns what carries the steps of a pool, 0 or 1, during the run;
  // null where they have their closed form.
  virtual StageNetwork* StepsOf(size_t pool, ReplicaTimes& times) = 0;

  // Serves to the end under the clock of the network, or until another job on
  // it has to go on first, and returns whether this is the end. Later calls
  // have the same process.
  virtual absl::StatusOr<bool> GoOn(ServingProcess& process) = 0;

  // Returns the seconds by which messages delayed the steps of a pool.
  virtual double LostSeconds(size_t pool) const = 0;
};

// What a deployment has beside the replicas of its job. Null: it has not.
struct ServingParts {
  const DecodeSide* decode = nullptr;  // Then the job computes prompts only.
  ServingNetwork* network = nullptr;
  StartWeights load_weights = nullptr;
};

// Returns the pool of the replicas of a job, whose steps take `cost`.
PoolOptions PoolOf(const ServingJob& job, StepCost* cost);

// A run that goes on part by part, between which other jobs on its network do:
//
//   ASTRA_ASSIGN_OR_RETURN(auto serving, OngoingServing::Start(...));
//   ASTRA_ASSIGN_OR_RETURN(bool has_ended, serving->GoOn());
//   ...  // Until it has ended, the others and the network go on.
//   const ServingRun run = serving->TakeRun();
//
// The object does not move, since its parts refer to one another.
class OngoingServing {
 public:
  // What the arguments refer to must outlive the object. Errors: those of
  // StartServing().
  static absl::StatusOr<std::unique_ptr<OngoingServing>> Start(
      const ServingJob& job, ReplicaTimes& times, const ServingLoad& load,
      const ServingParts& parts);
  ~OngoingServing();

  OngoingServing(const OngoingServing&) = delete;
  OngoingServing& operator=(const OngoingServing&) = delete;

  // Goes on to the end, or until others have to go on first. Returns whether
  // this is the end. Errors: those of Serve() and of ServingNetwork::GoOn().
  absl::StatusOr<bool> GoOn();

  // Requires that it has ended. May be called once.
  ServingRun TakeRun();

 private:
  struct State;

  explicit OngoingServing(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Serves `load`. Errors: those of OngoingServing.
absl::StatusOr<ServingRun> RunServing(const ServingJob& job,
                                      ReplicaTimes& times,
                                      const ServingLoad& load,
                                      const ServingParts& parts = {});

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_RUN_H_
