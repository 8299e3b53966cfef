// LightLLM: memory in single tokens, and no preemption. Every
// `max_waiting_steps` decode steps, or when nothing runs, it tries a step of
// whole new prompts. A sequence starts if the memory suffices until all end, by
// the lengths of their outputs: with the running sequences and the new one
// sorted by falling remaining output r_1 >= r_2 >= ..., and u_i the positions
// that sequence i has, the peak is
//
//   max over i of  i * r_i + u_1 + ... + u_i
//
// which must stay below the memory. Outputs are as long as the request says.
//
// The peak ignores blocks of several tokens, and it takes all sequences to grow
// alike, which those with drafts or on pipeline stages do not. Where it is too
// low a sequence is preempted. With its output it may be longer than a step, so
// that it may start again in parts; prompts of new ones may not.
//
// Sources: LightLLM (ModelTC/lightllm), lightllm/server/router/req_queue.py;
// Vidur (microsoft/vidur),
// vidur/scheduler/replica_scheduler/lightllm_replica_scheduler.py.

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

// Remaining output and positions of a sequence, the next token counted as one
// that it has, and so are the blocks that it holds beside its positions at its
// end.
using Growth = std::pair<int64_t, int64_t>;

Growth GrowthOf(const Sequence& sequence, const BatchingOptions& options) {
  const int64_t held = HeldBlocksOf(sequence.final_tokens(), options);
  return {std::max<int64_t>(0, sequence.target - sequence.generated - 1),
          sequence.known() + 1 + held * options.block_tokens};
}

int64_t PeakTokens(std::vector<Growth> sequences) {
  std::sort(sequences.begin(), sequences.end(), std::greater<>());
  int64_t peak = 0;
  int64_t have = 0;
  int64_t count = 0;
  for (const auto& [remaining, tokens] : sequences) {
    have += tokens;
    peak = std::max(peak, ++count * remaining + have);
  }
  return peak;
}

void AdmitPrompts(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  std::vector<Growth> growths;
  for (const Sequence* sequence : replica->running()) {
    growths.push_back(GrowthOf(*sequence, options));
  }
  int64_t room = (options.num_blocks - replica->leaving_blocks() -
                  replica->loaded_blocks()) *
                 options.block_tokens;
  int64_t budget = options.max_batched_tokens;
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() &&
         replica->running().size() < max_running) {
    const Sequence& next = *replica->waiting().front();
    growths.push_back(GrowthOf(next, options));
    room += next.kv.blocks() * options.block_tokens;
    if (PeakTokens(growths) >= room) return;
    const int64_t tokens = replica->Admit(
        {.max_tokens = budget, .may_split = next.generated > 0}, batch);
    if (tokens == 0) return;
    budget -= tokens;
  }
}

void Form(Replica* replica, Batch* batch) {
  const bool is_idle = replica->running().empty();
  if (is_idle ||
      replica->decode_steps >= replica->options().max_waiting_steps) {
    replica->decode_steps = 0;
    AdmitPrompts(replica, batch);
    if (!batch->empty()) return;
  }
  ++replica->decode_steps;
  for (size_t i = 0; i < replica->running().size(); ++i) {
    Sequence* const sequence = replica->running()[i];
    if (sequence->under_way > 0) continue;
    if (!replica->ContinueOrPreempt(sequence, sequence->todo(), false, batch)) {
      return;  // Only where the peak is not exact; see above.
    }
  }
}

// The peak of one sequence, its positions and one token, is below the memory.
int64_t MaxTokens(const BatchingOptions& options) {
  return TokensOfAllBlocks(options) - 1;
}

int64_t MaxPrompt(const BatchingOptions& options) {
  return options.max_batched_tokens;
}

constexpr std::string_view kOptions[] = {"max_batched_tokens",
                                         "max_waiting_steps"};

}  // namespace

const SchedulerKind& LightllmScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "lightllm",
      .meaning = "LightLLM: new prompts now and then, by the peak of memory",
      .form = Form,
      .max_tokens = MaxTokens,
      .max_prompt_tokens = MaxPrompt,
      .defaults = {.block_tokens = 1,
                   .max_batched_tokens = 4096,
                   .max_sequences = 128,
                   .max_waiting_steps = 10},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
