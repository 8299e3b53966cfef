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
  std::string table_gpu;                     // Of tables that do not name one.
  std::optional<std::string> aiob_file;
  double load = 1;  // See ModuleTimes.

  WorkloadFormat format = WorkloadFormat::kSimai;
  std::optional<int64_t> stage;  // Of the pipeline, for SimAI and AICB.
  std::string output;            // The file to write.
  bool with_products = false;    // See AicbLogOptions.
  bool explain = false;
  bool force = false;  // Write it even if the memory is not there.
  Warnings warnings;   // Options without effect, defaults that matter.
};

absl::Span<const OptionSpec> GenWorkloadOptionSpecs();

// The text of --help.
std::string GenWorkloadHelp();

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

// The model that --model names, or a GPT of the shape that AICB's options
// describe, with what the options change in it. AICB's names of models, such as
// 7, 22, moe or deepseek671, are understood.
absl::StatusOr<ModelSpec> ReadModelOptions(const CommandLine& flags,
                                           Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_OPTIONS_H_
