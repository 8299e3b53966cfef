// Sarathi-Serve, Vidur's default: each step computes up to `chunk_tokens`
// positions. One token of each decoding sequence comes first, then the prompts
// that run, then new prompts; the last prompt is cut to what is left. A
// sequence starts with the blocks of its whole prompt, and leaves the watermark
// free.
//
// Sources: A. Agrawal et al., "Taming throughput-latency tradeoff in LLM
// inference with Sarathi-Serve", OSDI 2024; Vidur (microsoft/vidur),
// vidur/scheduler/replica_scheduler/sarathi_replica_scheduler.py.

#include <algorithm>
#include <string_view>

#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

// Adds the decodes. Returns false if one of them was preempted.
bool AddDecodes(Replica* replica, int64_t* budget, Batch* batch) {
  const int64_t preemptions = replica->preemptions();
  for (size_t i = 0; i < replica->running().size(); ++i) {
    Sequence* const sequence = replica->running()[i];
    if (!sequence->is_decoding() || sequence->under_way > 0) continue;
    const int64_t tokens = sequence->todo();
    if (!replica->ContinueOrPreempt(sequence, tokens, false, batch)) break;
    *budget -= tokens;
  }
  return replica->preemptions() == preemptions;
}

void Form(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  int64_t budget = options.chunk_tokens;
  const bool may_admit = AddDecodes(replica, &budget, batch);
  for (Sequence* const sequence : replica->running()) {
    if (budget <= 0) return;
    if (sequence->is_decoding() || sequence->under_way > 0) continue;
    const int64_t tokens = std::min(sequence->todo(), budget);
    if (!replica->Continue(sequence, tokens, false, batch)) return;
    budget -= tokens;
  }
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (may_admit && budget > 0 && !replica->waiting().empty() &&
         replica->running().size() < max_running) {
    const int64_t tokens =
        replica->Admit({.max_tokens = budget,
                        .may_split = true,
                        .room_tokens = replica->waiting().front()->known(),
                        .take_room = true},
                       batch);
    if (tokens == 0) return;
    budget -= tokens;
  }
}

constexpr std::string_view kOptions[] = {"chunk_tokens"};

}  // namespace

const SchedulerKind& SarathiScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "sarathi",
      .meaning = "Sarathi-Serve: decodes, then chunks of prompts",
      .form = Form,
      .max_tokens = TokensOfAllBlocks,
      .defaults = {.watermark = 0.01,
                   .max_sequences = 128,
                   .chunk_tokens = 512},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
