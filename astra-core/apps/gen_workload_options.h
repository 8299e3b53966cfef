// What the command line of gen_workload asks for.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_OPTIONS_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "workload/generator/inference.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

enum class WorkloadFormat : uint8_t { kSimai, kProgram, kVidur, kAicbLog };

struct GenWorkloadOptions {
  ModelSpec model;
  GpuSpec gpu;
  std::variant<TrainingSetup, InferenceSetup> setup;

  std::vector<std::string> operator_tables;  // Files of measured operators.
  std::string table_gpu;  // Of tables that do not name one; empty: not given.
  std::optional<std::string> aiob_file;
  double load = 1;             // See ModuleTimes.
  double attention_speed = 1;  // By which `gpu` has been changed.

  WorkloadFormat format = WorkloadFormat::kSimai;
  std::optional<int64_t> stage;  // Of the pipeline, for SimAI and AICB.
  std::string output;            // The file to write.
  bool with_products = false;    // See AicbLogOptions.
  bool explain = false;
  bool force = false;  // Write it even if the memory is not there.
  bool chart = false;  // See CommunicationChart.
  Warnings warnings;   // Options without effect, defaults that matter.
};

absl::Span<const OptionSpec> GenWorkloadOptionSpecs();

// MODEL and CONFIG.json, as AICB's inference generator takes them.
constexpr size_t kGenWorkloadOperands = 2;

// The text of --help.
std::string GenWorkloadHelp();

// The examples that --help ends with.
absl::Span<const CommandExample> GenWorkloadExamples();

// Errors: InvalidArgument for a wrong value or options that contradict one
// another; those of FindModel and FindGpu. The rules of the layout are checked
// where the workload is made.
absl::StatusOr<GenWorkloadOptions> ReadGenWorkloadOptions(
    const CommandLine& flags);

// How it is trained, or what one inference step of it is. Errors as above.
absl::StatusOr<TrainingSetup> ReadTrainingOptions(const CommandLine& flags,
                                                  const ModelSpec& model);
absl::StatusOr<InferenceSetup> ReadInferenceOptions(const CommandLine& flags,
                                                    InferencePhase phase,
                                                    const ModelSpec& model);

// Refuses options that change nothing beside the others, such as
// --first-stage-layers where PP is 1, or warns of those that AICB's scripts
// always give, such as --sp where TP is 1.
absl::Status CheckEffects(const CommandLine& flags,
                          GenWorkloadOptions& options);

// The model that --model names, or the operands MODEL and CONFIG.json of AICB's
// inference generator, or one of the shape that AICB's options describe: a GPT,
// or with --framework DeepSeek a model with latent attention; each with what
// the options change in it. AICB's names of models, such as 7, 22, moe,
// deepseek671 or qwen3-235B, are understood.
absl::StatusOr<ModelSpec> ReadModelOptions(const CommandLine& flags,
                                           Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_OPTIONS_H_
