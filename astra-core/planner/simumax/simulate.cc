#include "astra-core/planner/simumax/simulate.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/simumax/blocking_pipeline.h"
#include "astra-core/planner/simumax/training.h"
#include "fmt/core.h"
#include "workload/generator/module_times.h"
#include "workload/generator/sharding.h"
#include "workload/generator/timed_program.h"
#include "workload/modules/embedding.h"
#include "workload/operators/compute_model.h"

namespace astra {
namespace {

// Times nothing: the program is there for its memory.
class NoTimes : public ComputeModel {
 public:
  OperatorTime TimeOf(const Operator& /*op*/) const override {
    OperatorTime time;
    time.time = TimePs(1);
    return time;
  }
};

SimumaxDataParallel DataOf(const SimumaxFiles& files, SimumaxGroup group,
                           double parameters, SimumaxCosts& costs) {
  constexpr double kLeastBucket = 40e6;
  constexpr double kBucketOfRank = 1e6;
  constexpr double kFloatBytes = 4;
  const int64_t ranks = costs.RanksOf(group);
  const double bucket =
      kFloatBytes *
      std::max(kLeastBucket, kBucketOfRank * static_cast<double>(ranks));
  const bool is_dense = group == SimumaxGroup::kData;
  const auto of = [&](std::string_view op) {
    return costs
        .Of(SimumaxTransfer{.op = op,
                            .group = group,
                            .bytes = bucket,
                            .stage = is_dense ? "dp_cp" : "edp"})
        .net_ms;
  };
  const auto buckets = [bucket](double bytes) {
    return std::floor((bytes - 1) / bucket) + 1;
  };
  SimumaxDataParallel data;
  const double gradients =
      static_cast<double>(files.strategy.gradient_bytes) * parameters;
  const double weights = kValueBytes * parameters;
  if (files.strategy.zero == 0) {
    data.reduce_ms = buckets(gradients) * of("all_reduce");
  } else {
    const double gathers = files.model.is_moe ? 2 : 1;
    data.reduce_ms = buckets(gradients) * of("reduce_scatter");
    data.gather_ms = gathers * buckets(weights) * of("all_gather");
  }
  if (ranks > 1) {
    data.gradient_bytes = gradients;
    data.parameter_bytes = weights;
  }
  return data;
}

SimumaxOptimizer OptimizerOf(const SimumaxStrategy& strategy, double gradients,
                             double states, SimumaxCosts& costs) {
  const auto move = [&costs](double bytes) {
    return costs.MemoryMs("default", bytes);
  };
  constexpr double kStatesOfFloat = 3;  // Weight and two moments in FP32.
  const double weights = states / kStatesOfFloat;
  constexpr double kFloatBytes = 4;
  const double share =
      weights * static_cast<double>(strategy.gradient_bytes) / kFloatBytes;
  const bool has_replicas = strategy.data() * strategy.context > 1;
  return {.zero_gradients_ms = move(gradients),
          .norm_before_ms = move(gradients),
          .scale_before_ms = has_replicas ? move(2 * gradients) : 0,
          .norm_after_ms = move(share),
          .clip_ms = move(2 * share),
          .adam_ms = move(share + 3 * states),
          .copy_ms = move(1.5 * weights)};
}

double StragglerRatio(const SimumaxFiles& files) {
  const SimumaxStrategy& strategy = files.strategy;
  const int64_t node = files.system.gpus_per_node;
  const int64_t samples = std::min({(strategy.gpus + node - 1) / node,
                                    strategy.data(), strategy.expert_data()});
  if (!strategy.has_stragglers || samples <= 1) return 1;
  constexpr double kOfOneDoubling = 0.09;
  const double x = std::log2(static_cast<double>(samples));
  return 1 + x / (x + 1) * kOfOneDoubling * std::sqrt(x);
}

// Builds the stages of a result.
class StageMaker {
 public:
  StageMaker(const SimumaxFiles& files, const SimumaxTraining& training,
             const Program& program, SimumaxCosts& costs)
      : files_(files), training_(training), program_(program), costs_(costs) {}

  SimumaxStage Make(const ProgramStage& stage, int64_t rank,
                    const StageMemory& memory,
                    const std::vector<SimumaxChunkCost>& chunks) const {
    SimumaxStage made;
    made.rank = rank;
    made.layers = LayersOf(stage);
    for (const SimumaxChunkCost& chunk : chunks) made.cost += chunk;
    const StageTotals totals = Sum(training_.blueprint, stage);
    const auto dense = static_cast<double>(totals.parameters);
    const auto expert = static_cast<double>(totals.expert_parameters);
    const auto replicated = static_cast<double>(totals.replicated_parameters);
    const SimumaxStrategy& strategy = files_.strategy;
    made.dense_parameters =
        replicated +
        (dense - replicated) * static_cast<double>(strategy.tensor);
    made.expert_parameters =
        expert * static_cast<double>(strategy.expert * strategy.expert_tensor);
    made.dense_data = DataOf(files_, SimumaxGroup::kData, dense, costs_);
    made.expert_data =
        DataOf(files_, SimumaxGroup::kExpertData, expert, costs_);
    SetStates(stage, dense, expert, made);
    made.optimizer =
        OptimizerOf(strategy, made.dense.gradients + made.experts.gradients,
                    made.dense.optimizer + made.experts.optimizer, costs_);
    made.memory = memory;
    made.saved_bytes = SavedOf(stage);
    made.peak_path = PeakPath(memory);
    made.modules = RunsOf(stage);
    return made;
  }

 private:
  void SetStates(const ProgramStage& stage, double dense, double expert,
                 SimumaxStage& made) const {
    for (const ModuleId id : stage.after) {
      made.unused_gradients +=
          static_cast<double>(program_.module(id).memory.gradients.count());
    }
    const DenseAndExpert sharers = SharersOf(training_.setup);
    const auto of = [&](double parameters, int64_t ranks) {
      constexpr double kStateBytes = 12;
      const auto gradient_bytes =
          static_cast<double>(training_.setup.gradient_bytes);
      return SimumaxStates{
          .weights = kValueBytes * parameters,
          .gradients = gradient_bytes * parameters,
          .optimizer = kStateBytes * parameters / static_cast<double>(ranks)};
    };
    made.dense = of(dense, sharers.dense);
    made.experts = of(expert, sharers.expert);
  }

  // Counts the norms before attention, of which a block has one.
  int64_t LayersOf(const ProgramStage& stage) const {
    int64_t layers = 0;
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        const MockModule& module = training_.blueprint.modules[id.index()];
        for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
          if (step.part_of.Has(RecomputeModule::kAttentionNorm)) {
            layers += run.times;
          }
        }
      }
    }
    return layers;
  }

  double SavedOf(const ProgramStage& stage) const {
    std::vector<int64_t> chunks(static_cast<size_t>(files_.strategy.chunks));
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        chunks[static_cast<size_t>(run.chunk)] +=
            run.times * program_.module(id).memory.saved.count();
      }
    }
    return static_cast<double>(*std::max_element(chunks.begin(), chunks.end()));
  }

  std::vector<std::string> RunsOf(const ProgramStage& stage) const {
    std::vector<std::string> texts;
    for (const ModuleRun& run : stage.runs) {
      std::string text = fmt::format("{} x", run.times);
      for (const ModuleId id : run.modules) {
        text += fmt::format(" {}", program_.module(id).name);
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  std::string PeakPath(const StageMemory& memory) const {
    const std::string& module = program_.module(memory.module).name;
    if (!memory.slot) return fmt::format("{}, stage=[optimizer]", module);
    return fmt::format(
        "{}, stage=[{}]", module,
        memory.slot->kind == SlotKind::kForward ? "forward" : "backward");
  }

  const SimumaxFiles& files_;
  const SimumaxTraining& training_;
  const Program& program_;
  SimumaxCosts& costs_;
};

absl::StatusOr<PipelineShape> ShapeOf(const SimumaxStrategy& strategy) {
  const PipelineShape shape = {.stages = strategy.pipeline,
                               .chunks = strategy.chunks,
                               .micro_batches = strategy.micro_batches};
  if (shape.stages * shape.chunks <=
      kMaxPipelineSlots / (2 * shape.micro_batches)) {
    return shape;
  }
  return absl::InvalidArgumentError(fmt::format(
      "{}:1:1: {} micro-batches of {} stages with {} chunks each: expected at "
      "most {} forward and backward slots in all",
      strategy.file, shape.micro_batches, shape.stages, shape.chunks,
      kMaxPipelineSlots));
}

// Sets the stages and the time of the pipeline.
absl::Status RunStages(const SimumaxTraining& training, SimumaxCosts& costs,
                       SimumaxResult& result) {
  const SimumaxFiles& files = result.files;
  const SimumaxStrategy& strategy = files.strategy;
  const NoTimes no_times;
  ASTRA_ASSIGN_OR_RETURN(
      const Program program,
      TimeProgram(training.blueprint, ModuleTimes(no_times)));
  ASTRA_ASSIGN_OR_RETURN(const PipelineShape shape, ShapeOf(strategy));
  const StageMaker maker(files, training, program, costs);
  SimumaxModuleCosts modules(files.model, strategy, costs);
  const std::vector<StageMemory> memories = MemoryOf(program);
  std::vector<std::vector<ChunkTimes>> times;
  for (const ProgramStage& stage : training.blueprint.stages) {
    std::vector<SimumaxChunkCost> chunks;
    std::vector<ChunkTimes> of_chunks;
    for (int64_t chunk = 0; chunk < strategy.chunks; ++chunk) {
      chunks.push_back(modules.OfChunk(training.blueprint, stage, chunk));
      of_chunks.push_back(
          {chunks.back().forward_ms(), chunks.back().backward_ms()});
    }
    for (int64_t i = 0; i < stage.count; ++i) {
      const size_t rank = result.stages.size();
      result.stages.push_back(maker.Make(stage, static_cast<int64_t>(rank),
                                         memories[rank], chunks));
      times.push_back(of_chunks);
    }
  }
  const auto message =
      static_cast<double>(training.blueprint.pipeline_message.count());
  result.message_ms = costs
                          .Of(SimumaxTransfer{.op = "p2p",
                                              .group = SimumaxGroup::kPipeline,
                                              .bytes = message,
                                              .stage = "pp"})
                          .net_ms;
  ASTRA_RETURN_IF_ERROR(costs.status());
  result.pipeline_ms = BlockingPipelineMs(shape, times, result.message_ms);
  return absl::OkStatus();
}

void SetRates(SimumaxResult& result) {
  const SimumaxFiles& files = result.files;
  const SimumaxStrategy& strategy = files.strategy;
  result.tokens = strategy.sequence * strategy.global_batch();
  result.flops_per_token = SimumaxFlopsPerToken(files);
  const auto tokens = static_cast<double>(result.tokens);
  const auto gpus = static_cast<double>(strategy.gpus);
  constexpr double kTera = 1e12;
  const double seconds = result.iteration_ms / kMsPerSecond;
  result.flops_per_gpu = std::floor(result.flops_per_token * tokens / gpus);
  result.tokens_per_gpu = tokens / seconds / gpus;
  result.tflops_per_gpu = result.flops_per_gpu / seconds / kTera;
  result.utilization = result.tflops_per_gpu /
                       files.system.operators.find("default")->second.tflops;
}

}  // namespace

double SimumaxOptimizer::total_ms() const {
  return zero_gradients_ms + norm_before_ms + scale_before_ms + norm_after_ms +
         clip_ms + adam_ms + copy_ms;
}

absl::StatusOr<SimumaxResult> Simulate(const SimumaxFiles& files) {
  SimumaxResult result;
  result.files = files;
  ASTRA_ASSIGN_OR_RETURN(const SimumaxTraining training,
                         TrainingOf(files.model, files.strategy));
  SimumaxCosts costs(result.files.system, result.files.strategy);
  ASTRA_RETURN_IF_ERROR(RunStages(training, costs, result));
  result.straggler_ratio = StragglerRatio(files);
  double most_after = 0;
  for (const SimumaxStage& stage : result.stages) {
    most_after = std::max(most_after, stage.after_ms());
  }
  result.iteration_ms =
      result.straggler_ratio * result.pipeline_ms + most_after;
  result.hits = costs.hits();
  result.misses = costs.misses();
  result.networks = costs.networks();
  SetRates(result);
  return result;
}

namespace {

// The elements of the weights of one block, by SimuMax's formulas.
struct BlockElements {
  double attention = 0;  // Projections of queries, keys, values and output.
  double expert = 0;     // One expert, or the dense part.
};

BlockElements ElementsOf(const SimumaxModel& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(model.heads);
  BlockElements elements;
  constexpr double kGatedMatrices = 3;
  elements.expert = (model.gated ? kGatedMatrices : 2) * hidden *
                    static_cast<double>(model.expert_ffn);
  if (!model.is_latent) {
    const auto size = static_cast<double>(model.head_size);
    const auto kv_heads = static_cast<double>(model.kv_heads);
    elements.attention =
        hidden * size * (heads + 2 * kv_heads) + hidden * hidden;
    return elements;
  }
  const auto rank = static_cast<double>(model.q_lora_rank);
  const auto kv_rank = static_cast<double>(model.kv_lora_rank);
  const auto nope = static_cast<double>(model.nope_head_dim);
  const auto rope = static_cast<double>(model.rope_head_dim);
  const auto v = static_cast<double>(model.v_head_dim);
  elements.attention = rank > 0 ? hidden * rank + rank * heads * (nope + rope)
                                : hidden * heads * (nope + rope);
  elements.attention += hidden * (kv_rank + rope) +
                        kv_rank * heads * (nope + v) + v * heads * hidden;
  return elements;
}

double PaddedWords(const SimumaxFiles& files) {
  const SimumaxModel& model = files.model;
  return static_cast<double>(
      PaddedVocabulary(model.vocabulary, files.strategy.tensor,
                       model.pads_vocabulary ? model.vocabulary_divisor : 0));
}

}  // namespace

double SimumaxParameters(const SimumaxFiles& files, bool only_active) {
  const SimumaxModel& model = files.model;
  const auto hidden = static_cast<double>(model.hidden);
  const BlockElements elements = ElementsOf(model);
  const int64_t experts =
      only_active ? std::max<int64_t>(1, model.top_k) : model.experts;
  const double block = elements.attention + 2 * hidden +
                       static_cast<double>(experts) * elements.expert;
  return 2 * PaddedWords(files) * hidden +
         block * static_cast<double>(model.layers) + hidden;
}

double SimumaxFlopsPerToken(const SimumaxFiles& files) {
  const SimumaxModel& model = files.model;
  constexpr double kFlopsOfWeight = 6;  // Forward and twice backward.
  const auto hidden = static_cast<double>(model.hidden);
  const auto positions = static_cast<double>(files.strategy.sequence);
  const BlockElements elements = ElementsOf(model);
  double experts = 1;
  double router = 0;
  if (model.top_k > 1) {
    experts = static_cast<double>(model.top_k);
    router = hidden * static_cast<double>(model.experts);
  }
  experts += static_cast<double>(model.shared_ffn) /
             static_cast<double>(model.expert_ffn);
  double scores = 2 * positions * hidden;
  if (model.is_latent) {
    scores = positions * static_cast<double>(model.heads) *
             static_cast<double>(model.nope_head_dim + model.rope_head_dim +
                                 model.v_head_dim);
  }
  const double block =
      elements.attention + experts * elements.expert + router + scores;
  return kFlopsOfWeight * (static_cast<double>(model.layers) * block +
                           hidden * PaddedWords(files));
}

}  // namespace astra
