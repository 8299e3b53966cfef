// Options of gen_workload, as its command line gives them.

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
#include "workload/frameworks/framework.h"
#include "workload/generator/inference.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"
#include "workload/operators/fused_kernels.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

enum class WorkloadFormat : uint8_t { kSimai, kProgram, kVidur, kAicbLog };

struct GenWorkloadOptions {
  ModelSpec model;
  GpuSpec gpu;
  std::variant<TrainingSetup, InferenceSetup> setup;
  Framework framework;  // Framework that trains.

  std::vector<std::string> operator_tables;  // Files of measured operators.
  // GPU of tables that do not name one; empty: not given.
  std::string table_gpu;
  std::optional<std::string> aiob_file;
  double load = 1;             // Share of speed kept; see ModuleTimes.
  double attention_speed = 1;  // Factor already applied to `gpu`.
  FusedKernels fused;          // What the engine of an inference step fuses.
  std::string engine;          // Its name; "" if none is taken.
  bool has_engine = false;     // Whether the command line names that engine.

  WorkloadFormat format = WorkloadFormat::kSimai;
  std::optional<int64_t> stage;  // Pipeline stage, for SimAI and AICB.
  std::string output;            // File to write.
  bool with_products = false;    // See AicbLogOptions.
  bool explain = false;
  bool force = false;  // Writes it even if the memory may not suffice.
  bool chart = false;  // See CommunicationChart.
  Warnings warnings;   // Options without effect, important defaults.
};

absl::Span<const OptionSpec> GenWorkloadOptionSpecs();

// Number of operands: MODEL and CONFIG.json, as AICB's inference generator
// takes them.
constexpr size_t kGenWorkloadOperands = 2;

// Returns the text of --help.
std::string GenWorkloadHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> GenWorkloadExamples();

// Reads the command line. The rules of the layout are checked later, where the
// workload is made.
//
// Errors: InvalidArgument for a wrong value or options that contradict one
// another; those of FindModel and FindGpu.
absl::StatusOr<GenWorkloadOptions> ReadGenWorkloadOptions(
    const CommandLine& flags);

// Reads the framework of training; Megatron's if none is given. Errors: those
// of LoadFramework.
absl::StatusOr<Framework> ReadFramework(const CommandLine& flags);

// Returns the share of their speed that products and attention keep up with a
// ZeRO stage, unless --load says it; see ModuleTimes.
double TrainingLoad(const Framework& framework, const GpuSpec& gpu, Zero zero);

// Reads how `model` is trained with `framework`, or what one step of its
// inference is. Errors: those of ReadGenWorkloadOptions.
absl::StatusOr<TrainingSetup> ReadTrainingOptions(const CommandLine& flags,
                                                  const ModelSpec& model,
                                                  const Framework& framework);
absl::StatusOr<InferenceSetup> ReadInferenceOptions(const CommandLine& flags,
                                                    InferencePhase phase,
                                                    const ModelSpec& model);

// Refuses options that change nothing beside the others, such as
// --first-stage-layers where PP is 1. Only warns of options that AICB's scripts
// always give, such as --sp where TP is 1.
absl::Status CheckEffects(const CommandLine& flags,
                          GenWorkloadOptions& options);

// Returns the model of the command line, with the changes that its options ask
// for. It is the model that --model names; or that of the operands MODEL and
// CONFIG.json of AICB's inference generator; or one of the shape that AICB's
// options describe, which is a GPT, or with --framework DeepSeek a model with
// latent attention. AICB's names of models, such as 7, 22, moe, deepseek671 or
// qwen3-235B, are understood.
absl::StatusOr<ModelSpec> ReadModelOptions(const CommandLine& flags,
                                           Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_OPTIONS_H_
