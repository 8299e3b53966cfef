#include "astra-core/apps/plan/internevo_request.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/planner/internevo/evo_config.h"
#include "astra-core/planner/internevo/evo_traffic.h"
#include "fmt/core.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr int64_t kMostWorld = 16384;
constexpr int64_t kMostTokens = int64_t{1} << 40;
constexpr int64_t kDefaultSeqLen = 2048;  // As InternEvo's 7B configs.

absl::Status RefuseOthers(const CommandLine& flags) {
  constexpr std::string_view kUsed[] = {"model",
                                        "gpu-type",
                                        "gpus",
                                        "seq-length",
                                        "load",
                                        "topology",
                                        "system",
                                        "nccl",
                                        "memory",
                                        "run-all-solu",
                                        "config",
                                        "profile",
                                        "top",
                                        "output",
                                        "result",
                                        "draw-heatmap",
                                        "global-batch-size",
                                        "attention-speed"};
  for (const OptionSpec& option : SimaiPlannerOptionSpecs()) {
    const bool is_used = std::find(std::begin(kUsed), std::end(kUsed),
                                   option.name) != std::end(kUsed);
    if (is_used) continue;
    const std::string_view why =
        option.name == "global-batch"
            ? "with --run_all_solu or --config the batch is in tokens, "
              "--global_batch_size"
            : "--run_all_solu and --config plan as InternEvo does";
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&option.name, 1}, why));
  }
  return absl::OkStatus();
}

// Returns the model of the config, or that of --model_size.
absl::StatusOr<EvoModel> ModelOf(const CommandLine& flags,
                                 const std::optional<EvoConfig>& config) {
  const bool is_in_config = config && config->model;
  if (!flags.has("model")) {
    if (is_in_config) return *config->model;
    return absl::InvalidArgumentError(
        "--model_size is missing: there is no model of a --config");
  }
  const std::string text = *flags.value("model");
  constexpr int64_t kMostBillions = 100'000;
  const absl::StatusOr<int64_t> billions =
      ParseInteger("--model_size", text, 1, kMostBillions);
  if (!billions.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--model_size is {}: expected billions of parameters ({}); "
                    "other models need a --config",
                    Quoted(text), EvoModelSizes()));
  }
  if (!is_in_config) {
    const std::optional<EvoModel> model = EvoModelOfSize(*billions);
    if (model) return *model;
    return absl::InvalidArgumentError(fmt::format(
        "--model_size is {}: expected one of {}; other models need a --config",
        *billions, EvoModelSizes()));
  }
  // Names of models round their sizes: InternLM2 7B has 7.7 billion.
  constexpr double kTolerance = 0.2;
  const double size = ModelParameters(*config->model) / kBillion;
  if (std::abs(size / static_cast<double>(*billions) - 1) <= kTolerance) {
    return *config->model;
  }
  return absl::InvalidArgumentError(
      fmt::format("--model_size is {}, but the model of {} has {:.2f} billion "
                  "parameters",
                  *billions, *flags.value("config"), size));
}

absl::Status ReadModelAndBatch(const CommandLine& flags, EvoRequest& request) {
  std::optional<EvoConfig> config;
  std::string file;
  if (flags.has("config")) {
    file = *flags.value("config");
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    ASTRA_ASSIGN_OR_RETURN(config,
                           ReadEvoConfig(file, contents, &request.warnings));
  }
  ASTRA_ASSIGN_OR_RETURN(request.model, ModelOf(flags, config));
  ASTRA_ASSIGN_OR_RETURN(
      request.seq_len,
      flags.integer("seq-length", config ? config->seq_len : kDefaultSeqLen, 1,
                    kMostEvoTokens));
  if (flags.has("run-all-solu")) {
    constexpr int64_t kTokens = 4 << 20;  // As InternEvo's simulator.
    ASTRA_ASSIGN_OR_RETURN(
        request.tokens,
        flags.integer("global-batch-size", kTokens, 1, kMostTokens));
    return absl::OkStatus();
  }
  constexpr std::string_view kOfSearches[] = {"global-batch-size", "seq-length",
                                              "top"};
  ASTRA_RETURN_IF_ERROR(Refuse(
      flags, kOfSearches, "without --run_all_solu the config says what runs"));
  EvoLayout& layout = request.layout.emplace(config->layout);
  if (layout.zero <= 0) {
    layout.zero = 1;
    if (CheckEvoLayout(request.model, request.seq_len, request.world, layout)
            .ok()) {
      layout.zero = WeightReplicas(layout, request.world);
    }
  }
  absl::Status legal =
      CheckEvoLayout(request.model, request.seq_len, request.world, layout);
  if (legal.ok()) return legal;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", file, std::string(legal.message())));
}

absl::Status ReadNumbers(const CommandLine& flags, EvoRequest& request) {
  const double gpu_load = request.gpu.calibration.training_load;
  ASTRA_ASSIGN_OR_RETURN(request.load, flags.number("load", gpu_load, 1));
  constexpr double kLeastLoad = 0.01;
  if (request.load < kLeastLoad) {
    return absl::InvalidArgumentError(fmt::format(
        "--load is {}: expected {} to 1", request.load, kLeastLoad));
  }
  ASTRA_ASSIGN_OR_RETURN(request.attention_speed,
                         flags.number("attention-speed", 1, 10));
  constexpr double kLeastSpeed = 0.01;
  if (request.attention_speed < kLeastSpeed) {
    return absl::InvalidArgumentError(
        fmt::format("--attention-speed is {}: expected {} to 10",
                    request.attention_speed, kLeastSpeed));
  }
  Calibration& calibration = request.gpu.calibration;
  calibration.attention_forward *= request.attention_speed;
  calibration.attention_backward *= request.attention_speed;
  constexpr int64_t kShown = 6;  // As InternEvo's simulator.
  constexpr int64_t kMostShown = 1000;
  ASTRA_ASSIGN_OR_RETURN(const int64_t shown,
                         flags.integer("top", kShown, 1, kMostShown));
  request.shown = static_cast<size_t>(shown);
  ASTRA_ASSIGN_OR_RETURN(request.gpu.memory_gb,
                         ReadPlannerMemory(flags, request.gpu));
  request.draws_heatmap = flags.has("draw-heatmap");
  if (request.draws_heatmap && request.world > kMostTrafficRanks) {
    return absl::InvalidArgumentError(
        fmt::format("--draw_heatmap draws at most {} ranks: there are {}",
                    kMostTrafficRanks, request.world));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EvoRequest> ReadEvoRequest(const CommandLine& flags) {
  EvoRequest request;
  ASTRA_RETURN_IF_ERROR(RefuseOthers(flags));
  for (const std::string_view name : {"gpu-type", "gpus"}) {
    ASTRA_RETURN_IF_ERROR(Require(flags, name));
  }
  ASTRA_ASSIGN_OR_RETURN(request.world,
                         flags.integer("gpus", 1, 1, kMostWorld));
  ASTRA_RETURN_IF_ERROR(ReadModelAndBatch(flags, request));
  ASTRA_ASSIGN_OR_RETURN(request.gpu, FindGpu(*flags.value("gpu-type")));
  std::vector<std::string> words;
  ASTRA_ASSIGN_OR_RETURN(request.run,
                         ReadPlannerCluster(flags, request.gpu, &words));
  ASTRA_RETURN_IF_ERROR(ReadNumbers(flags, request));
  request.profile = flags.value("profile");
  const std::string name = fmt::format(
      "internevo-{:.0f}b-{}-{}", ModelParameters(request.model) / kBillion,
      request.world, request.gpu.name);
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  request.name = std::move(output.name);
  request.output = std::move(output.folder);
  return request;
}

}  // namespace astra
