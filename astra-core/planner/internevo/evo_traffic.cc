#include "astra-core/planner/internevo/evo_traffic.h"

#include "astra-core/base/check.h"
#include "astra-core/planner/internevo/evo_messages.h"

namespace astra {
namespace {

// Adds the messages of one group, `size` ranks from `first`, `stride` apart.
void AddGroup(const EvoMessages& messages, int64_t first, const EvoRanks& ranks,
              TrafficMatrix& matrix) {
  const auto size = static_cast<double>(ranks.size);
  const double bytes = messages.bytes * messages.count;
  const auto rank = [&](int64_t i) {
    return first + i % ranks.size * ranks.stride;
  };
  for (int64_t i = 0; i < ranks.size; ++i) {
    if (messages.op == EvoOp::kAllToAll) {
      for (int64_t other = 1; other < ranks.size; ++other) {
        matrix.Add(rank(i), rank(i + other), bytes / size);
      }
      continue;
    }
    const double passes = messages.op == EvoOp::kAllReduce ? 2 : 1;
    matrix.Add(rank(i), rank(i + 1), passes * bytes * (size - 1) / size);
  }
}

class TrafficCounter {
 public:
  TrafficCounter(int64_t world, const EvoLayout& layout)
      : layout_(layout), matrix_(world) {}

  // Adds `messages`, `times` of them, on the ranks of one stage.
  void Add(const std::vector<EvoMessages>& messages, int64_t stage,
           double times) {
    const int64_t stage_ranks = matrix_.ranks() / layout_.pipeline;
    for (EvoMessages some : messages) {
      const EvoRanks ranks = RanksOf(some.part, layout_, matrix_.ranks());
      if (ranks.size == 1) continue;
      some.count *= times;
      const int64_t block = ranks.size * ranks.stride;
      for (int64_t begin = 0; begin < stage_ranks; begin += block) {
        for (int64_t i = 0; i < ranks.stride; ++i) {
          AddGroup(some, stage * stage_ranks + begin + i, ranks, matrix_);
        }
      }
    }
  }

  // Adds activations to the next stage and gradients back.
  void AddStages(double bytes) {
    const int64_t stage_ranks = matrix_.ranks() / layout_.pipeline;
    for (int64_t rank = 0; rank + stage_ranks < matrix_.ranks(); ++rank) {
      matrix_.Add(rank, rank + stage_ranks, bytes);
      matrix_.Add(rank + stage_ranks, rank, bytes);
    }
  }

  TrafficMatrix Take() { return std::move(matrix_); }

 private:
  const EvoLayout& layout_;
  TrafficMatrix matrix_;
};

}  // namespace

TrafficMatrix TrafficOf(const EvoModel& model, int64_t seq_len, int64_t world,
                        const EvoLayout& layout) {
  ASTRA_CHECK(world <= kMostTrafficRanks, "{} ranks", world);
  TrafficCounter counter(world, layout);
  const auto micro_batches = static_cast<double>(layout.micro_num);
  const EvoStepMessages step = StepMessages(model, layout);
  for (int64_t stage = 0; stage < layout.pipeline; ++stage) {
    const auto blocks = static_cast<double>(
        BlocksOfStage(model.layers, layout.pipeline, stage));
    counter.Add(BlockMessages(model, seq_len, layout), stage,
                blocks * micro_batches);
    counter.Add(step.reductions, stage, 1);
    counter.Add(step.broadcasts, stage, 1);
    counter.Add(step.broadcasts_beside, stage, 1);
  }
  counter.Add(EmbeddingMessages(model, seq_len, layout), 0, micro_batches);
  counter.Add(HeadMessages(model, seq_len, layout), layout.pipeline - 1,
              micro_batches);
  counter.AddStages(micro_batches *
                    StageMessages(model, seq_len, layout).bytes);
  return counter.Take();
}

}  // namespace astra
