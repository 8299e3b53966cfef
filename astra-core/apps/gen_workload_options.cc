#include "astra-core/apps/gen_workload_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "topology/topology.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr int64_t kMaxRanks = Topology::kMaxNodes;
constexpr int64_t kMaxBatch = int64_t{1} << 32;

absl::StatusOr<size_t> Choice(const CommandLine& flags, std::string_view name,
                              size_t otherwise,
                              absl::Span<const std::string_view> names) {
  if (!flags.has(name)) return otherwise;
  const std::string value = *flags.value(name);
  for (size_t i = 0; i < names.size(); ++i) {
    if (value == names[i]) return i;
  }
  return absl::InvalidArgumentError(
      UnknownName(fmt::format("--{}", name), value, names));
}

struct IntegerOption {
  std::string_view name;
  int64_t* value;
  int64_t max = kMaxRanks;
};

absl::Status ReadIntegers(const CommandLine& flags,
                          absl::Span<const IntegerOption> options) {
  for (const auto& [name, value, max] : options) {
    ASTRA_ASSIGN_OR_RETURN(*value, flags.integer(name, *value, 1, max));
  }
  return absl::OkStatus();
}

absl::Status Require(const CommandLine& flags, std::string_view name) {
  if (flags.has(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("--{} is missing", name));
}

absl::Status Refuse(const CommandLine& flags,
                    absl::Span<const std::string_view> names,
                    std::string_view why) {
  for (const std::string_view name : names) {
    if (!flags.has(name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: {}", name, why));
  }
  return absl::OkStatus();
}

absl::StatusOr<Precision> ReadPrecision(const CommandLine& flags) {
  constexpr std::string_view kNames[] = {"bfloat16", "bf16", "float16", "fp16",
                                         "fp8"};
  ASTRA_ASSIGN_OR_RETURN(const size_t choice,
                         Choice(flags, "dtype", 0, kNames));
  return choice == 4 ? Precision::kFp8 : Precision::kBf16;
}

// The load of the busiest expert rank.
absl::StatusOr<double> ReadExpertLoad(const CommandLine& flags,
                                      const ModelSpec& model, int64_t expert) {
  constexpr std::string_view kNames[] = {"moe-skew", "moe-capacity",
                                         "fp8-dispatch", "etp"};
  if (!model.experts) {
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kNames, fmt::format("{} has no experts", model.name)));
  }
  if (flags.has("moe-skew") && flags.has("moe-capacity")) {
    return absl::InvalidArgumentError(
        "--moe-skew has no effect beside --moe-capacity: every expert has the "
        "same load");
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

absl::Status ReadStageLayers(const CommandLine& flags, TrainingSetup& setup) {
  if (!flags.has("stage-layers")) return absl::OkStatus();
  std::string_view rest;
  const std::string text = *flags.value("stage-layers");
  for (rest = text;;) {
    const size_t comma = rest.find(',');
    ASTRA_ASSIGN_OR_RETURN(
        const int64_t layers,
        ParseInteger("--stage-layers", rest.substr(0, comma), 1, kMaxRanks));
    setup.stage_layers.push_back(layers);
    if (comma == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(comma + 1);
  }
}

absl::Status ReadLayout(const CommandLine& flags, TrainingSetup& setup) {
  ASTRA_RETURN_IF_ERROR(Require(flags, "world-size"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "global-batch"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "seq-length"));
  const IntegerOption integers[] = {
      {"world-size", &setup.world_size},
      {"tp", &setup.tensor},
      {"cp", &setup.context},
      {"pp", &setup.pipeline},
      {"vpp", &setup.virtual_stages},
      {"ep", &setup.expert},
      {"micro-batch", &setup.micro_batch, kMaxBatch},
      {"global-batch", &setup.global_batch, kMaxBatch},
      {"seq-length", &setup.positions, kMaxBatch},
  };
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, integers));
  if (flags.has("etp")) {
    ASTRA_ASSIGN_OR_RETURN(setup.expert_tensor,
                           flags.integer("etp", 1, 1, kMaxRanks));
  }
  if (flags.has("dp")) {
    ASTRA_ASSIGN_OR_RETURN(const int64_t data,
                           flags.integer("dp", 1, 1, kMaxRanks));
    // Divided, since the product may be beyond all numbers.
    int64_t left = setup.world_size;
    for (const int64_t size :
         {setup.tensor, setup.context, setup.pipeline, data}) {
      left = left % size == 0 ? left / size : 0;
    }
    if (left != 1) {
      return absl::InvalidArgumentError(fmt::format(
          "TP {} x CP {} x PP {} x DP {} is not the world size {}",
          setup.tensor, setup.context, setup.pipeline, data, setup.world_size));
    }
  }
  setup.sequence_parallel = flags.has("sp");
  constexpr std::string_view kMethods[] = {"ring", "all-gather", "all-to-all"};
  ASTRA_ASSIGN_OR_RETURN(const size_t method,
                         Choice(flags, "cp-method", 0, kMethods));
  setup.context_method = static_cast<ContextMethod>(method);
  if (setup.context == 1) {
    constexpr std::string_view kNames[] = {"cp-method"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "CP is 1"));
  }
  return ReadStageLayers(flags, setup);
}

absl::Status ReadFramework(const CommandLine& flags, TrainingSetup& setup) {
  // AICB spells them with capitals; its DeepSeek is Megatron with FP8 dispatch.
  constexpr std::string_view kNames[] = {"megatron", "deepspeed", "fsdp",
                                         "Megatron", "DeepSpeed", "DeepSeek"};
  ASTRA_ASSIGN_OR_RETURN(const size_t name,
                         Choice(flags, "framework", 0, kNames));
  const bool is_fsdp = name == 2;
  const bool is_megatron = name == 0 || name == 3 || name == 5;
  setup.fp8_dispatch = flags.has("fp8-dispatch") || name == 5;
  constexpr int64_t kMaxZero = 3;
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t zero,
      flags.integer("zero", is_megatron ? 1 : kMaxZero, 0, kMaxZero));
  setup.zero = static_cast<Zero>(zero);
  if (is_fsdp && zero != kMaxZero) {
    return absl::InvalidArgumentError(
        fmt::format("--zero is {}: FSDP shards parameters, which is 3", zero));
  }
  if (flags.has("use-distributed-optimizer") &&
      setup.zero != Zero::kOptimizer) {
    return absl::InvalidArgumentError(fmt::format(
        "--use-distributed-optimizer contradicts ZeRO {}: it is 1", zero));
  }
  constexpr std::string_view kGradients[] = {"fp32", "bf16"};
  ASTRA_ASSIGN_OR_RETURN(
      const size_t gradients,
      Choice(flags, "grad-dtype", is_megatron ? 0 : 1, kGradients));
  setup.gradient_bytes = gradients == 0 ? 4 : 2;
  setup.overlap_gradients = flags.has("overlap-grad-reduce");
  setup.overlap_parameters = flags.has("overlap-param-gather");
  ASTRA_ASSIGN_OR_RETURN(setup.vocabulary_divisor,
                         flags.integer("make-vocab-size-divisible-by",
                                       is_megatron ? 128 : 0, 0, kMaxRanks));
  if (setup.zero >= Zero::kGradients && setup.overlap_gradients) {
    return absl::InvalidArgumentError(
        "--overlap-grad-reduce has no effect: ZeRO 2 and 3 always overlap");
  }
  if (setup.overlap_parameters && setup.zero != Zero::kOptimizer) {
    return absl::InvalidArgumentError(
        "--overlap-param-gather has no effect: it is of ZeRO 1");
  }
  return absl::OkStatus();
}

absl::Status ReadRecompute(const CommandLine& flags, TrainingSetup& setup) {
  const size_t otherwise = flags.has("recompute-activations") ? 1 : 0;
  ASTRA_ASSIGN_OR_RETURN(
      const size_t recompute,
      Choice(flags, "recompute", otherwise, kRecomputeNames));
  setup.recompute = static_cast<Recompute>(recompute);
  if (flags.has("recompute-activations") &&
      setup.recompute != Recompute::kSelective) {
    return absl::InvalidArgumentError(fmt::format(
        "--recompute-activations contradicts --recompute {}: it is selective",
        kRecomputeNames[recompute]));
  }
  if (flags.has("no-flash-attn") && flags.has("use-flash-attn")) {
    return absl::InvalidArgumentError(
        "--use-flash-attn contradicts --no-flash-attn");
  }
  setup.flash_attention = !flags.has("no-flash-attn");
  return absl::OkStatus();
}

absl::StatusOr<TrainingSetup> ReadTraining(const CommandLine& flags,
                                           const ModelSpec& model) {
  constexpr std::string_view kInference[] = {"batch", "cached"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kInference, "it is of inference"));
  TrainingSetup setup;
  ASTRA_RETURN_IF_ERROR(ReadLayout(flags, setup));
  ASTRA_RETURN_IF_ERROR(ReadFramework(flags, setup));
  ASTRA_RETURN_IF_ERROR(ReadRecompute(flags, setup));
  ASTRA_ASSIGN_OR_RETURN(setup.precision, ReadPrecision(flags));
  ASTRA_ASSIGN_OR_RETURN(setup.expert_load,
                         ReadExpertLoad(flags, model, setup.expert));
  return setup;
}

absl::StatusOr<InferenceSetup> ReadInference(const CommandLine& flags,
                                             InferencePhase phase,
                                             const ModelSpec& model) {
  constexpr std::string_view kTraining[] = {"cp",
                                            "cp-method",
                                            "vpp",
                                            "stage-layers",
                                            "sp",
                                            "global-batch",
                                            "framework",
                                            "zero",
                                            "use-distributed-optimizer",
                                            "recompute",
                                            "recompute-activations",
                                            "grad-dtype",
                                            "overlap-grad-reduce",
                                            "overlap-param-gather",
                                            "no-flash-attn",
                                            "make-vocab-size-divisible-by"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kTraining, "it is of training"));
  if (phase == InferencePhase::kDecode) {
    constexpr std::string_view kPrefill[] = {"cached"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kPrefill, "a decode step's context is --seq-length"));
  }
  ASTRA_RETURN_IF_ERROR(Require(flags, "world-size"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "seq-length"));
  InferenceSetup setup;
  setup.phase = phase;
  const IntegerOption integers[] = {
      {"world-size", &setup.world_size},
      {"tp", &setup.tensor},
      {"pp", &setup.pipeline},
      {"ep", &setup.expert},
      {"etp", &setup.expert_tensor},
      {"micro-batch", &setup.batch, kMaxBatch},
      {"batch", &setup.batch, kMaxBatch},
      {"seq-length", &setup.positions, kMaxBatch},
  };
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, integers));
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

absl::Status ReadTimes(const CommandLine& flags, GenWorkloadOptions& options) {
  if (!flags.has("gpu") || flags.value("gpu") == "None") {
    ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu("h100-sxm"));
    options.warnings.push_back(fmt::format(
        "no --gpu: the computations are those of {}", options.gpu.name));
  } else {
    ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu(*flags.value("gpu")));
  }
  std::string tables = flags.value("operator-table").value_or("");
  for (size_t begin = 0; flags.has("operator-table");) {
    const size_t end = std::min(tables.find(',', begin), tables.size());
    options.operator_tables.push_back(tables.substr(begin, end - begin));
    if (options.operator_tables.back().empty()) {
      return absl::InvalidArgumentError(fmt::format(
          "--operator-table is {}: expected names of files with commas between",
          Quoted(tables)));
    }
    if (end == tables.size()) break;
    begin = end + 1;
  }
  if (flags.has("table-gpu")) {
    constexpr std::string_view kNames[] = {"table-gpu"};
    if (options.operator_tables.empty()) {
      ASTRA_RETURN_IF_ERROR(
          Refuse(flags, kNames, "there is no --operator-table"));
    }
    ASTRA_ASSIGN_OR_RETURN(const GpuSpec gpu,
                           FindGpu(*flags.value("table-gpu")));
    options.table_gpu = gpu.name;
  } else {
    options.table_gpu = options.gpu.name;
  }
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    const Calibration& calibration = options.gpu.calibration;
    options.load = setup->zero >= Zero::kGradients ? calibration.sharded_load
                                                   : calibration.training_load;
  }
  if (flags.has("load")) {
    ASTRA_ASSIGN_OR_RETURN(options.load, flags.number("load", 1, 1));
    constexpr double kLeastLoad = 0.01;
    if (options.load < kLeastLoad) {
      return absl::InvalidArgumentError(fmt::format(
          "--load is {}: expected {} to 1", options.load, kLeastLoad));
    }
  }
  options.aiob_file = flags.value("comp-filepath");
  if (flags.has("aiob-enable") && !options.aiob_file) {
    return absl::InvalidArgumentError(
        "--aiob-enable needs --comp-filepath: no GPU is measured here; without "
        "both, formulas of --gpu give the times");
  }
  return absl::OkStatus();
}

// Learned positions end; others were only never trained further.
void WarnOfLength(GenWorkloadOptions& options) {
  const int64_t positions = std::visit(
      [](const auto& setup) { return setup.positions; }, options.setup);
  const int64_t longest = options.model.max_positions;
  if (longest == 0 || positions <= longest) return;
  options.warnings.push_back(
      fmt::format("{} positions are more than the {} that {} is made for",
                  positions, longest, options.model.name));
}

// A name without what would make it a folder.
std::string FileName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

// AICB's name of the file, in the current folder.
std::string DefaultOutput(const GenWorkloadOptions& options) {
  const std::string gpu = FileName(options.gpu.name);
  const std::string model = FileName(options.model.name);
  constexpr std::string_view kExtensions[] = {"txt", "yaml", "csv", "csv"};
  const std::string_view extension =
      kExtensions[static_cast<size_t>(options.format)];
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    return fmt::format("{}-{}-world_size{}-tp{}-pp{}-ep{}-gbs{}-mbs{}-seq{}.{}",
                       gpu, model, setup->world_size, setup->tensor,
                       setup->pipeline, setup->expert, setup->global_batch,
                       setup->micro_batch, setup->positions, extension);
  }
  const auto& setup = std::get<InferenceSetup>(options.setup);
  return fmt::format(
      "{}-{}-world_size{}-tp{}-pp{}-ep{}-bs{}-seq{}-{}.{}", gpu, model,
      setup.world_size, setup.tensor, setup.pipeline, setup.expert, setup.batch,
      setup.positions,
      setup.phase == InferencePhase::kDecode ? "decode" : "prefill", extension);
}

absl::Status CheckNoInputIsLost(const CommandLine& flags,
                                const GenWorkloadOptions& options) {
  std::vector<std::string> inputs = options.operator_tables;
  for (const std::string_view name : {"model", "gpu", "comp-filepath"}) {
    if (flags.has(name)) inputs.push_back(*flags.value(name));
  }
  for (const std::string& input : inputs) {
    std::error_code none;  // Of what is no file.
    if (!std::filesystem::equivalent(input, options.output, none)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--output is {}: that is an input", Quoted(options.output)));
  }
  return absl::OkStatus();
}

absl::Status ReadOutput(const CommandLine& flags, GenWorkloadOptions& options) {
  constexpr std::string_view kFormats[] = {"simai", "program", "vidur",
                                           "aicb-log"};
  ASTRA_ASSIGN_OR_RETURN(const size_t format,
                         Choice(flags, "format", 0, kFormats));
  options.format = static_cast<WorkloadFormat>(format);
  // -1 is AICB's default, and means none.
  if (flags.has("pp-rank") && flags.value("pp-rank") != "-1") {
    constexpr std::string_view kNames[] = {"pp-rank"};
    if (options.format != WorkloadFormat::kSimai &&
        options.format != WorkloadFormat::kAicbLog) {
      ASTRA_RETURN_IF_ERROR(Refuse(
          flags, kNames, "only SimAI's text and AICB's log are of one stage"));
    }
    ASTRA_ASSIGN_OR_RETURN(options.stage,
                           flags.integer("pp-rank", 0, 0, kMaxRanks));
  }
  options.output = flags.value("output").value_or(DefaultOutput(options));
  ASTRA_RETURN_IF_ERROR(CheckNoInputIsLost(flags, options));
  options.with_products = flags.has("computation-enable");
  if (options.with_products && options.format != WorkloadFormat::kAicbLog) {
    options.warnings.push_back(
        "--computation-enable has no effect: it is of --format aicb-log");
  }
  options.explain = flags.has("explain");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GenWorkloadOptions> ReadGenWorkloadOptions(
    const CommandLine& flags) {
  GenWorkloadOptions options;
  for (const OptionSpec& option : GenWorkloadOptionSpecs()) {
    if (option.group == "Without effect" && flags.has(option.name)) {
      options.warnings.push_back(
          fmt::format("--{} has no effect", option.name));
    }
  }
  ASTRA_ASSIGN_OR_RETURN(options.model,
                         ReadModelOptions(flags, &options.warnings));
  constexpr std::string_view kPhaseNames[] = {"training", "prefill", "decode"};
  ASTRA_ASSIGN_OR_RETURN(const size_t phase,
                         Choice(flags, "phase", 0, kPhaseNames));
  if (phase == 0) {
    ASTRA_ASSIGN_OR_RETURN(options.setup, ReadTraining(flags, options.model));
  } else {
    const InferencePhase which =
        phase == 1 ? InferencePhase::kPrefill : InferencePhase::kDecode;
    ASTRA_ASSIGN_OR_RETURN(options.setup,
                           ReadInference(flags, which, options.model));
  }
  WarnOfLength(options);
  ASTRA_RETURN_IF_ERROR(ReadTimes(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadOutput(flags, options));
  return options;
}

}  // namespace astra
