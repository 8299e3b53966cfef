// vLLM's first engine, V0, which is also Vidur's scheduler "vllm": a step is
// either whole prompts of waiting sequences, within a budget of positions, or
// one token of each running sequence. New prompts come first. A sequence starts
// only if that leaves the watermark of blocks free.
//
// Sources: vllm/core/scheduler.py (v0.2, _schedule); Vidur
// (microsoft/vidur),
// vidur/scheduler/replica_scheduler/vllm_replica_scheduler.py. The prompts of a
// batch are counted without padding, as since v0.2.2; Vidur pads them to the
// longest.

#include <algorithm>
#include <string_view>

#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

void Form(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  int64_t budget = options.max_batched_tokens;
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() &&
         replica->running().size() < max_running) {
    const int64_t tokens = replica->Admit({.max_tokens = budget}, batch);
    if (tokens == 0) break;
    budget -= tokens;
  }
  if (!batch->empty()) return;
  for (size_t i = 0; i < replica->running().size(); ++i) {
    Sequence* const sequence = replica->running()[i];
    if (sequence->under_way > 0) continue;
    if (!replica->ContinueOrPreempt(sequence, sequence->todo(), false, batch)) {
      return;
    }
  }
}

int64_t MaxTokens(const BatchingOptions& options) {
  return std::min(TokensOfAllBlocks(options), options.max_batched_tokens);
}

constexpr std::string_view kOptions[] = {"max_batched_tokens"};

}  // namespace

const SchedulerKind& VllmV0Scheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "vllm-v0",
      .meaning = "vLLM V0 and Vidur's vllm: whole new prompts, or decodes",
      .form = Form,
      .max_tokens = MaxTokens,
      .defaults = {.watermark = 0.01,
                   .max_batched_tokens = 4096,
                   .max_sequences = 128},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
