// Reads which work training repeats in the backward pass: --recompute and the
// options that refine it.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_RECOMPUTE_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_RECOMPUTE_H_

#include "absl/status/status.h"
#include "astra-core/command_line/command_line.h"
#include "workload/frameworks/framework.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// Sets the recomputation of `setup`. --recompute-modules stands for selective
// recomputation, and --recompute-num-layers for full recomputation.
//
// Errors: InvalidArgument for an unknown name, and for options that contradict
// one another or have no effect.
absl::Status ReadRecompute(const CommandLine& flags, const ModelSpec& model,
                           const Framework& framework, TrainingSetup& setup);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_RECOMPUTE_H_
