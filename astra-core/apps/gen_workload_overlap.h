// Reads which collectives of training overlap with computation.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_OVERLAP_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_OVERLAP_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"
#include "workload/frameworks/framework.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// Reads "none", or names with `separator` between them.
//
// Errors: those of ParseOverlaps, after "--overlap: ".
absl::StatusOr<Overlaps> ParseOverlapOption(const std::string& text,
                                            char separator);

// Replaces `overlaps`, those of the framework, by those of --overlap if it is
// given.
//
// Errors: those of ParseOverlapOption; InvalidArgument for options that name
// one overlap beside it.
absl::Status ReadOverlaps(const CommandLine& flags, Overlaps& overlaps);

// Sets what overlaps in `setup`, in which the ZeRO stage is set, by the
// framework and by options that name one overlap.
//
// Errors: InvalidArgument for such an option without effect.
absl::Status ReadOverlap(const CommandLine& flags, const Framework& framework,
                         const ModelSpec& model, TrainingSetup& setup);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_OVERLAP_H_
