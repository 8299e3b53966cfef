#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/gen_workload_overlap.h"
#include "astra-core/apps/gen_workload_recompute.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/release.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "topology/topology.h"
#include "workload/frameworks/framework_file.h"
#include "workload/generator/model_parts.h"
#include "workload/modules/expert_skew.h"

namespace astra {
namespace {

constexpr int64_t kMaxRanks = Topology::kMaxNodes;
constexpr int64_t kMaxBatch = int64_t{1} << 32;

absl::StatusOr<Precision> ReadPrecision(const CommandLine& flags) {
  constexpr std::string_view kNames[] = {"bfloat16", "bf16", "float16",
                                         "fp16",     "fp8",  "fp8_block",
                                         "mxfp8",    "nvfp4"};
  constexpr size_t kFirstCast = 4;
  ASTRA_ASSIGN_OR_RETURN(const size_t choice,
                         Choice(flags, "dtype", 0, kNames));
  if (choice < kFirstCast) return Precision::kBf16;
  return kPrecisions[IndexOf(Precision::kFp8) + choice - kFirstCast];
}

constexpr std::string_view kPowerLaw = "power-law:";

// Reads "power-law:1.2", and returns the load of the busiest expert rank.
absl::StatusOr<double> ReadPowerLaw(std::string_view text,
                                    const ModelSpec& model, int64_t expert) {
  // Load of the busiest expert over that of the idlest.
  constexpr double kMost = 1000;
  constexpr double kMaxExponent = 10;
  ASTRA_ASSIGN_OR_RETURN(
      const double exponent,
      ParseNumber("the exponent of --moe-skew", text.substr(kPowerLaw.size()),
                  0, kMaxExponent));
  const int64_t experts = model.experts->experts;
  if (expert < 1 || experts % expert != 0) return 1;  // Refused elsewhere.
  return PowerLawLoad(exponent, kMost, experts, expert);
}

// Returns the load of the busiest expert rank.
absl::StatusOr<double> ReadExpertLoad(const CommandLine& flags,
                                      const ModelSpec& model, int64_t expert) {
  constexpr std::string_view kNames[] = {
      "moe-skew", "moe-capacity", "fp8-dispatch", "weights-in-experts", "etp"};
  if (!model.experts) {
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kNames, fmt::format("{} has no experts", model.name)));
  }
  if (flags.has("moe-skew") && flags.has("moe-capacity")) {
    return absl::InvalidArgumentError(
        "--moe-skew has no effect beside --moe-capacity: every expert has the "
        "same load");
  }
  if (flags.value("moe-skew").value_or("").starts_with(kPowerLaw)) {
    return ReadPowerLaw(*flags.value("moe-skew"), model, expert);
  }
  constexpr double kMaxLoad = 1e3;
  ASTRA_ASSIGN_OR_RETURN(const double skew,
                         flags.number("moe-skew", 0, kMaxLoad));
  if (flags.has("moe-skew") && skew > static_cast<double>(expert - 1)) {
    return absl::InvalidArgumentError(fmt::format(
        "--moe-skew is {}: the busiest of EP {} ranks has at most {} times the "
        "mean, which is a skew of {}",
        skew, expert, expert, expert - 1));
  }
  if (!flags.has("moe-capacity")) return 1 + skew;
  ASTRA_ASSIGN_OR_RETURN(const double capacity,
                         flags.number("moe-capacity", 1, kMaxLoad));
  if (capacity > 0) return capacity;
  return absl::InvalidArgumentError("--moe-capacity is 0: no token is routed");
}

// Reads a list of numbers with commas between them.
absl::Status ReadLayerList(const CommandLine& flags, TrainingSetup& setup) {
  std::string_view rest;
  const std::string text = *flags.value("stage-layers");
  for (rest = text;;) {
    const size_t comma = rest.find(',');
    ASTRA_ASSIGN_OR_RETURN(
        const int64_t layers,
        ParseInteger("--stage-layers", rest.substr(0, comma), 0, kMaxRanks));
    setup.stage_layers.push_back(layers);
    if (comma == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(comma + 1);
  }
}

absl::Status ReadStageLayers(const CommandLine& flags, TrainingSetup& setup) {
  constexpr std::string_view kAccounts[] = {"account-for-embedding",
                                            "account-for-loss"};
  if (flags.has("stage-layers")) {
    constexpr std::string_view kEnds[] = {"first-stage-layers",
                                          "last-stage-layers"};
    constexpr std::string_view kWhy = "--stage-layers says them all";
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kEnds, kWhy));
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kAccounts, kWhy));
    return ReadLayerList(flags, setup);
  }
  for (const auto& [name, value] :
       {std::pair{"first-stage-layers", &setup.first_stage_layers},
        std::pair{"last-stage-layers", &setup.last_stage_layers}}) {
    if (!flags.has(name)) continue;
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kAccounts, fmt::format("--{} is given", name)));
    ASTRA_ASSIGN_OR_RETURN(*value, flags.integer(name, 1, 1, kMaxRanks));
  }
  setup.account_for_embedding = flags.has("account-for-embedding");
  setup.account_for_loss = flags.has("account-for-loss");
  return absl::OkStatus();
}

absl::Status ReadPipeline(const CommandLine& flags, TrainingSetup& setup) {
  if (flags.has("schedule")) {
    if (setup.pipeline == 1) {
      constexpr std::string_view kNames[] = {"schedule"};
      ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "PP is 1"));
    }
    ASTRA_ASSIGN_OR_RETURN(setup.schedule,
                           FindSchedule(*flags.value("schedule")));
  }
  return ReadStageLayers(flags, setup);
}

// Checks --dp, which follows from the world size.
absl::Status CheckData(const CommandLine& flags, int64_t world_size,
                       std::initializer_list<IntegerOption> sizes) {
  ASTRA_ASSIGN_OR_RETURN(const int64_t data,
                         flags.integer("dp", 1, 1, kMaxRanks));
  if (!flags.has("dp")) return absl::OkStatus();
  // Divides, since the product might overflow.
  int64_t left = world_size % data == 0 ? world_size / data : 0;
  std::string product;
  for (const auto& [name, size, unused] : sizes) {
    left = left % *size == 0 ? left / *size : 0;
    product += fmt::format("{} {} x ", name, *size);
  }
  if (left == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "{}DP {} is not the world size {}", product, data, world_size));
}

absl::Status ReadOrder(const CommandLine& flags, TrainingSetup& setup) {
  std::string text = Name(setup.order);
  if (flags.has("use-tp-pp-dp-mapping")) text = "tp-cp-ep-pp-dp";
  if (flags.has("order")) {
    constexpr std::string_view kNames[] = {"use-tp-pp-dp-mapping"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "--order says it"));
    text = *flags.value("order");
  }
  const absl::StatusOr<RankOrder> order = ParseRankOrder(text);
  if (!order.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--{}", std::string(order.status().message())));
  }
  setup.order = *order;
  return absl::OkStatus();
}

absl::Status ReadLayout(const CommandLine& flags, TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpus"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "global-batch"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "seq-length"));
  const IntegerOption integers[] = {
      {"gpus", &setup.world_size, kMaxRanks},
      {"tp", &setup.tensor, kMaxRanks},
      {"cp", &setup.context, kMaxRanks},
      {"pp", &setup.pipeline, kMaxRanks},
      {"vpp", &setup.virtual_stages, kMaxRanks},
      {"ep", &setup.expert, kMaxRanks},
      {"micro-batch", &setup.micro_batch, kMaxBatch},
      {"global-batch", &setup.global_batch, kMaxBatch},
      {"seq-length", &setup.positions, kMaxBatch},
  };
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, integers));
  if (flags.has("etp")) {
    ASTRA_ASSIGN_OR_RETURN(setup.expert_tensor,
                           flags.integer("etp", 1, 1, kMaxRanks));
  }
  ASTRA_RETURN_IF_ERROR(CheckData(flags, setup.world_size,
                                  {{"TP", &setup.tensor, 0},
                                   {"CP", &setup.context, 0},
                                   {"PP", &setup.pipeline, 0}}));
  ASTRA_RETURN_IF_ERROR(ReadOrder(flags, setup));
  setup.sequence_parallel = flags.has("sp");
  ASTRA_ASSIGN_OR_RETURN(const size_t method,
                         Choice(flags, "cp-method", 0, kContextMethodNames));
  setup.context_method = static_cast<ContextMethod>(method);
  if (setup.context == 1) {
    constexpr std::string_view kNames[] = {"cp-method"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "CP is 1"));
  }
  return ReadPipeline(flags, setup);
}

absl::Status ReadZero(const CommandLine& flags, const Framework& framework,
                      TrainingSetup& setup) {
  constexpr int64_t kMaxZero = 3;
  ASTRA_ASSIGN_OR_RETURN(const int64_t zero,
                         flags.integer("zero", framework.zero, 0, kMaxZero));
  setup.zero = static_cast<Zero>(zero);
  if (framework.fixed_zero && zero != framework.zero) {
    return absl::InvalidArgumentError(
        fmt::format("--zero is {}: {} has stage {} only", zero, framework.name,
                    framework.zero));
  }
  if (flags.has("use-distributed-optimizer") &&
      setup.zero != Zero::kOptimizer) {
    return absl::InvalidArgumentError(fmt::format(
        "--use-distributed-optimizer contradicts ZeRO {}: it is 1", zero));
  }
  if (flags.has("zero-group")) {
    ASTRA_ASSIGN_OR_RETURN(setup.zero_group,
                           flags.integer("zero-group", 1, 1, kMaxRanks));
  }
  return absl::OkStatus();
}

absl::Status ReadTransformerEngine(const CommandLine& flags,
                                   const Framework& framework,
                                   TrainingSetup& setup) {
  constexpr std::string_view kOption = "transformer-engine";
  setup.transformer_engine = ReleaseOf(framework.transformer_engine);
  if (!flags.has(kOption)) return absl::OkStatus();
  if (setup.transformer_engine.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect with --framework {}: its products run "
                    "elsewhere",
                    kOption, framework.name));
  }
  const std::string release = flags.value(kOption).value_or("");
  setup.transformer_engine = ReleaseOf(release);
  if (!setup.transformer_engine.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--{} is {}: expected a release such as 2.11", kOption, Quoted(release)));
}

// Reads fp32 or bf16. Returns the bytes of a number.
absl::StatusOr<int64_t> ReadFloatBytes(const CommandLine& flags,
                                       std::string_view option,
                                       int64_t otherwise) {
  constexpr std::string_view kTypes[] = {"fp32", "bf16"};
  ASTRA_ASSIGN_OR_RETURN(const size_t type,
                         Choice(flags, option, otherwise == 4 ? 0 : 1, kTypes));
  return type == 0 ? 4 : 2;
}

// Sets what the framework does, unless options say otherwise.
absl::Status ReadFacts(const CommandLine& flags, const Framework& framework,
                       const ModelSpec& model, TrainingSetup& setup) {
  constexpr int64_t kMostMtpLayers = 16;
  ASTRA_ASSIGN_OR_RETURN(setup.mtp_layers,
                         flags.integer("mtp-num-layers", 0, 0, kMostMtpLayers));
  setup.fp8_dispatch = flags.has("fp8-dispatch") || framework.fp8_dispatch;
  setup.fused_loss = flags.has("fused-loss") || framework.fused_loss;
  setup.loss_metrics = framework.loss_metrics;
  setup.expert_host_ns = framework.expert_host_ns;
  setup.fused_experts = framework.fused_experts;
  setup.iteration_host_ns = framework.iteration_host_ns;
  setup.stops_recomputing = framework.stops_recomputing;
  ASTRA_RETURN_IF_ERROR(ReadZero(flags, framework, setup));
  ASTRA_ASSIGN_OR_RETURN(
      setup.optimizer_workspace,
      flags.integer("optimizer-workspace", framework.optimizer_workspace, 0,
                    kMostOptimizerWorkspace));
  setup.weights_in_experts =
      flags.has("weights-in-experts") || framework.weights_in_experts;
  ASTRA_RETURN_IF_ERROR(ReadTransformerEngine(flags, framework, setup));
  ASTRA_ASSIGN_OR_RETURN(
      setup.gradient_bytes,
      ReadFloatBytes(flags, "grad-dtype", framework.gradient_bytes));
  ASTRA_ASSIGN_OR_RETURN(
      setup.moment_bytes,
      ReadFloatBytes(flags, "moment-dtype", framework.moment_bytes));
  setup.fp8_activation_inputs =
      flags.has("fp8-activation-inputs") || framework.fp8_activation_inputs;
  setup.shared_output_bits = framework.attention_output_bits;
  setup.fp32_shards = framework.fp32_shards;
  setup.loss_workspace = framework.loss_workspace;
  ASTRA_RETURN_IF_ERROR(ReadOverlap(flags, framework, model, setup));
  if (framework.stages_stay_whole) KeepStagesWhole(setup);
  ASTRA_ASSIGN_OR_RETURN(
      setup.vocabulary_divisor,
      flags.integer("make-vocab-size-divisible-by",
                    framework.vocabulary_divisor, 0, kMaxRanks));
  return absl::OkStatus();
}

// Calls FillLastStages if the framework does that and no option says how blocks
// are spread.
void SpreadBlocks(const CommandLine& flags, const Framework& framework,
                  const ModelSpec& model, TrainingSetup& setup) {
  constexpr std::string_view kSpreads[] = {
      "stage-layers", "first-stage-layers", "last-stage-layers",
      "account-for-embedding", "account-for-loss"};
  for (const std::string_view option : kSpreads) {
    if (flags.has(option)) return;
  }
  if (framework.fills_last_stages) FillLastStages(model, setup);
}

}  // namespace

absl::StatusOr<Framework> ReadFramework(const CommandLine& flags) {
  ASTRA_ASSIGN_OR_RETURN(
      Framework framework,
      LoadFramework(flags.value("framework").value_or("megatron")));
  ASTRA_RETURN_IF_ERROR(ReadOverlaps(flags, framework.overlaps));
  return framework;
}

absl::StatusOr<TrainingSetup> ReadTrainingOptions(const CommandLine& flags,
                                                  const ModelSpec& model,
                                                  const Framework& framework) {
  constexpr std::string_view kInference[] = {"batch", "cached", "engine"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kInference, "it is of inference"));
  TrainingSetup setup;
  ASTRA_RETURN_IF_ERROR(ReadLayout(flags, setup));
  ASTRA_RETURN_IF_ERROR(ReadFacts(flags, framework, model, setup));
  SpreadBlocks(flags, framework, model, setup);
  ASTRA_RETURN_IF_ERROR(ReadRecompute(flags, model, framework, setup));
  if (flags.has("no-flash-attn") && flags.has("use-flash-attn")) {
    return absl::InvalidArgumentError(
        "--use-flash-attn contradicts --no-flash-attn");
  }
  setup.flash_attention = !flags.has("no-flash-attn");
  ASTRA_ASSIGN_OR_RETURN(setup.precision, ReadPrecision(flags));
  ASTRA_ASSIGN_OR_RETURN(setup.expert_load,
                         ReadExpertLoad(flags, model, setup.expert));
  return setup;
}

namespace {

// Options that inference refuses.
constexpr std::string_view kTrainingOnly[] = {"cp",
                                              "cp-method",
                                              "order",
                                              "mtp-num-layers",
                                              "use-tp-pp-dp-mapping",
                                              "vpp",
                                              "schedule",
                                              "stage-layers",
                                              "first-stage-layers",
                                              "last-stage-layers",
                                              "account-for-embedding",
                                              "account-for-loss",
                                              "sp",
                                              "global-batch",
                                              "framework",
                                              "zero",
                                              "use-distributed-optimizer",
                                              "zero-group",
                                              "optimizer-workspace",
                                              "transformer-engine",
                                              "weights-in-experts",
                                              "fused-loss",
                                              "recompute",
                                              "recompute-activations",
                                              "recompute-modules",
                                              "recompute-method",
                                              "recompute-num-layers",
                                              "moment-dtype",
                                              "fp8-activation-inputs",
                                              "grad-dtype",
                                              "overlap",
                                              "overlap-grad-reduce",
                                              "overlap-param-gather",
                                              "bucket-size",
                                              "no-message-overlap",
                                              "tp-overlap",
                                              "shared-expert-overlap",
                                              "no-flash-attn",
                                              "make-vocab-size-divisible-by"};

}  // namespace

absl::StatusOr<InferenceSetup> ReadInferenceOptions(const CommandLine& flags,
                                                    InferencePhase phase,
                                                    const ModelSpec& model) {
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kTrainingOnly, "it is of training"));
  if (phase == InferencePhase::kDecode) {
    constexpr std::string_view kPrefill[] = {"cached"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kPrefill, "a decode step's context is --seq-length"));
  }
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpus"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "seq-length"));
  InferenceSetup setup;
  setup.phase = phase;
  const IntegerOption integers[] = {
      {"gpus", &setup.world_size, kMaxRanks},
      {"tp", &setup.tensor, kMaxRanks},
      {"pp", &setup.pipeline, kMaxRanks},
      {"ep", &setup.expert, kMaxRanks},
      {"micro-batch", &setup.batch, kMaxBatch},
      {"batch", &setup.batch, kMaxBatch},
      {"seq-length", &setup.positions, kMaxBatch},
  };
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, integers));
  if (flags.has("etp")) {
    ASTRA_ASSIGN_OR_RETURN(setup.expert_tensor,
                           flags.integer("etp", 1, 1, kMaxRanks));
  }
  ASTRA_RETURN_IF_ERROR(
      CheckData(flags, setup.world_size,
                {{"TP", &setup.tensor, 0}, {"PP", &setup.pipeline, 0}}));
  if (flags.has("batch") && flags.has("micro-batch")) {
    return absl::InvalidArgumentError(
        "--micro-batch has no effect beside --batch");
  }
  ASTRA_ASSIGN_OR_RETURN(setup.cached,
                         flags.integer("cached", 0, 0, kMaxBatch));
  ASTRA_ASSIGN_OR_RETURN(setup.precision, ReadPrecision(flags));
  ASTRA_ASSIGN_OR_RETURN(setup.expert_load,
                         ReadExpertLoad(flags, model, setup.expert));
  setup.fp8_dispatch = flags.has("fp8-dispatch");
  return setup;
}

}  // namespace astra
