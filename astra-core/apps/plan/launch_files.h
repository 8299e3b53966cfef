// Writes the arguments with which a framework trains with a layout. Which files
// they are is a fact of the framework, its `launcher`:
//
//   megatron    megatron.txt, options of Megatron-LM
//   torchtitan  torchtitan.toml, tables of TorchTitan's configuration
//   deepspeed   ds_config.json and deepspeed.txt, options of Megatron-DeepSpeed
//   none        no file
//
// They say the layout and the batch, not the model's shape beyond its layers,
// nor data and learning rates. What a launcher cannot do as the plan does is in
// launch-notes.txt, a sentence a line.

#ifndef ASTRA_CORE_APPS_PLAN_LAUNCH_FILES_H_
#define ASTRA_CORE_APPS_PLAN_LAUNCH_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/base/files.h"
#include "astra-core/planner/layout.h"

namespace astra {

// The names of all files that LaunchFiles may return.
inline constexpr std::string_view kLaunchFileNames[] = {
    "megatron.txt", "torchtitan.toml", "ds_config.json", "deepspeed.txt",
    "launch-notes.txt"};

// Returns the files of the framework of `options`.
std::vector<NamedFile> LaunchFiles(const SimaiPlannerOptions& options,
                                   const Layout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_LAUNCH_FILES_H_
