// Tells InternEvo's way of planning from the ordinary one on the command line.
//
// The options --run_all_solu and --config ask for it. The model is then a size
// in billions (--model_size 7) or in the config, and the batch is in tokens
// (--global_batch_size). Otherwise the model is a name or a file, and the batch
// is in sequences (--global-batch).

#ifndef ASTRA_CORE_APPS_PLAN_INTERNEVO_OPTIONS_H_
#define ASTRA_CORE_APPS_PLAN_INTERNEVO_OPTIONS_H_

#include "absl/status/status.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

bool AsksForInternEvo(const CommandLine& flags);

// Checks a command line of the ordinary way.
//
// Errors: InvalidArgument for options of InternEvo's way only, and for a number
// as the model.
absl::Status RefuseInternEvo(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_INTERNEVO_OPTIONS_H_
