#include "workload/serving/worker.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

struct ComingTokens {
  int64_t all = 0;
  int64_t accepted = 0;  // Drafts among them.
};

// Writes down what a batch computes, and begins it. Returns the output tokens
// that come out of it.
ComingTokens StartParts(TimePs now, const Batch& batch, Replica* replica,
                        StepWork* work) {
  work->chunks.clear();
  work->decodes = work->draft_tokens = work->decode_context = work->samples = 0;
  ComingTokens tokens;
  for (const BatchPart& part : batch) {
    Sequence& sequence = *part.sequence;
    if (!sequence.was_scheduled) {
      sequence.was_scheduled = true;
      sequence.times.first_scheduled = now;
    }
    const bool is_decoding = sequence.is_decoding();
    if (is_decoding) {
      ++work->decodes;
      work->draft_tokens += part.tokens - 1;
      work->samples += part.tokens;
      work->decode_context += sequence.computed;
    } else {
      work->chunks.push_back({part.tokens, sequence.scheduled()});
      if (part.tokens == sequence.todo()) ++work->samples;
    }
    const int64_t coming = replica->StartPart(part);
    tokens.all += coming;
    if (is_decoding) tokens.accepted += coming - 1;
  }
  return tokens;
}

}  // namespace

Worker::Worker(const PoolOptions& options, std::vector<Replica*> ranks,
               uint32_t first_replica, bool is_decode_pool)
    : options_(options),
      ranks_(std::move(ranks)),
      first_replica_(first_replica),
      is_decode_pool_(is_decode_pool),
      steps_(static_cast<size_t>(options.steps_under_way),
             std::vector<Batch>(ranks_.size())),
      delay_(options.options.prefill_delay),
      works_(ranks_.size()),
      link_ends_(ranks_.size()) {}

// Begins to load what the first waiting sequences have in the host's memory,
// one after the other over the link of the rank.
void Worker::StartLoads(TimePs now, size_t rank) {
  if (options_.options.host_blocks == 0) return;
  Replica& replica = *ranks_[rank];
  const int64_t promised = options_.scheduler->promised_blocks == nullptr
                               ? 0
                               : options_.scheduler->promised_blocks(replica);
  while (Sequence* const sequence = replica.StartLoad(promised)) {
    const int64_t blocks = replica.LoadOf(*sequence);
    TimePs& end = link_ends_[rank];
    end =
        std::max(end, now) + TimePs(blocks * options_.host_block_time.count());
    loads_.push_back({sequence, &replica, end});
  }
}

void Worker::FormBatch(TimePs now, size_t rank, Batch* batch) {
  Replica& replica = *ranks_[rank];
  batch->clear();
  replica.step = steps_begun_;
  StartLoads(now, rank);
  options_.scheduler->form(&replica, batch);
  // Sequences that wait with what they have loaded may keep all from running.
  if (batch->empty() && replica.running().empty() && replica.DropLoaded()) {
    options_.scheduler->form(&replica, batch);
  }
  StartLoads(now, rank);
}

void Worker::Form(TimePs now, std::vector<Batch>* batches) {
  records_.clear();
  loads_.clear();
  const bool may_start_prompts = delay_.Allows(ranks_);
  FormRanks(now, may_start_prompts, batches);
  // Steps of nothing take no time, so that the delay is over at once.
  if (!may_start_prompts && records_.empty() && under_way_ == 0) {
    FormRanks(now, /*may_start_prompts=*/true, batches);
  }
}

void Worker::FormRanks(TimePs now, bool may_start_prompts,
                       std::vector<Batch>* batches) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Replica& replica = *ranks_[i];
    replica.may_start_prompts = may_start_prompts;
    Batch& batch = (*batches)[i];
    const int64_t preemptions = replica.preemptions();
    FormBatch(now, i, &batch);
    const ComingTokens tokens = StartParts(now, batch, &replica, &works_[i]);
    if (batch.empty()) continue;
    const StepWork& work = works_[i];
    records_.push_back(
        {.start = now,
         .duration = TimePs(0),
         .replica = first_replica_ + static_cast<uint32_t>(i),
         .is_decode_pool = is_decode_pool_,
         .sequences = static_cast<int64_t>(batch.size()),
         .prompt_tokens = work.tokens() - work.decodes - work.draft_tokens,
         .decodes = work.decodes,
         .draft_tokens = work.draft_tokens,
         .decode_context = work.decode_context,
         .samples = tokens.all,
         .accepted = tokens.accepted,
         .running = static_cast<int64_t>(replica.running().size()),
         .waiting = static_cast<int64_t>(replica.waiting().size()),
         .used_blocks = replica.blocks().used(),
         .cached_blocks = replica.blocks().cached(),
         .num_blocks = replica.blocks().num_blocks(),
         .preemptions = replica.preemptions() - preemptions});
  }
}

TimePs Worker::PassStages(TimePs now) {
  stages_.clear();
  options_.cost->AddStages(works_, &stages_);
  stage_ends_.resize(stages_.size());
  TimePs end = now;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const TimePs time = stages_[i].time;
    ASTRA_CHECK(time >= TimePs(0), "a stage takes {} ps", time.count());
    if (options_.network == nullptr) end = std::max(end, stage_ends_[i]);
    end += time;
    stage_ends_[i] = end;
  }
  ASTRA_CHECK(end > now, "a step takes no time");
  return end - now;
}

bool Worker::Start(TimePs now) {
  ASTRA_CHECK(!is_full(), "{} steps are under way", under_way_);
  Form(now, &steps_[(oldest_ + under_way_) % steps_.size()]);
  if (records_.empty()) {
    if (under_way_ == 0) steps_begun_ = 0;
    return false;
  }
  ++steps_begun_;
  const TimePs duration = PassStages(now);
  for (StepRecord& record : records_) record.duration = duration;
  ++under_way_;
  return true;
}

const std::vector<Batch>& Worker::End() {
  ASTRA_CHECK(under_way_ > 0, "no step is under way");
  const std::vector<Batch>& batches = steps_[oldest_];
  oldest_ = (oldest_ + 1) % steps_.size();
  --under_way_;
  return batches;
}

}  // namespace astra
