// TensorRT-LLM with the capacity policy GUARANTEED_NO_EVICT: a sequence starts
// only if its prompt and its whole output fit together with those of all that
// run, so none is ever preempted. A step computes one token of each decoding
// sequence, then running prompts, then new ones, up to a number of positions.
// With pipeline stages, a sequence is in at most one step under way.
//
// Source: NVIDIA/TensorRT-LLM, documentation of the batch manager and of
// "runtime tuning" (max_batch_size, max_num_tokens, context chunking,
// CapacitySchedulerPolicy); tensorrt_llm/_torch/pyexecutor/py_executor.py
// (_executor_loop_pp, inflight_req_ids).

#include <algorithm>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

void ContinueRunning(Replica* replica, bool decoding, int64_t* budget,
                     Batch* batch) {
  for (Sequence* const sequence : replica->running()) {
    if (*budget <= 0) return;
    if (sequence->is_decoding() != decoding || sequence->under_way > 0) {
      continue;
    }
    const int64_t tokens = std::min(sequence->todo(), *budget);
    const bool has_room = replica->Continue(sequence, tokens, false, batch);
    ASTRA_CHECK(has_room, "no room for request {}", sequence->request.id);
    *budget -= tokens;
  }
}

int64_t PromisedBlocks(const Replica& replica) {
  int64_t sum = replica.leaving_blocks() + replica.loaded_blocks();
  for (const Sequence* sequence : replica.running()) {
    // It holds more only where its cached prefix reaches into its output.
    sum += std::max(replica.blocks().BlocksOf(sequence->final_tokens()),
                    sequence->kv.blocks());
  }
  return sum;
}

int64_t MissingBlocks(const Replica& replica) {
  int64_t missing = 0;
  for (const Sequence* sequence : replica.running()) {
    missing += std::max<int64_t>(
        0, replica.blocks().BlocksOf(sequence->final_tokens()) -
               sequence->kv.blocks());
  }
  return missing;
}

void Form(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  int64_t budget = options.max_batched_tokens;
  ContinueRunning(replica, /*decoding=*/true, &budget, batch);
  ContinueRunning(replica, /*decoding=*/false, &budget, batch);
  if (replica->waiting().empty()) return;
  int64_t promised = PromisedBlocks(*replica);
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() && budget > 0 &&
         replica->running().size() < max_running) {
    const Sequence& next = *replica->waiting().front();
    promised +=
        replica->blocks().BlocksOf(next.final_tokens()) - next.kv.blocks();
    if (promised > options.num_blocks) return;
    const int64_t tokens = replica->Admit(
        {.max_tokens = budget, .may_split = options.chunked_prefill}, batch);
    if (tokens == 0) return;
    budget -= tokens;
  }
}

// A sequence is never preempted, so that no step computes its output again with
// its prompt. In a pool for decoding this limits nothing, as prompts come there
// with their caches.
int64_t MaxPrompt(const BatchingOptions& options) {
  return options.chunked_prefill ? TokensOfAllBlocks(options)
                                 : options.max_batched_tokens;
}

constexpr std::string_view kOptions[] = {"max_batched_tokens",
                                         "chunked_prefill"};

}  // namespace

const SchedulerKind& TrtllmScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "trtllm",
      .meaning = "TensorRT-LLM: admits what fits with its whole output",
      .form = Form,
      .max_tokens = TokensOfAllBlocks,
      .max_prompt_tokens = MaxPrompt,
      .promised_blocks = MissingBlocks,
      .frees_windows = true,
      .defaults = {.block_tokens = 32,
                   .prefix_caching = true,
                   .max_batched_tokens = 8192,
                   .max_sequences = 256,
                   .chunked_prefill = false},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
