// The simulation behind ServingProcess; see simulation.h for its model.
//
// Its parts are in serving_simulation.cc (requests and steps),
// simulation_passes.cc (steps on a network, and weights) and
// simulation_transfers.cc (KV caches between pools).

#ifndef WORKLOAD_SERVING_SERVING_SIMULATION_H_
#define WORKLOAD_SERVING_SERVING_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/units.h"
#include "workload/serving/pool.h"
#include "workload/serving/replica.h"
#include "workload/serving/request.h"
#include "workload/serving/request_source.h"
#include "workload/serving/serving_options.h"
#include "workload/serving/serving_process.h"
#include "workload/serving/slots.h"
#include "workload/serving/stage_line.h"
#include "workload/serving/step.h"
#include "workload/serving/worker.h"

namespace astra {

class ServingSimulation final : public ServingProcess {
 public:
  ServingSimulation(const ServingOptions& options, RequestSource* source,
                    ServingObserver* observer)
      : options_(options), source_(source), observer_(observer) {
    AddPool(options.pool);
    if (options.decode.has_value()) AddPool(*options.decode);
  }

  absl::Status Start();

  std::optional<TimePs> next() const override {
    if (events_.empty()) return std::nullopt;
    return events_.next().time;
  }
  absl::Status HandleNext() override;
  void EndTransfer(TimePs end, uint32_t id) override {
    events_.Push({end, kTransferEnd, id});
  }
  void EndPass(TimePs now, uint32_t id) override {
    events_.Push({now, kPassEnd, id});
  }
  void EndWeights(TimePs now, uint32_t replica) override {
    events_.Push({now, kWeightsEnd, replica});
  }
  bool is_done() const override {
    return events_.empty() && num_loading_ == 0 &&
           unused_.size() == sequences_.size();
  }

 private:
  enum EventKind : uint32_t {
    kStepEnd,
    kPassEnd,
    kPassMessages,
    kTransferEnd,
    kFirstLayer,
    kLoadEnd,
    kWeightsEnd,
    kNextTurn,
    kEntry,
    kArrival
  };

  // Positions of a prompt that a step computes, up to `end`.
  struct PromptPart {
    Sequence* sequence = nullptr;
    int64_t end = 0;
  };

  // A load, and the worker whose rank it is of.
  struct WorkerLoad {
    Load load;
    uint32_t worker = 0;
  };

  struct Pool {
    PoolOptions options;
    std::vector<std::unique_ptr<Replica>> replicas;  // All ranks.
    uint32_t first_replica = 0;                      // Number of replicas[0].
    uint32_t first_worker = 0;
    uint64_t turn = 0;
  };

  void AddPool(const PoolOptions& options);
  void CheckEnd() const;
  void LoadWeights();
  void PullRequest();
  void Enter(Request request);
  void Arrive(Request request);
  size_t ChooseRank(const Request& request, size_t pool);
  void Touch(uint32_t worker);
  void Handle(const Event& event);
  void StartTouched();
  bool StartStep(uint32_t index);
  void Record(absl::Span<const StepRecord> records,
              const std::vector<Batch>& batches);
  void BeginPasses(uint32_t worker);
  void SendOfPass(uint32_t id);
  void EndPassOf(uint32_t id);
  void EndStep(uint32_t index);
  void EndLoad(uint32_t slot);
  void EndParts(const Batch& batch, Replica* replica);
  void CountGap(TimePs gap);
  void FlushGaps();
  void EndSequence(Sequence* sequence, Replica* replica);
  void AwaitSuccessor(Request request);
  bool is_layerwise() const {
    return options_.decode.has_value() && options_.transfer_layers > 1;
  }
  void AwaitFirstLayer(const Worker& worker);
  void SendFirstLayers(const std::vector<PromptPart>& parts);
  void SendLastLayer(Sequence* sequence);
  void Send(Sequence* sequence, int64_t tokens, double share);
  void EndTransfer(uint32_t id);
  void PushAfter(TimePs delay, EventKind kind, uint32_t index);
  Sequence* NewSequence();
  const Pool& PoolOf(uint32_t worker) const {
    return pools_[pools_.size() > 1 && worker >= pools_[1].first_worker ? 1
                                                                        : 0];
  }
  // Passes are numbered by stage, and those of a stage by worker.
  uint32_t WorkerOf(uint32_t pass) const {
    return pass % static_cast<uint32_t>(workers_.size());
  }
  uint32_t StageOf(uint32_t pass) const {
    return pass / static_cast<uint32_t>(workers_.size());
  }
  uint32_t WorkerOf(const Pool& pool, size_t rank) const {
    return pool.first_worker +
           static_cast<uint32_t>(rank /
                                 static_cast<size_t>(pool.options.ranks));
  }

  const ServingOptions& options_;
  RequestSource* source_;
  ServingObserver* observer_;
  std::vector<Pool> pools_;
  std::vector<Worker> workers_;
  std::vector<StageLine> lines_;  // By worker; used with a StageNetwork.
  std::vector<bool> is_loading_;  // By worker: its weights are on their way.
  int64_t num_loading_ = 0;
  EventQueue events_;
  TimePs now_;
  absl::Status error_;
  std::optional<Request> next_;     // Arrives at its time, in the open loop.
  std::deque<Request> entering_;    // On the way to a queue, in order.
  std::deque<Sequence> sequences_;  // All that ever lived at the same time.
  std::vector<Sequence*> unused_;
  Slots<Sequence*> transfers_;
  Slots<std::vector<PromptPart>> first_layers_;  // Of steps under way.
  Slots<Request> successors_;                    // They have not arrived yet.
  Slots<WorkerLoad> loads_;
  std::vector<uint32_t> touched_;  // Workers that may have something to do.
  std::vector<bool> is_touched_;   // By worker.
  std::vector<uint32_t> entered_;  // Kept for its memory.
  TimePs gap_;
  int64_t gap_tokens_ = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_SERVING_SIMULATION_H_
