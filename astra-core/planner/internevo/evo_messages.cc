#include "astra-core/planner/internevo/evo_messages.h"

#include <algorithm>

namespace astra {
namespace {

// Returns the bytes of the hidden states of a micro-batch.
double StateBytes(const EvoModel& model, int64_t seq_len,
                  const EvoLayout& layout) {
  return kBf16Bytes * static_cast<double>(layout.micro_bsz) *
         static_cast<double>(seq_len) * static_cast<double>(model.hidden);
}

}  // namespace

EvoRanks RanksOf(EvoPart part, const EvoLayout& layout, int64_t world) {
  switch (part) {
    case EvoPart::kSequence:
      return {layout.sequence, 1};
    case EvoPart::kWeight:
      return {layout.weight, 1};
    case EvoPart::kData:
      return {DataReplicas(layout, world), layout.sequence};
    case EvoPart::kWeightReplicas:
      return {WeightReplicas(layout, world), WeightStride(layout)};
    case EvoPart::kZero:
      return {layout.zero, WeightStride(layout)};
    case EvoPart::kStages:
      break;
  }
  return {std::min<int64_t>(layout.pipeline, 2), world / layout.pipeline};
}

std::vector<EvoMessages> BlockMessages(const EvoModel& model, int64_t seq_len,
                                       const EvoLayout& layout) {
  const double state = StateBytes(model, seq_len, layout);
  const double forwards = 1 + layout.checkpoint;
  std::vector<EvoMessages> messages;
  if (layout.mode != EvoMode::kIsp) {
    const double again = layout.mode == EvoMode::kFsp ? 2 : 0;
    messages.push_back({EvoOp::kAllGather, EvoPart::kSequence, state,
                        2 * forwards + 2 + again});
    messages.push_back(
        {EvoOp::kReduceScatter, EvoPart::kSequence, state, 2 * forwards + 2});
    return messages;
  }
  const double split = state / static_cast<double>(layout.sequence);
  // Queries and output; keys and values.
  for (const double bytes : {split, split * model.kv_share()}) {
    messages.push_back(
        {EvoOp::kAllToAll, EvoPart::kSequence, bytes, 2 * (forwards + 1)});
  }
  for (const double weights : BlockWeights(model)) {
    messages.push_back(
        {EvoOp::kAllGather, EvoPart::kWeight, kBf16Bytes * weights, 2});
    messages.push_back(
        {EvoOp::kReduceScatter, EvoPart::kWeight, kBf16Bytes * weights, 1});
  }
  return messages;
}

std::vector<EvoMessages> EmbeddingMessages(const EvoModel& model,
                                           int64_t seq_len,
                                           const EvoLayout& layout) {
  return {{EvoOp::kAllGather, EvoPart::kSequence,
           StateBytes(model, seq_len, layout), 2}};
}

std::vector<EvoMessages> HeadMessages(const EvoModel& model, int64_t seq_len,
                                      const EvoLayout& layout) {
  const double state = StateBytes(model, seq_len, layout);
  const double gathers = layout.mode == EvoMode::kFsp ? 2 : 1;
  return {{EvoOp::kAllGather, EvoPart::kSequence, state, gathers},
          {EvoOp::kReduceScatter, EvoPart::kSequence, state, 1}};
}

EvoMessages StageMessages(const EvoModel& model, int64_t seq_len,
                          const EvoLayout& layout) {
  const int64_t ends = 2 * std::min(layout.pipeline, layout.micro_num);
  const int64_t count = layout.pipeline == 1 ? 0 : ends + layout.micro_num - 1;
  return {
      EvoOp::kP2p, EvoPart::kStages,
      StateBytes(model, seq_len, layout) / static_cast<double>(layout.sequence),
      static_cast<double>(count)};
}

EvoOwned OwnedParameters(const EvoModel& model, const EvoLayout& layout) {
  const auto blocks =
      static_cast<double>(MostBlocks(model.layers, layout.pipeline));
  const double tables = layout.pipeline == 1 ? 2 : 1;
  return {blocks * BlockParameters(model) /
              static_cast<double>(WeightStride(layout)),
          tables * EmbeddingParameters(model) /
              static_cast<double>(layout.sequence)};
}

EvoStepMessages StepMessages(const EvoModel& model, const EvoLayout& layout) {
  const EvoOwned owned = OwnedParameters(model, layout);
  const double blocks = kBf16Bytes * owned.blocks;
  const double embedding = kBf16Bytes * owned.embedding;
  const auto zero = static_cast<double>(layout.zero);
  if (layout.mode != EvoMode::kIsp) {
    const double all = blocks + embedding;
    return {
        .reductions = {{EvoOp::kAllReduce, EvoPart::kWeightReplicas, all, 1}},
        .broadcasts = {{EvoOp::kBroadcast, EvoPart::kZero, all / zero, zero}},
        .broadcasts_beside = {}};
  }
  return {
      .reductions = {{EvoOp::kAllReduce, EvoPart::kWeightReplicas, blocks, 1},
                     {EvoOp::kAllReduce, EvoPart::kData, embedding, 1}},
      .broadcasts = {{EvoOp::kBroadcast, EvoPart::kZero, blocks / zero, zero}},
      .broadcasts_beside = {{EvoOp::kBroadcast, EvoPart::kData, embedding, 1}}};
}

}  // namespace astra
