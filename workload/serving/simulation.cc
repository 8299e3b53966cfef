#include "workload/serving/simulation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/pool_checks.h"
#include "workload/serving/slots.h"
#include "workload/serving/worker.h"

namespace astra {
namespace {

enum EventKind : uint32_t {
  kStepEnd,
  kTransferEnd,
  kFirstLayer,
  kLoadEnd,
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

class Simulation final : public ServingProcess {
 public:
  Simulation(const ServingOptions& options, RequestSource* source,
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
  void EndTransfer(TimePs now, uint32_t id) override {
    events_.Push({now, kTransferEnd, id});
  }
  bool is_done() const override {
    return events_.empty() && unused_.size() == sequences_.size();
  }

 private:
  void AddPool(const PoolOptions& options);
  void CheckEnd() const;
  void PullRequest();
  void Enter(Request request);
  void Arrive(Request request);
  size_t ChooseRank(const Request& request, size_t pool);
  void Touch(uint32_t worker);
  void Handle(const Event& event);
  void StartTouched();
  bool StartStep(uint32_t index);
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
  TimePs gap_;
  int64_t gap_tokens_ = 0;
};

void Simulation::AddPool(const PoolOptions& options) {
  Pool pool;
  pool.options = options;
  if (pool.options.router == nullptr) pool.options.router = &Routers()[0];
  if (!pools_.empty()) {
    pool.first_replica = static_cast<uint32_t>(pools_[0].replicas.size());
    pool.first_worker = static_cast<uint32_t>(workers_.size());
  }
  for (int64_t i = 0; i < options.replicas; ++i) {
    const uint32_t first =
        pool.first_replica + static_cast<uint32_t>(pool.replicas.size());
    std::vector<Replica*> ranks;
    for (int64_t rank = 0; rank < options.ranks; ++rank) {
      pool.replicas.push_back(
          std::make_unique<Replica>(options.options, options_.seed));
      ranks.push_back(pool.replicas.back().get());
    }
    workers_.emplace_back(options, std::move(ranks), first,
                          /*is_decode_pool=*/!pools_.empty());
  }
  is_touched_.resize(workers_.size());
  pools_.push_back(std::move(pool));
}

// Takes the next request from the source. In a closed loop it arrives now.
void Simulation::PullRequest() {
  std::optional<Request> request = source_->Next(now_);
  if (!request.has_value()) return;
  error_ = CheckRequest(*request, options_);
  if (!error_.ok()) return;
  if (options_.in_flight > 0) {
    request->arrival = now_;
    Enter(std::move(*request));
    return;
  }
  ASTRA_CHECK(request->arrival >= now_, "request {} arrives before another",
              request->id);
  PushAfter(request->arrival - now_, kArrival, 0);
  next_ = std::move(request);
}

void Simulation::PushAfter(TimePs delay, EventKind kind, uint32_t index) {
  if (delay > kMaxServingTime - now_) {
    constexpr int64_t kPsPerDay = int64_t{86'400} * 1'000'000'000'000;
    error_ = absl::OutOfRangeError(fmt::format(
        "the simulation passes {} days", kMaxServingTime.count() / kPsPerDay));
    return;
  }
  events_.Push({now_ + delay, kind, index});
}

Sequence* Simulation::NewSequence() {
  if (unused_.empty()) return &sequences_.emplace_back();
  Sequence* const sequence = unused_.back();
  unused_.pop_back();
  KvHolding kv = std::move(sequence->kv);  // Its memory.
  *sequence = Sequence();
  sequence->kv = std::move(kv);
  return sequence;
}

// Arrive follows after entry_delay.
void Simulation::Enter(Request request) {
  if (options_.entry_delay == TimePs(0)) {
    Arrive(std::move(request));
    return;
  }
  entering_.push_back(std::move(request));
  PushAfter(options_.entry_delay, kEntry, 0);
}

void Simulation::Arrive(Request request) {
  Sequence* const sequence = NewSequence();
  sequence->times.arrival = request.arrival;
  sequence->target = options_.decode.has_value() ? 1 : request.output_tokens;
  sequence->request = std::move(request);
  const size_t rank = ChooseRank(sequence->request, 0);
  sequence->replica = sequence->prefill_replica = static_cast<uint32_t>(rank);
  pools_[0].replicas[rank]->Add(sequence);
  Touch(WorkerOf(pools_[0], rank));
}

size_t Simulation::ChooseRank(const Request& request, size_t index) {
  Pool& pool = pools_[index];
  return pool.options.router->choose({.request = request,
                                      .replicas = pool.replicas,
                                      .turn = pool.turn++,
                                      .seed = options_.seed});
}

void Simulation::Touch(uint32_t worker) {
  if (is_touched_[worker]) return;
  is_touched_[worker] = true;
  touched_.push_back(worker);
}

void Simulation::StartTouched() {
  std::sort(touched_.begin(), touched_.end());
  for (const uint32_t worker : touched_) {
    is_touched_[worker] = false;
    while (!workers_[worker].is_full() && StartStep(worker)) {
    }
  }
  touched_.clear();
}

// Returns false if there is nothing to do.
bool Simulation::StartStep(uint32_t index) {
  Worker& worker = workers_[index];
  const bool has_started = worker.Start(now_);
  for (const Load& load : worker.loads()) {
    PushAfter(load.end - now_, kLoadEnd, loads_.Add({load, index}));
  }
  if (!has_started) return false;
  for (const StepRecord& record : worker.records()) observer_->OnStep(record);
  const TimePs duration = worker.records().front().duration;
  for (const Batch& batch : worker.started()) {
    for (const BatchPart& part : batch) {
      part.sequence->times.executed += duration;
    }
  }
  PushAfter(duration, kStepEnd, index);
  if (is_layerwise() && !worker.records().front().is_decode_pool) {
    AwaitFirstLayer(worker);
  }
  return true;
}

void Simulation::EndLoad(uint32_t slot) {
  const WorkerLoad done = loads_.Take(slot);
  done.load.replica->EndLoad(done.load.sequence);
  Touch(done.worker);
}

void Simulation::CountGap(TimePs gap) {
  if (gap != gap_) FlushGaps();
  gap_ = gap;
  ++gap_tokens_;
}

void Simulation::FlushGaps() {
  if (gap_tokens_ > 0) observer_->OnTokens(gap_, gap_tokens_);
  gap_tokens_ = 0;
}

void Simulation::EndStep(uint32_t index) {
  Worker& worker = workers_[index];
  const std::vector<Batch>& batches = worker.End();
  Touch(index);
  for (size_t i = 0; i < batches.size(); ++i) {
    EndParts(batches[i], worker.ranks()[i]);
  }
}

void Simulation::EndParts(const Batch& batch, Replica* replica) {
  bool has_finished = false;
  for (const BatchPart& part : batch) {
    Sequence& sequence = *part.sequence;
    const int64_t tokens = replica->FinishPart(part);
    if (is_layerwise() && sequence.target < sequence.request.output_tokens) {
      SendLastLayer(&sequence);
    }
    if (tokens == 0) continue;
    RequestTimes& times = sequence.times;
    if (sequence.generated == tokens) {
      times.first_token = times.prompt_end = now_;
    } else {
      CountGap(now_ - times.last_token);
    }
    for (int64_t i = 1; i < tokens; ++i) CountGap(TimePs(0));
    times.last_token = now_;
    has_finished |= sequence.generated >= sequence.target;
  }
  FlushGaps();
  if (!has_finished) return;
  replica->DropFinished();
  for (const BatchPart& part : batch) {
    if (part.sequence->generated >= part.sequence->target) {
      EndSequence(part.sequence, replica);
    }
  }
}

void Simulation::EndSequence(Sequence* sequence, Replica* replica) {
  const Request& request = sequence->request;
  if (sequence->target < request.output_tokens) {
    if (!is_layerwise()) Send(sequence, sequence->computed, 1);
    return;
  }
  replica->Release(sequence);
  observer_->OnRequest({.id = request.id,
                        .prompt_tokens = request.prompt_tokens,
                        .output_tokens = request.output_tokens,
                        .times = sequence->times,
                        .replica = sequence->prefill_replica,
                        .decode_replica = sequence->replica});
  std::optional<Request> successor = source_->After(request, now_);
  unused_.push_back(sequence);
  if (successor.has_value()) {
    AwaitSuccessor(*std::move(successor));
  } else if (options_.in_flight > 0 && error_.ok()) {
    PullRequest();
  }
}

void Simulation::AwaitSuccessor(Request request) {
  ASTRA_CHECK(request.arrival >= now_, "request {} follows in the past",
              request.id);
  if (error_.ok()) error_ = CheckRequest(request, options_);
  if (!error_.ok()) return;
  const TimePs wait = request.arrival - now_;
  PushAfter(wait, kNextTurn, successors_.Add(std::move(request)));
}

// Lets the step that has started last send once its first layer is ready.
void Simulation::AwaitFirstLayer(const Worker& worker) {
  std::vector<PromptPart> parts;
  for (const Batch& batch : worker.started()) {
    for (const BatchPart& part : batch) {
      Sequence& sequence = *part.sequence;
      if (sequence.target == sequence.request.output_tokens) continue;
      parts.push_back({&sequence, sequence.scheduled()});
    }
  }
  const TimePs duration = worker.records().front().duration;
  PushAfter(TimePs(duration.count() / options_.transfer_layers), kFirstLayer,
            first_layers_.Add(std::move(parts)));
}

// Sends all but the last layer of what a step computes.
void Simulation::SendFirstLayers(const std::vector<PromptPart>& parts) {
  for (const PromptPart& part : parts) {
    const int64_t sent = part.sequence->transfer.sent;
    Send(part.sequence, std::max<int64_t>(0, part.end - sent),
         1 - 1 / static_cast<double>(options_.transfer_layers));
  }
}

void Simulation::SendLastLayer(Sequence* sequence) {
  KvProgress& progress = sequence->transfer;
  // A preempted prompt that is computed again has sent these positions before.
  const int64_t unsent =
      std::max<int64_t>(0, sequence->computed - progress.sent);
  Send(sequence, unsent, 1 / static_cast<double>(options_.transfer_layers));
  progress.sent += unsent;
}

void Simulation::Send(Sequence* sequence, int64_t tokens, double share) {
  KvProgress& progress = sequence->transfer;
  if (!progress.has_target) {
    progress.has_target = true;
    progress.target = static_cast<uint32_t>(ChooseRank(sequence->request, 1));
    pools_[1].replicas[progress.target]->Expect();
  }
  ++progress.under_way;
  const uint32_t id = transfers_.Add(sequence);
  std::optional<TimePs> duration = TimePs(0);
  if (options_.transfer && tokens > 0) {
    duration = options_.transfer(
        {id, sequence->replica, progress.target, tokens, share});
  }
  if (!duration) return;  // EndTransfer() will be called.
  ASTRA_CHECK(*duration >= TimePs(0), "a transfer takes {}", *duration);
  progress.free_at = std::max(progress.free_at, now_) + *duration;
  PushAfter(progress.free_at - now_, kTransferEnd, id);
}

// Hands the sequence over once all of its cache has arrived.
void Simulation::EndTransfer(uint32_t id) {
  Sequence* const sequence = transfers_.Take(id);
  KvProgress& progress = sequence->transfer;
  if (--progress.under_way > 0 || sequence->generated < sequence->target) {
    return;
  }
  pools_[0].replicas[sequence->replica]->Release(sequence);
  Touch(WorkerOf(pools_[0], sequence->replica));
  sequence->times.kv_arrived = now_;
  if (options_.first_token_from_decode) {
    sequence->times.first_token = sequence->times.last_token = now_;
  }
  sequence->target = sequence->request.output_tokens;
  Pool& pool = pools_[1];
  sequence->replica = pool.first_replica + progress.target;
  pool.replicas[progress.target]->AddExpected(sequence);
  Touch(WorkerOf(pool, progress.target));
}

void Simulation::Handle(const Event& event) {
  switch (event.kind) {
    case kStepEnd:
      EndStep(event.index);
      return;
    case kTransferEnd:
      EndTransfer(event.index);
      return;
    case kFirstLayer:
      SendFirstLayers(first_layers_.Take(event.index));
      return;
    case kLoadEnd:
      EndLoad(event.index);
      return;
    case kNextTurn:
      Enter(successors_.Take(event.index));
      return;
    case kEntry: {
      Request request = std::move(entering_.front());
      entering_.pop_front();
      Arrive(std::move(request));
      return;
    }
    default:
      Enter(*std::exchange(next_, std::nullopt));
      PullRequest();
  }
}

absl::Status Simulation::Start() {
  if (options_.in_flight == 0) PullRequest();
  for (int64_t i = 0; i < options_.in_flight && error_.ok(); ++i) {
    const size_t before = sequences_.size() + entering_.size();
    PullRequest();
    // The source has no more.
    if (sequences_.size() + entering_.size() == before) break;
  }
  StartTouched();
  return error_;
}

absl::Status Simulation::HandleNext() {
  now_ = events_.next().time;
  while (!events_.empty() && events_.next().time == now_ && error_.ok()) {
    Handle(events_.Pop());
  }
  if (error_.ok()) StartTouched();
  if (error_.ok() && is_done()) CheckEnd();
  return error_;
}

void Simulation::CheckEnd() const {
  for (const Pool& pool : pools_) {
    for (const auto& replica : pool.replicas) {
      ASTRA_CHECK(replica->outstanding() == 0, "{} requests never end",
                  replica->outstanding());
      replica->blocks().CheckConserved(0);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServingProcess>> StartServing(
    const ServingOptions& options, RequestSource* source,
    ServingObserver* observer) {
  ASTRA_RETURN_IF_ERROR(CheckServingOptions(options));
  auto simulation = std::make_unique<Simulation>(options, source, observer);
  ASTRA_RETURN_IF_ERROR(simulation->Start());
  return simulation;
}

absl::Status Serve(const ServingOptions& options, RequestSource* source,
                   ServingObserver* observer) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<ServingProcess> process,
                         StartServing(options, source, observer));
  while (process->next()) ASTRA_RETURN_IF_ERROR(process->HandleNext());
  ASTRA_CHECK(process->is_done(), "requests never end");
  return absl::OkStatus();
}

}  // namespace astra
