// Orca: the batch changes from step to step. Each step computes one token of
// each running sequence together with the whole prompts of new ones. A sequence
// starts with blocks for the longest sequence that is allowed, so none is ever
// preempted.
//
// Sources: G. Yu et al., "Orca: a distributed serving system for
// transformer-based generative models", OSDI 2022; Vidur (microsoft/vidur),
// vidur/scheduler/replica_scheduler/orca_replica_scheduler.py.

#include <string_view>

#include "workload/serving/schedulers/registry.h"
#include "workload/serving/schedulers/reserved_sequences.h"

namespace astra {
namespace {

void Form(Replica* replica, Batch* batch) {
  ContinueAll(replica, batch);
  AdmitReserved(replica, batch);
}

constexpr std::string_view kOptions[] = {"max_sequence_tokens"};

}  // namespace

const SchedulerKind& OrcaScheduler() {
  static constexpr SchedulerKind kKind = {
      .name = "orca",
      .meaning = "Orca: decodes and whole prompts; room for the longest",
      .form = Form,
      .max_tokens = MaxReservedTokens,
      .defaults = {.max_sequences = 128, .max_sequence_tokens = 4096},
      .options = kOptions,
  };
  return kKind;
}

}  // namespace astra
