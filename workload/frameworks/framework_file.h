// Reads the facts of training frameworks from YAML files such as those of
// inputs/frameworks:
//
// clang-format off
//   name: megatron-bridge
//   aliases: [nemo]          # Absent: none.
//   source: [where the facts come from]
//   base: megatron           # Or megatron-bridge@0.4. Absent keys are as of
//                            # this bundled framework, or as of Framework()
//                            # where `base` is absent.
//   launcher: megatron       # Or torchtitan, deepspeed, none.
//   zero: 1
//   fixed_zero: false
//   stages_stay_whole: false
//   grad_dtype: fp32         # Or bf16.
//   vocabulary_divisor: 128
//   fills_last_stages: false
//   overlap: [gradients, parameters, tp, shared_experts]
//   fp8_dispatch: false
//   fused_loss: false
//   loss_metrics: 0
//   stops_recomputing: false
//   attention_speed: 1
//   optimizer_workspace: 0
//   transformer_engine: 2.11 # Absent: products run elsewhere.
//   weights_in_experts: false
//   expert_host_us: 450
//   fused_experts: false
//   recompute_modules: [core_attn]  # See recompute_module.h.
//   moment_dtype: fp32       # Or bf16.
//   fp32_shards: false
//   fp8_activation_inputs: false
//   attention_output_bits: 12  # 8 to 16. Absent: attention keeps its output in
//                            # BF16 beside the copy of a product in FP8.
//   loss_workspace: 2        # Bytes a logit.
//   load: 0.8                # Absent: that of the GPU's file.
//   iteration_us: 0
//   releases:                # Absent: all releases are alike.
//     - {since: 0.4, source: "..."}
//     - {since: 0.5, source: "...", fused_loss: true}
// clang-format on
//
// A release has the facts of the one before it, but for those that it names.

#ifndef WORKLOAD_FRAMEWORKS_FRAMEWORK_FILE_H_
#define WORKLOAD_FRAMEWORKS_FRAMEWORK_FILE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/frameworks/framework.h"

namespace astra {

// Parses a file. Returns the releases of its framework, the oldest first, or
// one framework without a release.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that is no YAML, a
// key that is unknown or missing, a value out of range, releases that do not
// ascend, facts that contradict one another, and a base that is not bundled.
absl::StatusOr<std::vector<Framework>> ParseFramework(
    std::string_view file, std::string_view contents);

// Finds a bundled framework by "NAME" or "NAME@RELEASE", or reads a file: text
// with a "/", or that ends in .yaml or .yml before the "@". Without a release
// the newest counts; a release holds until the next one.
//
// Errors: those of ReadFile and ParseFramework; NotFound for an unknown name;
// InvalidArgument for a release before the first.
absl::StatusOr<Framework> LoadFramework(std::string_view text);

// Returns the names of the bundled frameworks, sorted.
std::vector<std::string_view> FrameworkNames();

}  // namespace astra

#endif  // WORKLOAD_FRAMEWORKS_FRAMEWORK_FILE_H_
