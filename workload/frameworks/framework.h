// Describes what a training framework does whatever the job: what it shards and
// overlaps by default, which kernels it fuses, and what it keeps in memory. One
// release differs from another by these facts only.

#ifndef WORKLOAD_FRAMEWORKS_FRAMEWORK_H_
#define WORKLOAD_FRAMEWORKS_FRAMEWORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/modules/overlaps.h"
#include "workload/modules/recompute_module.h"

namespace astra {

// Limits of numbers of a Framework, also where options set them.
inline constexpr double kLeastAttentionSpeed = 0.01;
inline constexpr double kMostAttentionSpeed = 10;
inline constexpr int64_t kMostOptimizerWorkspace = 64;  // Bytes a parameter.
inline constexpr double kLeastLoad = 0.01;
inline constexpr int64_t kMostHostUs = 100'000'000;  // Of a layer or iteration.

// What takes the arguments that launch a layout.
enum class Launcher : uint8_t { kMegatron, kTorchTitan, kDeepSpeed, kNone };
constexpr std::string_view kLauncherNames[] = {"megatron", "torchtitan",
                                               "deepspeed", "none"};

struct Framework {
  std::string name;  // "megatron"
  std::vector<std::string> aliases;
  std::string release;  // The first that does all of this; empty: not known.

  Launcher launcher = Launcher::kMegatron;

  int64_t zero = 1;         // ZeRO stage unless another is asked for.
  bool fixed_zero = false;  // No other stage can be asked for.
  // With a pipeline, ZeRO 2 and 3 gather parameters before the first
  // micro-batch only and reduce gradients after the last one; in between both
  // are whole. Otherwise they need PP 1.
  bool stages_stay_whole = false;
  int64_t gradient_bytes = 4;
  int64_t vocabulary_divisor = 128;  // See PaddedVocabulary; 0: no padding.
  // Where the blocks do not divide by the stages, the last stages have one more
  // each. Otherwise such a layout is an error.
  bool fills_last_stages = false;

  Overlaps overlaps;

  bool fp8_dispatch = false;  // Tokens go to experts in FP8.
  bool fused_loss = false;    // See CrossEntropy.
  int64_t loss_metrics = 0;   // See CrossEntropy.
  // Full recomputation ends with the last tensor that the backward pass needs.
  bool stops_recomputing = false;
  // Rate of attention's kernels, relative to those of the GPU's file.
  double attention_speed = 1;
  int64_t optimizer_workspace = 0;  // See TrainingSetup.
  // Release of Transformer Engine that runs with it, such as "2.11"; empty: its
  // products run elsewhere.
  std::string transformer_engine;
  bool weights_in_experts = false;  // See ModuleContext.
  int64_t expert_host_ns = 0;       // See ModuleContext.
  bool fused_experts = false;       // See ModuleContext.
  // PyTorch compiles the blocks, so that what eager PyTorch runs kernel by
  // kernel between products is fused. Products and attention then keep up the
  // training_load of the GPU whatever is sharded; sharded_load was fitted to
  // frameworks that run eagerly.
  bool compiled = false;
  // Share of their speed that products and attention keep up; none: that of
  // the GPU's file. See Calibration::training_load.
  std::optional<double> load;
  int64_t iteration_host_ns = 0;  // See TrainingSetup.

  // What selective recomputation runs again, unless modules are asked for.
  RecomputeModules recompute_modules = RecomputeModule::kCoreAttention;
  int64_t moment_bytes = 4;  // Of each of Adam's two moments.
  // See TrainingSetup and ModuleContext.
  bool fp32_shards = false;
  bool fp8_activation_inputs = false;
  int64_t attention_output_bits = 0;
  int64_t loss_workspace = 2;
};

}  // namespace astra

#endif  // WORKLOAD_FRAMEWORKS_FRAMEWORK_H_
