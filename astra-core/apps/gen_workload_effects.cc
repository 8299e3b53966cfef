#include <string>
#include <string_view>
#include <variant>

#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_options.h"
#include "fmt/core.h"
#include "workload/generator/sharding.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

// How an option that changes nothing is treated.
enum class Verdict : uint8_t {
  kRefused,
  kIllegal,  // Refused as illegal; a sweep leaves the layout out.
  kWarned,   // Often given to every run, whatever the layout.
};

struct Rule {
  std::string_view option;
  bool has_effect;
  Verdict verdict;
  std::string_view why;
};

absl::Status Apply(const CommandLine& flags, absl::Span<const Rule> rules,
                   Warnings& warnings) {
  for (const auto& [option, has_effect, verdict, why] : rules) {
    if (has_effect || !flags.has(option)) continue;
    const std::string text = fmt::format("--{} has no effect: {}", option, why);
    if (verdict == Verdict::kRefused) return absl::InvalidArgumentError(text);
    if (verdict == Verdict::kIllegal) {
      return absl::FailedPreconditionError(text);
    }
    warnings.push_back(text);
  }
  return absl::OkStatus();
}

absl::Status CheckTrainingEffects(const CommandLine& flags,
                                  const TrainingSetup& setup,
                                  Warnings& warnings) {
  const bool has_stages = setup.pipeline > 1;
  const DenseAndExpert replicas = ReplicasOf(setup);
  const bool has_replicas = replicas.dense > 1 || replicas.expert > 1;
  constexpr std::string_view kOneStage = "PP is 1";
  constexpr std::string_view kOneReplica =
      "DP is 1: no other rank has the same parameters";
  const bool tells_memory =
      flags.value("format") == "program" || flags.has("explain");
  constexpr std::string_view kTellsNoMemory =
      "only --format program and --explain tell the memory";
  const ParallelSizes sizes = {.num_ranks = setup.world_size,
                               .tensor = setup.tensor,
                               .context = setup.context,
                               .expert = setup.expert,
                               .expert_tensor = setup.expert_tensor,
                               .pipeline = setup.pipeline,
                               .order = setup.order};
  const bool has_order =
      !ParallelPlan::Create(sizes).ok() || !NumbersAlike(sizes, RankOrder());
  constexpr std::string_view kSameOrder = "it numbers ranks as tp-cp-ep-dp-pp";
  const Rule rules[] = {
      {"order", has_order, Verdict::kWarned, kSameOrder},
      {"use-tp-pp-dp-mapping", has_order, Verdict::kWarned, kSameOrder},
      {"stage-layers", has_stages, Verdict::kIllegal, kOneStage},
      {"first-stage-layers", has_stages, Verdict::kIllegal, kOneStage},
      {"last-stage-layers", has_stages, Verdict::kIllegal, kOneStage},
      {"account-for-embedding", has_stages, Verdict::kIllegal, kOneStage},
      {"account-for-loss", has_stages, Verdict::kIllegal, kOneStage},
      {"overlap-grad-reduce", has_replicas, Verdict::kWarned, kOneReplica},
      {"overlap-param-gather", has_replicas, Verdict::kWarned, kOneReplica},
      {"zero-group", has_replicas, Verdict::kIllegal, kOneReplica},
      {"zero", has_replicas || setup.zero >= Zero::kGradients, Verdict::kWarned,
       kOneReplica},
      {"use-distributed-optimizer", has_replicas, Verdict::kWarned,
       kOneReplica},
      {"optimizer-workspace", tells_memory, Verdict::kWarned, kTellsNoMemory},
      {"no-message-overlap", has_stages && setup.chunks() > 1, Verdict::kWarned,
       "no stage has several chunks"},
      {"no-message-overlap", tells_memory, Verdict::kWarned, kTellsNoMemory},
      {"transformer-engine", tells_memory, Verdict::kWarned, kTellsNoMemory},
      {"weights-in-experts", tells_memory, Verdict::kWarned, kTellsNoMemory},
      {"sp", setup.tensor > 1, Verdict::kWarned, "TP is 1"},
  };
  return Apply(flags, rules, warnings);
}

}  // namespace

absl::Status CheckEffects(const CommandLine& flags,
                          GenWorkloadOptions& options) {
  const ModelSpec& model = options.model;
  const int64_t expert =
      std::visit([](const auto& setup) { return setup.expert; }, options.setup);
  const bool has_dense_blocks =
      !model.experts || model.experts->dense_layers > 0;
  const Rule rules[] = {
      {"fp8-dispatch", expert > 1, Verdict::kIllegal,
       "EP is 1: no token goes to another rank"},
      {"ffn-hidden-size", !flags.has("model") || has_dense_blocks,
       Verdict::kRefused,
       "every block has experts, whose width is --moe-ffn-hidden-size"},
      {"max-position-embeddings", model.positions == Positions::kLearned,
       Verdict::kWarned,
       "the positions of the model are not learned, so that none is added"},
  };
  if (absl::Status status = Apply(flags, rules, options.warnings);
      !status.ok()) {
    return status;
  }
  const auto* training = std::get_if<TrainingSetup>(&options.setup);
  if (training == nullptr) return absl::OkStatus();
  return CheckTrainingEffects(flags, *training, options.warnings);
}

}  // namespace astra
