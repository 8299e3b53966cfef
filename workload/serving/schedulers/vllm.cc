// vLLM since its engine V1: one budget of positions for each step. Running
// sequences come first, in order of arrival, whether they decode or are amid
// their prompt; then waiting ones, whose prompts may be split. While running
// sequences lack blocks, the last one is preempted; a step that preempts admits
// none.
//
// By `whole_prompt_must_fit` there must be room for the whole prompt of a
// sequence that starts, not for its first chunk only (vLLM's
// scheduler_reserve_full_isl). Prefixes are found by sequences that start in
// the same step.
//
// With pipeline stages, positions count as computed from the start of their
// step on, so that chunks of one prompt follow one another through the stages
// (Scheduler._update_after_schedule).
//
// With `prefill_interval` N, steps compute prompts only at every N-th step of a
// replica while others decode, unless the last such step left sequences
// waiting. vLLM counts these steps alike on all ranks of data-parallel
// attention, so that their prompts fall together (prefill_schedule_interval,
// default 1, which has an effect only there).
//
// Source: vllm/v1/core/sched/scheduler.py, Scheduler.schedule; read at v0.11
// and later for the check of the whole prompt; prefill_schedule_interval in
// vllm/config/scheduler.py and DPEngineCoreProc._should_throttle_prefills of
// vllm/v1/engine/core.py, as of 2026.

#include <algorithm>
#include <string_view>

#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

int64_t ChunkLimit(const BatchingOptions& options, int64_t budget) {
  return options.long_prefill_tokens > 0
             ? std::min(budget, options.long_prefill_tokens)
             : budget;
}

// Returns whether the step leaves prompts to a later one.
bool DefersPrompts(const Replica& replica) {
  const int64_t interval = replica.options().prefill_interval;
  if (replica.step % interval == 0 || replica.prompts_were_left) return false;
  return std::any_of(
      replica.running().begin(), replica.running().end(),
      [](const Sequence* sequence) { return sequence->is_decoding(); });
}

void Admit(Replica* replica, int64_t budget, Batch* batch) {
  const BatchingOptions& options = replica->options();
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() && budget > 0 &&
         replica->running().size() < max_running) {
    const int64_t room =
        options.whole_prompt_must_fit ? replica->waiting().front()->known() : 0;
    const int64_t tokens = replica->Admit(
        {.max_tokens =
             options.chunked_prefill ? ChunkLimit(options, budget) : budget,
         .may_split = options.chunked_prefill,
         .room_tokens = room,
         .publish_now = true},
        batch);
    if (tokens == 0) return;
    budget -= tokens;
  }
}

void Form(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  const int64_t preemptions = replica->preemptions();
  const bool defers = DefersPrompts(*replica);
  int64_t budget = options.max_batched_tokens;
  for (size_t i = 0; i < replica->running().size() && budget > 0; ++i) {
    Sequence* const sequence = replica->running()[i];
    const int64_t tokens =
        std::min(sequence->todo(), ChunkLimit(options, budget));
    if (tokens == 0 || (defers && !sequence->is_decoding())) continue;
    if (!replica->ContinueOrPreempt(sequence, tokens, true, batch)) break;
    budget -= tokens;
  }
  if (defers) return;
  if (replica->preemptions() == preemptions) Admit(replica, budget, batch);
  replica->prompts_were_left = !replica->waiting().empty();
}

int64_t MaxTokens(const BatchingOptions& options) {
  const int64_t room = TokensOfAllBlocks(options);
  return options.chunked_prefill ? room
                                 : std::min(room, options.max_batched_tokens);
}

constexpr std::string_view kOptions[] = {
    "max_batched_tokens", "chunked_prefill", "whole_prompt_must_fit",
    "long_prefill_tokens", "prefill_interval"};

}  // namespace

const SchedulerKind& VllmScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "vllm",
      .meaning = "vLLM V1: running sequences, then chunks of new prompts",
      .form = Form,
      .max_tokens = MaxTokens,
      .frees_windows = true,
      .defaults = {.prefix_caching = true,
                   .max_batched_tokens = 8192,
                   .max_sequences = 256},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
