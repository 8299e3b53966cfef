#include "astra-core/apps/plan/launch_files.h"

#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/launch_parts.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "workload/generator/model_parts.h"

namespace astra {

void OptionLines::Number(std::string_view name, int64_t value) {
  AppendFormat(&text_, "--{} {}\n", name, value);
}

void OptionLines::Word(std::string_view name, std::string_view value) {
  AppendFormat(&text_, "--{} {}\n", name, value);
}

void OptionLines::Flag(std::string_view name, bool is_given) {
  if (is_given) AppendFormat(&text_, "--{}\n", name);
}

void NoteSchedule(const LaunchJob& launch, std::string_view launcher,
                  Notes& notes) {
  notes.push_back(fmt::format("{} has no schedule {}: its default runs instead",
                              launcher, Name(launch.layout.schedule)));
}

void NoteOrder(const LaunchJob& launch, std::string_view launcher,
               Notes& notes) {
  notes.push_back(fmt::format("{} does not number ranks by {}", launcher,
                              Name(launch.layout.order)));
}

std::vector<NamedFile> LaunchFiles(const SimaiPlannerOptions& options,
                                   const Layout& layout) {
  const PlanJob& job = options.job;
  TrainingSetup setup = SetupOf(job, layout);
  absl::StatusOr<std::vector<int64_t>> layers = PartLayers(job.model, setup);
  ASTRA_CHECK(layers.ok(), "{}", layers.status().ToString());
  std::vector<ModelPart> first = PartsOfStages(job.model, setup).front();
  LaunchJob launch = {job,
                      layout,
                      std::move(setup),
                      *std::move(layers),
                      std::move(first),
                      options.run.dispatcher};
  if (layout.expert == 1) launch.dispatcher.reset();
  Notes notes;
  std::vector<NamedFile> files;
  switch (options.workloads.front().framework.launcher) {
    case Launcher::kMegatron:
      files = MegatronFiles(launch, notes);
      break;
    case Launcher::kTorchTitan:
      files = TorchTitanFiles(launch, notes);
      break;
    case Launcher::kDeepSpeed:
      files = DeepSpeedFiles(launch, notes);
      break;
    case Launcher::kNone:
      break;
  }
  if (notes.empty()) return files;
  std::string text;
  for (const std::string& note : notes) AppendFormat(&text, "{}\n", note);
  files.push_back({"launch-notes.txt", std::move(text)});
  return files;
}

}  // namespace astra
