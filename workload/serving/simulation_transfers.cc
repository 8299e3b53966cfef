#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "workload/serving/kv_transfer.h"
#include "workload/serving/serving_simulation.h"

namespace astra {

// Lets the step that has started last send once its first layer is ready.
void ServingSimulation::AwaitFirstLayer(const Worker& worker) {
  std::vector<PromptPart> parts;
  for (const Batch& batch : worker.started()) {
    for (const BatchPart& part : batch) {
      Sequence& sequence = *part.sequence;
      if (sequence.target == sequence.request.output_tokens) continue;
      parts.push_back({&sequence, sequence.scheduled()});
    }
  }
  const TimePs duration = worker.records().front().duration;
  PushAfter(TimePs(duration.count() / options_.transfer_layers), kFirstLayer,
            first_layers_.Add(std::move(parts)));
}

// Sends all but the last layer of what a step computes.
void ServingSimulation::SendFirstLayers(const std::vector<PromptPart>& parts) {
  for (const PromptPart& part : parts) {
    const int64_t sent = part.sequence->transfer.sent;
    Send(part.sequence, std::max<int64_t>(0, part.end - sent),
         1 - 1 / static_cast<double>(options_.transfer_layers));
  }
}

void ServingSimulation::SendLastLayer(Sequence* sequence) {
  KvProgress& progress = sequence->transfer;
  // A preempted prompt that is computed again has sent these positions before.
  const int64_t unsent =
      std::max<int64_t>(0, sequence->computed - progress.sent);
  Send(sequence, unsent, 1 / static_cast<double>(options_.transfer_layers));
  progress.sent += unsent;
}

void ServingSimulation::Send(Sequence* sequence, int64_t tokens, double share) {
  KvProgress& progress = sequence->transfer;
  if (!progress.has_target) {
    progress.has_target = true;
    progress.target = static_cast<uint32_t>(ChooseRank(sequence->request, 1));
    pools_[1].replicas[progress.target]->Expect();
  }
  ++progress.under_way;
  const uint32_t id = transfers_.Add(sequence);
  std::optional<TimePs> duration = TimePs(0);
  if (options_.transfer && tokens > 0) {
    duration = options_.transfer(
        {id, sequence->replica, progress.target, tokens, share});
  }
  if (!duration) return;  // EndTransfer() will be called.
  ASTRA_CHECK(*duration >= TimePs(0), "a transfer takes {}", *duration);
  progress.free_at = std::max(progress.free_at, now_) + *duration;
  PushAfter(progress.free_at - now_, kTransferEnd, id);
}

// Hands the sequence over once all of its cache has arrived.
void ServingSimulation::EndTransfer(uint32_t id) {
  Sequence* const sequence = transfers_.Take(id);
  KvProgress& progress = sequence->transfer;
  if (--progress.under_way > 0 || sequence->generated < sequence->target) {
    return;
  }
  pools_[0].replicas[sequence->replica]->Release(sequence);
  Touch(WorkerOf(pools_[0], sequence->replica));
  sequence->times.kv_arrived = now_;
  if (options_.first_token_from_decode) {
    sequence->times.first_token = sequence->times.last_token = now_;
  }
  sequence->target = sequence->request.output_tokens;
  Pool& pool = pools_[1];
  sequence->replica = pool.first_replica + progress.target;
  pool.replicas[progress.target]->AddExpected(sequence);
  Touch(WorkerOf(pool, progress.target));
}

}  // namespace astra
