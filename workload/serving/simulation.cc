#include "workload/serving/simulation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/pool_checks.h"

namespace astra {
namespace {

enum EventKind : uint32_t { kStepEnd, kTransferEnd, kArrival, kFirstLayer };

struct Pool {
  PoolOptions options;
  std::vector<std::unique_ptr<Replica>> replicas;  // All ranks.
  uint32_t first_replica = 0;                      // Number of replicas[0].
  uint32_t first_worker = 0;
  uint64_t turn = 0;
};

// Ranks that step together.
struct Worker {
  size_t pool = 0;
  size_t first_rank = 0;  // Index in the replicas of the pool.
  std::vector<Batch> batches;
  bool is_busy = false;
  bool is_touched = false;  // Whether it may have something new to do.
};

absl::Status CheckOptions(const ServingOptions& options) {
  if (options.in_flight < 0) {
    return FieldError(
        "in_flight",
        fmt::format("in_flight is {}: expected 0 or more", options.in_flight));
  }
  ASTRA_RETURN_IF_ERROR(CheckPool(options.pool, "pool"));
  if (!options.decode.has_value()) return absl::OkStatus();
  return CheckPool(*options.decode, "decode");
}

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
  absl::Status CheckRequest(const Request& request) const;
  void Arrive(Request request);
  size_t ChooseRank(const Request& request, size_t pool);
  void Touch(uint32_t worker);
  void Handle(const Event& event);
  void StartTouched();
  void StartStep(uint32_t index);
  TimePs FormStep(Worker* worker);
  StepWork* WorkOf(const Batch& batch);
  void EndStep(uint32_t index);
  void EndParts(const Batch& batch, Replica* replica);
  void CountGap(TimePs gap);
  void FlushGaps();
  void EndSequence(Sequence* sequence, Replica* replica);
  bool is_layerwise() const {
    return options_.decode.has_value() && options_.transfer_layers > 1;
  }
  void SendFirstLayers(const Worker& worker);
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
  std::deque<Sequence> sequences_;  // All that ever lived at the same time.
  std::vector<Sequence*> unused_;
  KvTransfers transfers_;
  std::vector<uint32_t> touched_;
  // Kept for their memory.
  StepWork work_;
  std::vector<StepRecord> records_;
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
    workers_.push_back(
        {.pool = pools_.size(),
         .first_rank = pool.replicas.size(),
         .batches = std::vector<Batch>(static_cast<size_t>(options.ranks))});
    for (int64_t rank = 0; rank < options.ranks; ++rank) {
      pool.replicas.push_back(std::make_unique<Replica>(options.options));
    }
  }
  pools_.push_back(std::move(pool));
}

absl::Status Simulation::CheckRequest(const Request& request) const {
  if (request.prompt_tokens < 1 || request.output_tokens < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "request {} has {} prompt and {} output tokens: expected 1 or more",
        request.id, request.prompt_tokens, request.output_tokens));
  }
  if (!options_.decode.has_value()) {
    return CheckFits(request, request.output_tokens, options_.pool);
  }
  ASTRA_RETURN_IF_ERROR(CheckFits(request, 1, options_.pool));
  return CheckFits(request, request.output_tokens, *options_.decode);
}

// Takes the next request from the source. In a closed loop it arrives now.
void Simulation::PullRequest() {
  std::optional<Request> request = source_->Next(now_);
  if (!request.has_value()) return;
  error_ = CheckRequest(*request);
  if (!error_.ok()) return;
  if (options_.in_flight > 0) {
    request->arrival = now_;
    Arrive(std::move(*request));
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
  if (workers_[worker].is_touched) return;
  workers_[worker].is_touched = true;
  touched_.push_back(worker);
}

void Simulation::StartTouched() {
  std::sort(touched_.begin(), touched_.end());
  for (const uint32_t worker : touched_) {
    workers_[worker].is_touched = false;
    if (!workers_[worker].is_busy) StartStep(worker);
  }
  touched_.clear();
}

StepWork* Simulation::WorkOf(const Batch& batch) {
  work_.chunks.clear();
  work_.decodes = work_.decode_context = work_.samples = 0;
  for (const BatchPart& part : batch) {
    Sequence& sequence = *part.sequence;
    if (!sequence.was_scheduled) {
      sequence.was_scheduled = true;
      sequence.times.first_scheduled = now_;
    }
    if (sequence.is_decoding()) {
      ++work_.decodes;
      work_.decode_context += sequence.computed;
    } else {
      work_.chunks.push_back({part.tokens, sequence.computed});
    }
    if (part.tokens == sequence.todo()) ++work_.samples;
  }
  return &work_;
}

// Forms the batches of all ranks. Returns the time of the step, or 0 if there
// is nothing to do.
TimePs Simulation::FormStep(Worker* worker) {
  Pool& pool = pools_[worker->pool];
  TimePs duration;
  records_.clear();
  for (size_t i = 0; i < worker->batches.size(); ++i) {
    const size_t rank = worker->first_rank + i;
    Replica& replica = *pool.replicas[rank];
    const int64_t preemptions = replica.preemptions();
    worker->batches[i].clear();
    pool.options.scheduler->form(&replica, &worker->batches[i]);
    if (worker->batches[i].empty()) continue;
    const StepWork& work = *WorkOf(worker->batches[i]);
    const TimePs time = pool.options.cost->TimeOf(work);
    ASTRA_CHECK(time > TimePs(0), "a step takes {} ps", time.count());
    duration = std::max(duration, time);
    records_.push_back(
        {.start = now_,
         .duration = TimePs(0),
         .replica = pool.first_replica + static_cast<uint32_t>(rank),
         .is_decode_pool = worker->pool > 0,
         .sequences = static_cast<int64_t>(worker->batches[i].size()),
         .prompt_tokens = work.tokens() - work.decodes,
         .decodes = work.decodes,
         .decode_context = work.decode_context,
         .samples = work.samples,
         .running = static_cast<int64_t>(replica.running().size()),
         .waiting = static_cast<int64_t>(replica.waiting().size()),
         .used_blocks = replica.blocks().used(),
         .cached_blocks = replica.blocks().cached(),
         .num_blocks = replica.blocks().num_blocks(),
         .preemptions = replica.preemptions() - preemptions});
  }
  return duration;
}

void Simulation::StartStep(uint32_t index) {
  Worker& worker = workers_[index];
  const TimePs duration = FormStep(&worker);
  if (records_.empty()) return;
  for (StepRecord& record : records_) {
    record.duration = duration;
    observer_->OnStep(record);
  }
  worker.is_busy = true;
  PushAfter(duration, kStepEnd, index);
  if (is_layerwise() && worker.pool == 0) {
    PushAfter(TimePs(duration.count() / options_.transfer_layers), kFirstLayer,
              index);
  }
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
  worker.is_busy = false;
  Touch(index);
  for (size_t i = 0; i < worker.batches.size(); ++i) {
    Replica* const replica =
        pools_[worker.pool].replicas[worker.first_rank + i].get();
    EndParts(worker.batches[i], replica);
  }
}

void Simulation::EndParts(const Batch& batch, Replica* replica) {
  bool has_finished = false;
  for (const BatchPart& part : batch) {
    Sequence& sequence = *part.sequence;
    const bool has_token = replica->FinishPart(part);
    if (is_layerwise() && sequence.target < sequence.request.output_tokens) {
      SendLastLayer(&sequence);
    }
    if (!has_token) continue;
    RequestTimes& times = sequence.times;
    if (sequence.generated == 1) {
      times.first_token = times.prompt_end = now_;
    } else {
      CountGap(now_ - times.last_token);
    }
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
  unused_.push_back(sequence);
  if (options_.in_flight > 0 && error_.ok()) PullRequest();
}

// Sends all but the last layer of what a step computes.
void Simulation::SendFirstLayers(const Worker& worker) {
  for (const Batch& batch : worker.batches) {
    for (const BatchPart& part : batch) {
      Sequence& sequence = *part.sequence;
      if (sequence.target == sequence.request.output_tokens) continue;
      const int64_t end = sequence.computed + part.tokens;
      Send(&sequence, std::max<int64_t>(0, end - sequence.transfer.sent),
           1 - 1 / static_cast<double>(options_.transfer_layers));
    }
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
  Sequence* const sequence = transfers_.Remove(id);
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
      SendFirstLayers(workers_[event.index]);
      return;
    default:
      Arrive(*std::exchange(next_, std::nullopt));
      PullRequest();
  }
}

absl::Status Simulation::Start() {
  if (options_.in_flight == 0) PullRequest();
  for (int64_t i = 0; i < options_.in_flight && error_.ok(); ++i) {
    const size_t before = sequences_.size();
    PullRequest();
    if (sequences_.size() == before) break;  // The source has no more.
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
  ASTRA_RETURN_IF_ERROR(CheckOptions(options));
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
