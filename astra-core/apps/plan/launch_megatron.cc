#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/plan/launch_parts.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/generator/sharding.h"
#include "workload/modules/recompute_module.h"

namespace astra {
namespace {

// Returns the parts of the pipeline as Megatron-LM writes them, such as
// "Etttt|tttt|ttttL".
std::string PipelineLayout(const std::vector<int64_t>& layers) {
  std::string text = "E";
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) text += '|';
    text.append(static_cast<size_t>(layers[i]), 't');
  }
  return text + "L";
}

bool IsEven(const std::vector<int64_t>& layers) {
  return std::adjacent_find(layers.begin(), layers.end(),
                            std::not_equal_to<>()) == layers.end();
}

void AppendPipeline(const LaunchJob& launch, OptionLines& lines, Notes& notes) {
  const Layout& layout = launch.layout;
  lines.Number("pipeline-model-parallel-size", layout.pipeline);
  if (layout.pipeline == 1) return;
  if (layout.schedule != DefaultSchedule(layout.virtual_stages)) {
    NoteSchedule(launch, "Megatron-LM", notes);
  }
  if (!IsEven(launch.layers)) {
    lines.Word("pipeline-model-parallel-layout", PipelineLayout(launch.layers));
  } else if (layout.virtual_stages > 1) {
    lines.Number("num-virtual-stages-per-pipeline-rank", layout.virtual_stages);
  }
}

void AppendOrder(const LaunchJob& launch, OptionLines& lines, Notes& notes) {
  const RankOrder& order = launch.layout.order;
  if (order == RankOrder()) return;
  if (Name(order) != "tp-cp-ep-pp-dp") {
    NoteOrder(launch, "Megatron-LM", notes);
    return;
  }
  lines.Flag("use-tp-pp-dp-mapping");
  const DenseAndExpert replicas = ReplicasOf(launch.setup);
  if (launch.setup.data() == replicas.expert) return;
  notes.emplace_back(
      "Megatron-LM takes --use-tp-pp-dp-mapping only where experts have as "
      "many replicas as DP; TP x CP must be ETP x EP");
}

void AppendExperts(const LaunchJob& launch, OptionLines& lines, Notes& notes) {
  if (!launch.job.model.experts) return;
  const Layout& layout = launch.layout;
  lines.Number("expert-model-parallel-size", layout.expert);
  lines.Number("expert-tensor-parallel-size", layout.expert_tensor);
  lines.Flag("moe-shared-expert-overlap", launch.setup.shared_expert_overlap);
  if (!launch.dispatcher) {
    lines.Word("moe-token-dispatcher-type", "alltoall");
    return;
  }
  if (!launch.dispatcher->starts_with("deepep")) {
    notes.push_back(fmt::format("Megatron-LM has no option for dispatcher {}",
                                *launch.dispatcher));
    return;
  }
  lines.Word("moe-token-dispatcher-type", "flex");
  lines.Flag("moe-enable-deepep");
}

void AppendMegatronRecompute(const LaunchJob& launch, OptionLines& lines,
                             Notes& notes) {
  const RecomputeChoice& recompute = launch.layout.recompute;
  if (recompute.kind == Recompute::kSelective) {
    const RecomputeModules modules = launch.setup.recompute_modules;
    if (modules.Has(RecomputeModule::kOperators)) {
      notes.emplace_back("Megatron-LM cannot recompute by operators (op)");
      return;
    }
    lines.Word("recompute-granularity", "selective");
    lines.Word("recompute-modules",
               fmt::format("{}", fmt::join(NamesOf(modules), " ")));
  } else if (recompute.kind == Recompute::kFull) {
    lines.Word("recompute-granularity", "full");
    lines.Word("recompute-method",
               kRecomputeMethodNames[static_cast<size_t>(recompute.method)]);
    lines.Number("recompute-num-layers",
                 std::max<int64_t>(1, recompute.layers));
  }
}

void AppendSharding(const LaunchJob& launch, OptionLines& lines) {
  const TrainingSetup& setup = launch.setup;
  lines.Flag("use-distributed-optimizer", setup.zero == Zero::kOptimizer);
  lines.Flag("overlap-grad-reduce", setup.overlap_gradients);
  lines.Flag("overlap-param-gather", setup.overlap_parameters);
  lines.Flag("tp-comm-overlap", setup.tensor_overlap);
  if (setup.zero < Zero::kGradients) return;
  lines.Flag("use-megatron-fsdp");
  lines.Word("data-parallel-sharding-strategy", setup.zero == Zero::kGradients
                                                    ? "optim_grads"
                                                    : "optim_grads_params");
}

}  // namespace

std::vector<NamedFile> MegatronFiles(const LaunchJob& launch, Notes& notes) {
  constexpr std::string_view kContextMethods[] = {"p2p", "all_gather", "a2a"};
  const Layout& layout = launch.layout;
  OptionLines lines;
  lines.Number("num-layers", launch.job.model.layers);
  lines.Number("hidden-size", launch.job.model.hidden);
  lines.Number("seq-length", launch.setup.positions);
  lines.Number("tensor-model-parallel-size", layout.tensor);
  AppendPipeline(launch, lines, notes);
  AppendOrder(launch, lines, notes);
  if (layout.context > 1) {
    lines.Number("context-parallel-size", layout.context);
    lines.Word("cp-comm-type",
               kContextMethods[static_cast<size_t>(layout.context_method)]);
  }
  AppendExperts(launch, lines, notes);
  lines.Number("micro-batch-size", layout.micro_batch);
  lines.Number("global-batch-size", launch.setup.global_batch);
  lines.Flag("sequence-parallel", layout.sequence_parallel);
  AppendSharding(launch, lines);
  AppendMegatronRecompute(launch, lines, notes);
  return {{"megatron.txt", lines.text()}};
}

}  // namespace astra
