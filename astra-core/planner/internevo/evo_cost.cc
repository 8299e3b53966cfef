#include "astra-core/planner/internevo/evo_cost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/planner/internevo/evo_memory.h"
#include "workload/operators/operator.h"

namespace astra {
namespace {

// Share of the shorter of products and collectives that the longer does not
// hide: wp_penalty_coefficient.
constexpr double kUnhidden = 0.1;

// Returns how long computation and collectives take that run side by side.
double Overlapped(double computation, double collectives) {
  return std::max(computation, collectives) +
         kUnhidden * std::min(computation, collectives);
}

double SecondsOf(const ComputeModel& operators, const Operator& op) {
  return ToSeconds(operators.TimeOf(op).time);
}

// Returns the time of a kernel that reads and writes `times` values of 2 bytes
// for each of `elements`.
double StreamSeconds(const EvoJob& job, std::string_view name, double elements,
                     double times) {
  const double bytes = std::max(1.0, kBf16Bytes * elements * times);
  return SecondsOf(*job.operators, {name, Stream{std::llround(bytes)}});
}

// Sizes of one micro-batch on a rank.
struct Sizes {
  double tokens;  // Of all ranks of the group together.
  double split;   // Ranks of the group.
  double hidden;  // Elements of the rank's hidden states.
};
Sizes SizesOf(const EvoJob& job, int64_t micro_bsz, int64_t sequence) {
  const double tokens =
      static_cast<double>(micro_bsz) * static_cast<double>(job.seq_len);
  const auto split = static_cast<double>(sequence);
  return {tokens, split,
          tokens / split * static_cast<double>(job.model.hidden)};
}

double ProductSeconds(const EvoJob& job, const Sizes& sizes, double weights) {
  const double complexity = 2 * sizes.tokens * weights / sizes.split;
  return job.profile->ProductSeconds(complexity) / job.load;
}

void AddAttention(const EvoJob& job, const Sizes& sizes, int64_t micro_bsz,
                  int64_t sequence, EvoWork& work) {
  const EvoModel& model = job.model;
  if (!model.flash_attention) {
    const double scores = ProductSeconds(
        job, sizes,
        static_cast<double>(job.seq_len) * static_cast<double>(model.hidden));
    work.attention_forward = 2 * scores;
    work.attention_backward = 4 * scores;
    return;
  }
  const int64_t size = model.hidden / model.heads;
  Attention attention = {.batch = micro_bsz,
                         .queries = job.seq_len,
                         .keys = job.seq_len,
                         .heads = model.heads / sequence,
                         .kv_heads = model.kv_heads / sequence,
                         .qk_dim = size,
                         .v_dim = size};
  work.attention_forward =
      SecondsOf(*job.operators, {"attention", attention}) / job.load;
  attention.backward = true;
  work.attention_backward =
      SecondsOf(*job.operators, {"attention", attention}) / job.load;
}

// Adds norms and residual sums (twice each), rotary positions of queries and
// keys, and SwiGLU, as workload/modules count what they read and write.
void AddStreams(const EvoJob& job, const Sizes& sizes, EvoWork& work) {
  const double rotated = sizes.hidden * (1 + job.model.kv_share());
  const double inner =
      sizes.tokens * static_cast<double>(job.model.ffn) / sizes.split;
  const auto add = [&](std::string_view name, double count, double elements,
                       double forward, double backward) {
    work.streams_forward += count * StreamSeconds(job, name, elements, forward);
    work.streams_backward +=
        count * StreamSeconds(job, name, elements, backward);
  };
  add("rms_norm", 2, sizes.hidden, 2, 3);
  add("residual_add", 2, sizes.hidden, 3, 3);
  add("rope", 1, rotated, 2, 2);
  add("swiglu", 1, inner, 3, 5);
}

// Returns the collectives that a layout of `mode` runs in the groups of `part`.
absl::Span<const EvoOp> OpsOf(EvoPart part, EvoMode mode) {
  static constexpr EvoOp kSplits[] = {EvoOp::kAllGather, EvoOp::kReduceScatter,
                                      EvoOp::kAllToAll};
  static constexpr EvoOp kReplicas[] = {EvoOp::kAllReduce, EvoOp::kBroadcast};
  static constexpr EvoOp kBroadcasts[] = {EvoOp::kBroadcast};
  static constexpr EvoOp kMessages[] = {EvoOp::kP2p};
  constexpr size_t kWithoutAllToAll = 2;
  const bool is_isp = mode == EvoMode::kIsp;
  switch (part) {
    case EvoPart::kSequence:
      return {kSplits, is_isp ? std::size(kSplits) : kWithoutAllToAll};
    case EvoPart::kWeight:
      return {kSplits, kWithoutAllToAll};
    case EvoPart::kData:
      return {kReplicas, is_isp ? std::size(kReplicas) : 0};
    case EvoPart::kWeightReplicas:
      return {kReplicas, 1};
    case EvoPart::kZero:
      return kBroadcasts;
    case EvoPart::kStages:
      break;
  }
  return kMessages;
}

// Prices messages with the tables of a layout's groups.
class Pricer {
 public:
  Pricer(const EvoJob& job, const EvoLayout& layout) : job_(job) {
    for (const EvoPart part : kEvoParts) {
      const EvoRanks ranks = RanksOf(part, layout, job.cluster.world);
      const std::optional<EvoGroup> group =
          GroupOnServers(ranks.size, ranks.stride, job.cluster.gpus_per_server);
      ASTRA_CHECK(group.has_value(), "a group lies unevenly");
      groups_[static_cast<size_t>(part)] = *group;
    }
  }

  double Seconds(const EvoMessages& messages) const {
    return messages.count *
           job_.profile->Seconds(messages.op,
                                 groups_[static_cast<size_t>(messages.part)],
                                 messages.bytes);
  }
  double Seconds(absl::Span<const EvoMessages> messages) const {
    double sum = 0;
    for (const EvoMessages& some : messages) sum += Seconds(some);
    return sum;
  }

 private:
  const EvoJob& job_;
  EvoGroup groups_[std::size(kEvoParts)];
};

void AddBlock(const EvoJob& job, const EvoLayout& layout, const EvoWork& work,
              const Pricer& pricer, EvoCost& cost) {
  const double forwards = 1 + layout.checkpoint;
  cost.comp_wp = (forwards + 2) * work.products;
  cost.comp_attn = forwards * work.attention_forward + work.attention_backward;
  cost.comp_streams = forwards * work.streams_forward + work.streams_backward;
  for (const EvoMessages& messages :
       BlockMessages(job.model, job.seq_len, layout)) {
    double& sum =
        messages.part == EvoPart::kWeight ? cost.wp_comm : cost.sp_comm;
    sum += pricer.Seconds(messages);
  }
  cost.overlap_latency = Overlapped(cost.comp_wp, cost.wp_comm);
}

// Returns the time in which a rank updates its share of the parameters. For
// each, it reads a gradient for the norm, and then the gradient, a weight in
// FP32 and two moments, and writes these and the weight in BF16.
double OptimizerSeconds(const EvoJob& job, const EvoLayout& layout) {
  constexpr double kNormValues = 1;  // In units of 2 bytes.
  constexpr double kAdamValues = 14;
  const EvoOwned owned = OwnedParameters(job.model, layout);
  const auto zero = static_cast<double>(layout.zero);
  const double tables = EmbeddingShards(layout, job.cluster.world);
  const double share = owned.blocks / zero + owned.embedding / tables;
  return StreamSeconds(job, "gradient_norm", share, kNormValues) +
         StreamSeconds(job, "adam", share, kAdamValues);
}

}  // namespace

EvoWork WorkOf(const EvoJob& job, int64_t micro_bsz, int64_t sequence) {
  const Sizes sizes = SizesOf(job, micro_bsz, sequence);
  EvoWork work;
  for (const double weights : BlockWeights(job.model)) {
    work.products += ProductSeconds(job, sizes, weights);
  }
  AddAttention(job, sizes, micro_bsz, sequence, work);
  AddStreams(job, sizes, work);
  const double logits =
      sizes.tokens * static_cast<double>(job.model.vocabulary) / sizes.split;
  work.head = 3 * ProductSeconds(job, sizes, EmbeddingParameters(job.model)) +
              StreamSeconds(job, "rms_norm", sizes.hidden, 2) +
              StreamSeconds(job, "rms_norm", sizes.hidden, 3) +
              StreamSeconds(job, "cross_entropy", logits, 3) +
              StreamSeconds(job, "cross_entropy", logits, 2);
  work.embedding = StreamSeconds(job, "embedding", sizes.hidden, 2) +
                   StreamSeconds(job, "embedding", sizes.hidden, 5);
  return work;
}

EvoCost CostOf(const EvoJob& job, const EvoLayout& layout,
               const EvoWork& work) {
  const Pricer pricer(job, layout);
  EvoCost cost;
  AddBlock(job, layout, work, pricer, cost);
  const double block =
      cost.overlap_latency + cost.sp_comm + cost.comp_attn + cost.comp_streams;
  const EvoModel& model = job.model;
  cost.head =
      work.head + pricer.Seconds(HeadMessages(model, job.seq_len, layout));
  cost.embedding = work.embedding + pricer.Seconds(EmbeddingMessages(
                                        model, job.seq_len, layout));
  const double ends = cost.head + (layout.pipeline == 1 ? cost.embedding : 0);
  const auto blocks = [&](int64_t stage) {
    return block * static_cast<double>(
                       BlocksOfStage(model.layers, layout.pipeline, stage));
  };
  cost.fwd_bwd =
      std::max(blocks(layout.pipeline - 1) + ends, blocks(0) + cost.embedding);
  const auto micro_batches = static_cast<double>(layout.micro_num);
  cost.all_fwd_bwd = micro_batches * cost.fwd_bwd;
  cost.bubble = static_cast<double>(layout.pipeline - 1) * cost.fwd_bwd;
  cost.p2p = pricer.Seconds(StageMessages(model, job.seq_len, layout));
  const EvoStepMessages step = StepMessages(model, layout);
  const double backward =
      (2 + layout.checkpoint) / (3 + layout.checkpoint) * cost.fwd_bwd;
  cost.wdp_comm =
      Overlapped(backward, pricer.Seconds(step.reductions)) - backward;
  cost.zp_comm = std::max(pricer.Seconds(step.broadcasts),
                          pricer.Seconds(step.broadcasts_beside));
  cost.optimizer = OptimizerSeconds(job, layout);
  cost.total = cost.all_fwd_bwd + cost.bubble + cost.p2p + cost.wdp_comm +
               cost.zp_comm + cost.optimizer;
  cost.tokens = micro_batches * static_cast<double>(layout.micro_bsz) *
                static_cast<double>(job.seq_len) *
                static_cast<double>(DataReplicas(layout, job.cluster.world));
  cost.tgs =
      cost.tokens / (static_cast<double>(job.cluster.world) * cost.total);
  return cost;
}

bool AppendKeys(const EvoLayout& layout, const EvoCluster& cluster,
                std::vector<EvoKey>* keys) {
  for (const EvoPart part : kEvoParts) {
    const EvoRanks ranks = RanksOf(part, layout, cluster.world);
    const std::optional<EvoGroup> group =
        GroupOnServers(ranks.size, ranks.stride, cluster.gpus_per_server);
    if (!group) return false;
    if (group->size() == 1) continue;
    for (const EvoOp op : OpsOf(part, layout.mode)) {
      keys->push_back({op, *group});
    }
  }
  return true;
}

}  // namespace astra
