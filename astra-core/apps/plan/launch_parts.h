// Parts of the launch files that all launchers share.

#ifndef ASTRA_CORE_APPS_PLAN_LAUNCH_PARTS_H_
#define ASTRA_CORE_APPS_PLAN_LAUNCH_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/planner/layout.h"
#include "workload/generator/model_parts.h"

namespace astra {

struct LaunchJob {
  const PlanJob& job;
  const Layout& layout;
  TrainingSetup setup;                    // SetupOf(layout).
  std::vector<int64_t> layers;            // Of each part of the pipeline.
  std::vector<ModelPart> first_stage;     // By chunk.
  std::optional<std::string> dispatcher;  // Takes tokens to experts.
};

// Options of a command line, a line each.
class OptionLines {
 public:
  void Number(std::string_view name, int64_t value);
  void Word(std::string_view name, std::string_view value);
  void Flag(std::string_view name, bool is_given = true);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using Notes = std::vector<std::string>;

// Returns the files of one launcher, and adds to `notes` what it cannot do as
// the layout does.
//
// Sources of the names: Megatron Core 0.15, developer guide, and
// megatron/training/arguments.py; TorchTitan, torchtitan/config/job_config.py,
// distributed/activation_checkpoint.py and distributed/pipeline_parallel.py of
// August 2025 (commit 6404b93); Megatron-DeepSpeed, megatron/arguments.py of
// 2024 (commit 207b2d5), and DeepSpeed, docs/_pages/config-json.md.
std::vector<NamedFile> MegatronFiles(const LaunchJob& launch, Notes& notes);
std::vector<NamedFile> TorchTitanFiles(const LaunchJob& launch, Notes& notes);
std::vector<NamedFile> DeepSpeedFiles(const LaunchJob& launch, Notes& notes);

// Adds that `launcher` lacks the schedule of the layout.
void NoteSchedule(const LaunchJob& launch, std::string_view launcher,
                  Notes& notes);

// Adds that `launcher` lacks the order of ranks of the layout.
void NoteOrder(const LaunchJob& launch, std::string_view launcher,
               Notes& notes);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_LAUNCH_PARTS_H_
