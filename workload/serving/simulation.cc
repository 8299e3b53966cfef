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

namespace astra {
namespace {

enum EventKind : uint32_t { kStepEnd, kTransferEnd, kArrival };

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

absl::Status CheckPool(const PoolOptions& pool, std::string_view name) {
  ASTRA_CHECK(pool.scheduler != nullptr && pool.cost != nullptr,
              "{} has no scheduler or no cost", name);
  if (pool.replicas < 1 || pool.ranks < 1 || pool.replicas > kMaxReplicas ||
      pool.ranks > kMaxReplicas / pool.replicas) {
    return FieldError(
        name, fmt::format("{} replicas of {} ranks: expected 1 to {} in all",
                          pool.replicas, pool.ranks, kMaxReplicas));
  }
  return CheckBatchingOptions(pool.options);
}

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

absl::Status CheckFits(const Request& request, int64_t output_tokens,
                       const PoolOptions& pool) {
  const int64_t limit = pool.scheduler->max_tokens(pool.options);
  const int64_t block = pool.options.block_tokens;
  // Without overflow, whatever the two are.
  if (request.prompt_tokens > limit ||
      output_tokens > limit - request.prompt_tokens) {
    return absl::InvalidArgumentError(fmt::format(
        "request {} has {} prompt and {} output tokens: a replica of scheduler "
        "{} with {} blocks of {} tokens serves at most {} in all",
        request.id, request.prompt_tokens, output_tokens, pool.scheduler->name,
        pool.options.num_blocks, block, limit));
  }
  const int64_t hashed = request.prefix.block_tokens;
  if (pool.options.prefix_caching && !request.prefix.hashes.empty() &&
      (hashed <= 0 || hashed % block != 0)) {
    return absl::InvalidArgumentError(fmt::format(
        "block_tokens is {}: expected a divisor of {}, the tokens of a hashed "
        "block of request {}",
        block, hashed, request.id));
  }
  return absl::OkStatus();
}

class Simulation {
 public:
  Simulation(const ServingOptions& options, RequestSource* source,
             ServingObserver* observer)
      : options_(options), source_(source), observer_(observer) {
    AddPool(options.pool);
    if (options.decode.has_value()) AddPool(*options.decode);
  }

  absl::Status Run();

 private:
  void AddPool(const PoolOptions& options);
  void PullRequest();
  absl::Status CheckRequest(const Request& request) const;
  void Arrive(Request request);
  void Route(Sequence* sequence, size_t pool);
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
  void StartTransfer(Sequence* sequence);
  void EndTransfer(uint32_t slot);
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
  std::vector<Sequence*> transfers_;  // By slot; null where it is unused.
  std::vector<uint32_t> unused_slots_;
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
  Route(sequence, 0);
  sequence->prefill_replica = sequence->replica;
}

void Simulation::Route(Sequence* sequence, size_t index) {
  Pool& pool = pools_[index];
  const size_t rank = pool.options.router->choose({.request = sequence->request,
                                                   .replicas = pool.replicas,
                                                   .turn = pool.turn++,
                                                   .seed = options_.seed});
  sequence->replica = pool.first_replica + static_cast<uint32_t>(rank);
  pool.replicas[rank]->Add(sequence);
  Touch(WorkerOf(pool, rank));
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
  for (const Batch& batch : worker.batches) {
    for (const BatchPart& part : batch) {
      part.sequence->times.executed += duration;
    }
  }
  worker.is_busy = true;
  PushAfter(duration, kStepEnd, index);
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
    if (!replica->FinishPart(part)) continue;
    RequestTimes& times = sequence.times;
    if (sequence.generated == 1) {
      times.first_token = now_;
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
    StartTransfer(sequence);
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

void Simulation::StartTransfer(Sequence* sequence) {
  uint32_t slot = static_cast<uint32_t>(transfers_.size());
  if (unused_slots_.empty()) {
    transfers_.push_back(sequence);
  } else {
    slot = unused_slots_.back();
    unused_slots_.pop_back();
    transfers_[slot] = sequence;
  }
  TimePs duration;
  if (options_.transfer_time) {
    duration = options_.transfer_time(sequence->computed *
                                      options_.kv_bytes_per_token);
    ASTRA_CHECK(duration >= TimePs(0), "a transfer takes {} ps",
                duration.count());
  }
  PushAfter(duration, kTransferEnd, slot);
}

void Simulation::EndTransfer(uint32_t slot) {
  Sequence* const sequence = std::exchange(transfers_[slot], nullptr);
  unused_slots_.push_back(slot);
  const size_t rank = sequence->replica;
  pools_[0].replicas[rank]->Release(sequence);
  Touch(WorkerOf(pools_[0], rank));
  sequence->target = sequence->request.output_tokens;
  Route(sequence, 1);
}

void Simulation::Handle(const Event& event) {
  switch (event.kind) {
    case kStepEnd:
      EndStep(event.index);
      return;
    case kTransferEnd:
      EndTransfer(event.index);
      return;
    default:
      Arrive(*std::exchange(next_, std::nullopt));
      PullRequest();
  }
}

absl::Status Simulation::Run() {
  if (options_.in_flight == 0) PullRequest();
  for (int64_t i = 0; i < options_.in_flight && error_.ok(); ++i) {
    const size_t before = sequences_.size();
    PullRequest();
    if (sequences_.size() == before) break;  // The source has no more.
  }
  StartTouched();
  while (!events_.empty() && error_.ok()) {
    now_ = events_.next().time;
    while (!events_.empty() && events_.next().time == now_ && error_.ok()) {
      Handle(events_.Pop());
    }
    if (error_.ok()) StartTouched();
  }
  ASTRA_RETURN_IF_ERROR(error_);
  for (const Pool& pool : pools_) {
    for (const auto& replica : pool.replicas) {
      ASTRA_CHECK(replica->outstanding() == 0, "{} requests never end",
                  replica->outstanding());
      replica->blocks().CheckConserved(0);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(const ServingOptions& options, RequestSource* source,
                   ServingObserver* observer) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(options));
  return Simulation(options, source, observer).Run();
}

}  // namespace astra
