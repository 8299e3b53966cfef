#include "astra-core/apps/gen_workload_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "collectives/inference_engines/engine_file.h"
#include "fmt/core.h"
#include "topology/topology.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

// Changes the speed of attention by the factor of the framework, or that the
// user gives.
absl::Status ReadAttentionSpeed(const CommandLine& flags,
                                GenWorkloadOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(
      const double speed,
      flags.number("attention-speed", options.framework.attention_speed,
                   kMostAttentionSpeed));
  if (speed < kLeastAttentionSpeed) {
    return absl::InvalidArgumentError(
        fmt::format("--attention-speed is {}: expected {} to {}", speed,
                    kLeastAttentionSpeed, kMostAttentionSpeed));
  }
  options.attention_speed = speed;
  Calibration& calibration = options.gpu.calibration;
  calibration.attention_forward *= speed;
  calibration.attention_backward *= speed;
  return absl::OkStatus();
}

absl::Status ReadOperatorTables(const CommandLine& flags,
                                GenWorkloadOptions& options) {
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
  return absl::OkStatus();
}

// Reads whose kernels an inference step has.
absl::Status ReadEngine(const CommandLine& flags, GenWorkloadOptions& options) {
  if (!std::holds_alternative<InferenceSetup>(options.setup)) {
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(
      const std::optional<InferenceEngine> engine,
      LoadEngineOrNone(flags.value("engine").value_or("vllm")));
  if (!engine) return absl::OkStatus();
  options.fused = {engine->serving.fused, options.gpu.calibration.kernel_us};
  options.engine = engine->name;
  options.has_engine = flags.has("engine");
  return absl::OkStatus();
}

absl::Status ReadTimes(const CommandLine& flags, GenWorkloadOptions& options) {
  if (!flags.has("gpu-type") || flags.value("gpu-type") == "None") {
    ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu("h100-sxm"));
    options.warnings.push_back(fmt::format(
        "no --gpu: the computations are those of {}", options.gpu.name));
  } else {
    ASTRA_ASSIGN_OR_RETURN(options.gpu, FindGpu(*flags.value("gpu-type")));
  }
  ASTRA_RETURN_IF_ERROR(ReadAttentionSpeed(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadOperatorTables(flags, options));
  if (flags.has("table-gpu")) {
    constexpr std::string_view kNames[] = {"table-gpu"};
    if (options.operator_tables.empty()) {
      ASTRA_RETURN_IF_ERROR(
          Refuse(flags, kNames, "there is no --operator-table"));
    }
    ASTRA_ASSIGN_OR_RETURN(const GpuSpec gpu,
                           FindGpu(*flags.value("table-gpu")));
    options.table_gpu = gpu.name;
  }
  if (const auto* setup = std::get_if<TrainingSetup>(&options.setup)) {
    options.load = TrainingLoad(options.framework, options.gpu, setup->zero);
  }
  if (flags.has("load")) {
    ASTRA_ASSIGN_OR_RETURN(options.load, flags.number("load", 1, 1));
    if (options.load < kLeastLoad) {
      return absl::InvalidArgumentError(fmt::format(
          "--load is {}: expected {} to 1", options.load, kLeastLoad));
    }
  }
  ASTRA_RETURN_IF_ERROR(ReadEngine(flags, options));
  options.aiob_file = flags.value("comp-filepath");
  if (flags.has("aiob-enable") && !options.aiob_file) {
    options.warnings.push_back(
        "--aiob-enable has no effect without --comp-filepath: no GPU is "
        "measured here, and formulas of --gpu give the times");
  }
  return absl::OkStatus();
}

// Warns of sequences longer than the model's positions. Learned positions end
// there; other models were only not trained with longer ones.
void WarnOfLength(GenWorkloadOptions& options) {
  const int64_t positions = std::visit(
      [](const auto& setup) { return setup.positions; }, options.setup);
  const int64_t longest = options.model.max_positions;
  if (longest == 0 || positions <= longest) return;
  options.warnings.push_back(
      fmt::format("{} positions are more than the {} that {} is made for",
                  positions, longest, options.model.name));
}

// Returns `name` without characters that would make it a path.
std::string FileName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

// Returns the default output: AICB's name of the file, in the current folder.
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
  for (const std::string_view name :
       {"model", "gpu-type", "config", "comp-filepath"}) {
    if (flags.has(name)) inputs.push_back(*flags.value(name));
  }
  for (const std::string& input : inputs) {
    if (!IsSameFile(input, options.output)) continue;
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
  // -1 is AICB's default and means no rank.
  if (flags.has("pp-rank") && flags.value("pp-rank") != "-1") {
    constexpr std::string_view kNames[] = {"pp-rank"};
    if (options.format != WorkloadFormat::kSimai &&
        options.format != WorkloadFormat::kAicbLog) {
      ASTRA_RETURN_IF_ERROR(Refuse(
          flags, kNames, "only SimAI's text and AICB's log are of one stage"));
    }
    ASTRA_ASSIGN_OR_RETURN(options.stage,
                           flags.integer("pp-rank", 0, 0, Topology::kMaxNodes));
  }
  if (flags.has("output")) {
    constexpr std::string_view kNames[] = {"result-dir"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kNames, "--output names the file"));
  }
  const std::filesystem::path folder = flags.value("result-dir").value_or("");
  options.output = flags.value("output").value_or(
      (folder / DefaultOutput(options)).string());
  ASTRA_RETURN_IF_ERROR(CheckNoInputIsLost(flags, options));
  options.with_products = flags.has("computation-enable");
  if (options.with_products && options.format != WorkloadFormat::kAicbLog) {
    options.warnings.push_back(
        "--computation-enable has no effect: it is of --format aicb-log");
  }
  options.explain = flags.has("explain");
  options.force = flags.has("force");
  options.chart = flags.has("enable-visual");
  if (options.chart && options.output.ends_with(".html")) {
    return absl::InvalidArgumentError(
        fmt::format("--output is {}: --enable-visual writes that file too",
                    Quoted(options.output)));
  }
  return absl::OkStatus();
}

// Warns of effects that the times of a schedule leave out.
void WarnOfSchedule(GenWorkloadOptions& options) {
  const auto* training = std::get_if<TrainingSetup>(&options.setup);
  if (training == nullptr) return;
  const PipelineSchedule schedule = training->pipeline_schedule();
  if (schedule->left_out.empty()) return;
  options.warnings.push_back(
      fmt::format("{}: {}", Name(schedule), schedule->left_out));
}

// Refuses options of AICB's generate_collective_test, which makes no workload
// of a model, and names the command line that answers the same question.
absl::Status RefuseCollectiveTest(const CommandLine& flags) {
  constexpr int64_t kMaxRanks = int64_t{1} << 31;
  const std::string default_size = "1048576";
  const bool is_test = flags.value("framework") == "collective_test";
  std::string_view asked = is_test ? "framework" : "";
  for (const OptionSpec& option : GenWorkloadOptionSpecs()) {
    if (option.group == "Collective test of AICB" && flags.has(option.name) &&
        asked.empty()) {
      asked = option.name;
    }
  }
  if (asked.empty()) return absl::OkStatus();
  const auto count = [&](std::string_view name) {
    return flags.integer(name, 1, 1, kMaxRanks);
  };
  ASTRA_ASSIGN_OR_RETURN(const int64_t world, count("gpus"));
  ASTRA_ASSIGN_OR_RETURN(const int64_t tp, count("tp"));
  ASTRA_ASSIGN_OR_RETURN(const int64_t pp, count("pp"));
  const bool over_stages =
      flags.value("multi-all-reduce-enable").value_or("0") != "0";
  return absl::InvalidArgumentError(fmt::format(
      "--{}{} asks for times of collectives, not for a workload: run "
      "simai_collective --system dgx-h100 --gpus {} --op {} -b {} -e {} (other "
      "systems: simai_collective --list-systems)",
      asked, is_test ? " collective_test" : "",
      over_stages ? pp : std::max<int64_t>(1, world / (tp * pp)),
      flags.value("test-comm").value_or("all_reduce"),
      flags.value("begin-size").value_or(default_size),
      flags.value("end-size").value_or(default_size)));
}

}  // namespace

double TrainingLoad(const Framework& framework, const GpuSpec& gpu, Zero zero) {
  const Calibration& calibration = gpu.calibration;
  const bool copies_shards = zero >= Zero::kGradients && !framework.compiled;
  return framework.load.value_or(copies_shards ? calibration.sharded_load
                                               : calibration.training_load);
}

absl::StatusOr<GenWorkloadOptions> ReadGenWorkloadOptions(
    const CommandLine& flags) {
  ASTRA_RETURN_IF_ERROR(RefuseCollectiveTest(flags));
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
    ASTRA_ASSIGN_OR_RETURN(options.framework, ReadFramework(flags));
    ASTRA_ASSIGN_OR_RETURN(
        options.setup,
        ReadTrainingOptions(flags, options.model, options.framework));
  } else {
    const InferencePhase which =
        phase == 1 ? InferencePhase::kPrefill : InferencePhase::kDecode;
    ASTRA_ASSIGN_OR_RETURN(options.setup,
                           ReadInferenceOptions(flags, which, options.model));
  }
  ASTRA_RETURN_IF_ERROR(CheckEffects(flags, options));
  WarnOfLength(options);
  WarnOfSchedule(options);
  ASTRA_RETURN_IF_ERROR(ReadTimes(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadOutput(flags, options));
  return options;
}

}  // namespace astra
