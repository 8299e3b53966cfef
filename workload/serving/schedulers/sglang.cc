// SGLang: new prompts first, and a cache of prefixes in single tokens.
//
// A step is either prompts or one token of each decoding sequence. Prompts come
// whenever any fits: at most `max_prefill_tokens` positions, of which the last
// prompt is cut to `chunk_tokens` and goes on in the next step. A sequence
// starts if there is room for what it computes, for its output (at most
// `max_expected_tokens` of it), and for a share of the remaining output of all
// that decode. This share, the new token ratio, begins at `new_token_ratio` and
// falls by equal steps to `min_new_token_ratio`.
//
// If there is no room for the next token of all, the sequence with the shortest
// output is retracted, of equal ones the one with the longest prompt. It waits
// behind the others, and its prefix stays in the cache while there is room. The
// ratio then becomes the share of output that the others have, after
// `retract_decode_steps` more steps.
//
// With `mixed_chunk`, steps of prompts also compute a token of each decoding
// sequence, whose positions count among those of prompts, if all have room.
//
// `prefill_delay` holds new prompts back; see prefill_delay.h.
//
// Source: sgl-project/sglang, python/sglang/srt/managers: schedule_policy.py
// (PrefillAdder), schedule_batch.py (retract_decode) and scheduler.py; policy
// fcfs.

#include <algorithm>
#include <string_view>

#include "workload/serving/schedulers/registry.h"

namespace astra {
namespace {

int64_t ExpectedTokens(const Sequence& sequence) {
  return std::max<int64_t>(0, sequence.target - sequence.generated);
}

int64_t NumDecoding(const Replica& replica) {
  return std::count_if(
      replica.running().begin(), replica.running().end(),
      [](const Sequence* sequence) { return sequence->is_decoding(); });
}

// Returns the room, in positions, that a sequence takes which grows: that of
// the new positions, and of what it holds beside them.
int64_t RoomToGrow(int64_t from, int64_t to, const BatchingOptions& options) {
  return to - from +
         (HeldBlocksOf(to, options) - HeldBlocksOf(from, options)) *
             options.block_tokens;
}

// Returns the room that decoding sequences leave for new ones.
double RoomForPrompts(const Replica& replica) {
  const BatchingOptions& options = replica.options();
  double room =
      static_cast<double>(replica.blocks().available() * options.block_tokens);
  for (const Sequence* sequence : replica.running()) {
    if (sequence->todo() > 0 && !sequence->is_decoding()) continue;
    const int64_t expected =
        std::min(ExpectedTokens(*sequence), options.max_expected_tokens);
    const int64_t known = sequence->known();
    room -= static_cast<double>(RoomToGrow(known, known + expected, options)) *
            replica.new_token_ratio;
  }
  return room;
}

void AddPrompts(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  const int64_t decodes = options.mixed_chunk ? NumDecoding(*replica) : 0;
  int64_t chunk = options.chunk_tokens - decodes;
  int64_t input = options.max_prefill_tokens - decodes;
  double room = RoomForPrompts(*replica);
  for (Sequence* const sequence : replica->running()) {
    // At most one is neither decoding nor under way.
    if (sequence->is_decoding() || sequence->todo() == 0) continue;
    const int64_t tokens = std::min(sequence->todo(), chunk);
    if (!replica->Continue(sequence, tokens, false, batch)) return;
    chunk -= tokens;
    input -= tokens;
    const int64_t before = sequence->scheduled();
    room -= static_cast<double>(RoomToGrow(before, before + tokens, options));
    if (tokens < sequence->todo()) return;
  }
  if (!replica->may_start_prompts) return;
  const size_t max_running = static_cast<size_t>(options.max_sequences);
  while (!replica->waiting().empty() && chunk > 0 && input > 0 &&
         replica->running().size() < max_running) {
    const Sequence& next = *replica->waiting().front();
    const int64_t cached = replica->CachedOfNext();
    const int64_t todo = next.known() - cached;
    const int64_t expected =
        std::min(ExpectedTokens(next), options.max_expected_tokens);
    // Without blocks of its own it does not hold what goes with them yet.
    const int64_t missing =
        next.kv.blocks() > 0 ? 0 : HeldBlocksOf(cached, options);
    const int64_t needed =
        RoomToGrow(cached, next.known() + expected, options) +
        missing * options.block_tokens;
    if (static_cast<double>(needed) >= room) return;
    if (todo >= input && !batch->empty()) return;
    const int64_t tokens =
        replica->Admit({.max_tokens = chunk, .may_split = true}, batch);
    if (tokens == 0 || tokens < todo) return;
    chunk -= tokens;
    input -= tokens;
    room -= static_cast<double>(needed);
  }
}

// Returns whether all running sequences have room for their next token.
bool CanDecode(const Replica& replica) {
  int64_t missing = 0;
  for (const Sequence* sequence : replica.running()) {
    missing += std::max<int64_t>(
        0, replica.blocks().BlocksOf(sequence->known() + sequence->drafts) -
               sequence->kv.blocks());
  }
  return missing <= replica.blocks().available();
}

void Retract(Replica* replica) {
  while (!CanDecode(*replica)) {
    Sequence* const victim = *std::min_element(
        replica->running().begin(), replica->running().end(),
        [](const Sequence* a, const Sequence* b) {
          const bool is_held = a->under_way > 0;
          if (is_held != (b->under_way > 0)) return !is_held;
          if (a->generated != b->generated) return a->generated < b->generated;
          return a->request.prompt_tokens > b->request.prompt_tokens;
        });
    if (victim->under_way > 0) break;
    replica->Preempt(victim, /*to_front=*/false);
  }
  int64_t generated = 0;
  int64_t all = 1;
  for (const Sequence* sequence : replica->running()) {
    generated += sequence->generated + replica->options().retract_decode_steps;
    all += sequence->target;
  }
  replica->new_token_ratio =
      std::min(1.0, static_cast<double>(generated) / static_cast<double>(all));
}

void MixDecodes(Replica* replica, Batch* batch) {
  if (!CanDecode(*replica)) return;
  for (Sequence* const sequence : replica->running()) {
    if (!sequence->is_decoding()) continue;
    if (!replica->Continue(sequence, 1, false, batch)) return;
  }
}

void Form(Replica* replica, Batch* batch) {
  const BatchingOptions& options = replica->options();
  double& ratio = replica->new_token_ratio;
  if (replica->running().empty()) ratio = options.new_token_ratio;
  AddPrompts(replica, batch);
  if (!batch->empty()) {
    if (options.mixed_chunk) MixDecodes(replica, batch);
    return;
  }
  if (replica->running().empty()) return;
  if (!CanDecode(*replica)) {
    Retract(replica);
  } else if (ratio > options.min_new_token_ratio) {
    const double fall = options.new_token_ratio - options.min_new_token_ratio;
    ratio = std::max(
        options.min_new_token_ratio,
        ratio - fall / static_cast<double>(options.new_token_decay_steps));
  }
  for (size_t i = 0; i < replica->running().size(); ++i) {
    Sequence* const sequence = replica->running()[i];
    const int64_t tokens = std::min(sequence->todo(), options.chunk_tokens);
    if (tokens == 0) continue;
    if (!replica->ContinueOrPreempt(sequence, tokens, false, batch)) return;
  }
}

// The room must exceed what a sequence needs alone.
int64_t MaxTokens(const BatchingOptions& options) {
  return TokensOfAllBlocks(options) - 1;
}

constexpr std::string_view kOptions[] = {
    "chunk_tokens",         "max_prefill_tokens",    "new_token_ratio",
    "min_new_token_ratio",  "new_token_decay_steps", "max_expected_tokens",
    "retract_decode_steps", "mixed_chunk",           "prefill_delay"};

}  // namespace

const SchedulerKind& SglangScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "sglang",
      .meaning = "SGLang: new prompts first, prefix cache, retraction",
      .form = Form,
      .max_tokens = MaxTokens,
      .frees_windows = true,
      .defaults = {.block_tokens = 1,
                   .prefix_caching = true,
                   .max_sequences = 256,
                   .chunk_tokens = 8192,
                   .max_prefill_tokens = 16384},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
