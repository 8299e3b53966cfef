// FasterTransformer: a batch of requests is formed when the batch before it has
// ended as a whole. Its first step computes all prompts, and each further step
// one token of each sequence that has not ended. A sequence starts with blocks
// for the longest sequence that is allowed. Sequences that have ended take no
// time, as in Vidur; the real one pads them.
//
// Sources: NVIDIA/FasterTransformer; Vidur (microsoft/vidur),
// vidur/scheduler/replica_scheduler/faster_transformer_replica_scheduler.py.

#include <string_view>

#include "workload/serving/schedulers/registry.h"
#include "workload/serving/schedulers/reserved_sequences.h"

namespace astra {
namespace {

void Form(Replica* replica, Batch* batch) {
  ContinueAll(replica, batch);
  if (batch->empty()) AdmitReserved(replica, batch);
}

constexpr std::string_view kOptions[] = {"max_sequence_tokens"};

}  // namespace

const SchedulerKind& FasterTransformerScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "faster-transformer",
      .meaning = "FasterTransformer: one batch of requests after the other",
      .form = Form,
      .max_tokens = MaxReservedTokens,
      .defaults = {.max_sequences = 128, .max_sequence_tokens = 4096},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
