#include "astra-core/serving/sequence_cache.h"

#include <cstddef>
#include <variant>

#include "astra-core/base/status_macros.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"

namespace astra {
namespace {

// Returns the positions to which windows of the model look back; 0: none has
// one.
int64_t WindowOf(const ModelSpec& model) {
  const auto* const full = std::get_if<FullAttention>(&model.attention);
  return full == nullptr ? 0 : full->window;
}

// Returns the bytes that a GPU of each stage keeps of `tokens` positions.
absl::StatusOr<std::vector<double>> BytesAt(const ModelSpec& model,
                                            InferenceSetup setup,
                                            int64_t tokens) {
  setup.positions = tokens;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(model, setup));
  std::vector<double> stages;
  for (const ProgramStage& stage : blueprint.stages) {
    double bytes = 0;
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        const MockModule& module = blueprint.modules[id.index()];
        bytes += static_cast<double>(run.times * module.memory.cache.count());
      }
    }
    stages.insert(stages.end(), static_cast<size_t>(stage.count), bytes);
  }
  return stages;
}

}  // namespace

absl::StatusOr<std::vector<SequenceCache>> SequenceCachesOf(
    const ModelSpec& model, const ServingLayout& layout) {
  const InferenceSetup setup = SetupOf(layout);
  const int64_t window = WindowOf(model);
  const int64_t beyond = std::max<int64_t>(1, window);
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> one,
                         BytesAt(model, setup, 1));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> two,
                         BytesAt(model, setup, 2));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> filled,
                         BytesAt(model, setup, beyond));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> next,
                         BytesAt(model, setup, beyond + 1));
  const double share = layout.fp8_cache ? 0.5 : 1;
  std::vector<SequenceCache> stages;
  for (size_t i = 0; i < one.size(); ++i) {
    const double of_all = two[i] - one[i];
    const double of_full = next[i] - filled[i];
    stages.push_back({.fixed_bytes = one[i] - of_all,
                      .bytes_per_token = share * of_full,
                      .window_bytes_per_token = share * (of_all - of_full),
                      .window = window});
  }
  return stages;
}

}  // namespace astra
