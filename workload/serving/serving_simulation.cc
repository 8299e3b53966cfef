#include "workload/serving/serving_simulation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/pool_checks.h"

namespace astra {

void ServingSimulation::AddPool(const PoolOptions& options) {
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
  is_loading_.resize(workers_.size());
  lines_.resize(workers_.size());
  pools_.push_back(std::move(pool));
}

// Takes the next request from the source. In a closed loop it arrives now.
void ServingSimulation::PullRequest() {
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

void ServingSimulation::PushAfter(TimePs delay, EventKind kind,
                                  uint32_t index) {
  if (delay > kMaxServingTime - now_) {
    constexpr int64_t kPsPerDay = int64_t{86'400} * 1'000'000'000'000;
    error_ = absl::OutOfRangeError(fmt::format(
        "the simulation passes {} days", kMaxServingTime.count() / kPsPerDay));
    return;
  }
  events_.Push({now_ + delay, kind, index});
}

Sequence* ServingSimulation::NewSequence() {
  if (unused_.empty()) return &sequences_.emplace_back();
  Sequence* const sequence = unused_.back();
  unused_.pop_back();
  KvHolding kv = std::move(sequence->kv);  // Its memory.
  *sequence = Sequence();
  sequence->kv = std::move(kv);
  return sequence;
}

// Arrive follows after entry_delay.
void ServingSimulation::Enter(Request request) {
  if (options_.entry_delay == TimePs(0)) {
    Arrive(std::move(request));
    return;
  }
  entering_.push_back(std::move(request));
  PushAfter(options_.entry_delay, kEntry, 0);
}

void ServingSimulation::Arrive(Request request) {
  Sequence* const sequence = NewSequence();
  sequence->times.arrival = request.arrival;
  sequence->target = options_.decode.has_value() ? 1 : request.output_tokens;
  sequence->request = std::move(request);
  const size_t rank = ChooseRank(sequence->request, 0);
  sequence->replica = sequence->prefill_replica = static_cast<uint32_t>(rank);
  pools_[0].replicas[rank]->Add(sequence);
  Touch(WorkerOf(pools_[0], rank));
}

size_t ServingSimulation::ChooseRank(const Request& request, size_t index) {
  Pool& pool = pools_[index];
  return pool.options.router->choose({.request = request,
                                      .replicas = pool.replicas,
                                      .turn = pool.turn++,
                                      .seed = options_.seed});
}

void ServingSimulation::Touch(uint32_t worker) {
  if (is_touched_[worker]) return;
  is_touched_[worker] = true;
  touched_.push_back(worker);
}

void ServingSimulation::StartTouched() {
  std::sort(touched_.begin(), touched_.end());
  for (const uint32_t worker : touched_) {
    is_touched_[worker] = false;
    if (is_loading_[worker]) continue;
    while (!workers_[worker].is_full() && StartStep(worker)) {
    }
  }
  touched_.clear();
}

// Returns false if there is nothing to do.
bool ServingSimulation::StartStep(uint32_t index) {
  Worker& worker = workers_[index];
  const bool has_started = worker.Start(now_);
  for (const Load& load : worker.loads()) {
    PushAfter(load.end - now_, kLoadEnd, loads_.Add({load, index}));
  }
  if (!has_started) return false;
  if (PoolOf(index).options.network == nullptr) {
    Record(worker.records(), worker.started());
    PushAfter(worker.records().front().duration, kStepEnd, index);
  } else {
    lines_[index].Enter({worker.stages(), worker.records()});
    BeginPasses(index);
  }
  if (is_layerwise() && !worker.records().front().is_decode_pool) {
    AwaitFirstLayer(worker);
  }
  return true;
}

void ServingSimulation::EndLoad(uint32_t slot) {
  const WorkerLoad done = loads_.Take(slot);
  done.load.replica->EndLoad(done.load.sequence);
  Touch(done.worker);
}

void ServingSimulation::CountGap(TimePs gap) {
  if (gap != gap_) FlushGaps();
  gap_ = gap;
  ++gap_tokens_;
}

void ServingSimulation::FlushGaps() {
  if (gap_tokens_ > 0) observer_->OnTokens(gap_, gap_tokens_);
  gap_tokens_ = 0;
}

void ServingSimulation::EndStep(uint32_t index) {
  Worker& worker = workers_[index];
  const std::vector<Batch>& batches = worker.End();
  Touch(index);
  for (size_t i = 0; i < batches.size(); ++i) {
    EndParts(batches[i], worker.ranks()[i]);
  }
}

void ServingSimulation::EndParts(const Batch& batch, Replica* replica) {
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

void ServingSimulation::EndSequence(Sequence* sequence, Replica* replica) {
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

void ServingSimulation::AwaitSuccessor(Request request) {
  ASTRA_CHECK(request.arrival >= now_, "request {} follows in the past",
              request.id);
  if (error_.ok()) error_ = CheckRequest(request, options_);
  if (!error_.ok()) return;
  const TimePs wait = request.arrival - now_;
  PushAfter(wait, kNextTurn, successors_.Add(std::move(request)));
}

void ServingSimulation::Handle(const Event& event) {
  switch (event.kind) {
    case kStepEnd:
      EndStep(event.index);
      return;
    case kPassEnd:
      EndPassOf(event.index);
      return;
    case kPassMessages:
      SendOfPass(event.index);
      return;
    case kWeightsEnd:
      is_loading_[event.index] = false;
      --num_loading_;
      Touch(event.index);
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

absl::Status ServingSimulation::Start() {
  LoadWeights();
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

absl::Status ServingSimulation::HandleNext() {
  now_ = events_.next().time;
  while (!events_.empty() && events_.next().time == now_ && error_.ok()) {
    Handle(events_.Pop());
  }
  if (error_.ok()) StartTouched();
  if (error_.ok() && is_done()) CheckEnd();
  return error_;
}

void ServingSimulation::CheckEnd() const {
  for (const Pool& pool : pools_) {
    for (const auto& replica : pool.replicas) {
      ASTRA_CHECK(replica->outstanding() == 0, "{} requests never end",
                  replica->outstanding());
      replica->blocks().CheckConserved(0);
    }
  }
}

}  // namespace astra
