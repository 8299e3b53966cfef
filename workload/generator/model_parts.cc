#include "workload/generator/model_parts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

using Layers = std::vector<int64_t>;

// Returns how many parts of the model a stage holds, without its copies of the
// parts of other stages.
int64_t PartsOfStage(const TrainingSetup& setup) {
  return setup.pipeline_schedule()->holds_model_twice ? 1 : setup.chunks();
}

int64_t NumParts(const TrainingSetup& setup) {
  return setup.pipeline * PartsOfStage(setup);
}

// Returns at [s][c] the number of the part that stage s, chunk c holds. Parts
// are numbered in the order in which micro-batches pass them, from both ends
// where the schedule holds the model twice.
std::vector<Layers> PartNumbers(const TrainingSetup& setup) {
  const PipelineSchedule schedule = setup.pipeline_schedule();
  // These are enough micro-batches for any schedule; their number does not
  // matter.
  const PipelineShape shape = {.stages = setup.pipeline,
                               .chunks = setup.chunks(),
                               .micro_batches = 2 * setup.pipeline};
  std::vector<Layers> numbers(static_cast<size_t>(shape.stages),
                              Layers(static_cast<size_t>(shape.chunks)));
  for (const int64_t micro_batch : {int64_t{0}, shape.micro_batches - 1}) {
    std::optional<Place> place = FirstPlace(schedule, shape, micro_batch);
    for (int64_t part = 0; place; ++part) {
      numbers[static_cast<size_t>(place->stage)]
             [static_cast<size_t>(place->chunk)] = part;
      place = NextPlace(schedule, shape, *place);
    }
  }
  return numbers;
}

// Spreads `layers` over `count` places, as PartLayers describes. `first_less`
// and `last_less` tell whether that end may have one less.
Layers Spread(int64_t layers, int64_t count, bool first_less, bool last_less) {
  Layers spread(static_cast<size_t>(count), layers / count);
  const int64_t left = layers % count;
  if (left == 0) return spread;
  const int64_t less = (first_less ? 1 : 0) + (last_less ? 1 : 0);
  if (less > 0 && (layers + less) % count == 0) {
    spread.assign(spread.size(), (layers + less) / count);
    spread.front() -= first_less ? 1 : 0;
    spread.back() -= last_less ? 1 : 0;
    return spread;
  }
  for (size_t i = 1; i <= static_cast<size_t>(left); ++i) ++spread[i];
  return spread;
}

// Checks that stages can be split into chunks. With `is_even`, the chunks of a
// stage must be equal, except for one less where the embedding or the logits
// stand in for a block.
absl::Status CheckSplit(const Layers& stages, bool is_even,
                        const TrainingSetup& setup) {
  const int64_t chunks = setup.chunks();
  for (size_t s = 0; s < stages.size(); ++s) {
    const bool is_end = s == 0 || s + 1 == stages.size();
    const int64_t count = stages[s] + (is_end ? 1 : 0);
    if (is_even && stages[s] % chunks != 0 && count % chunks != 0) {
      return absl::InvalidArgumentError(
          fmt::format("VPP {} does not divide the {} layers of a pipeline "
                      "stage",
                      chunks, stages[s]));
    }
    if (count < chunks) {
      return absl::InvalidArgumentError(
          fmt::format("a pipeline stage has {} layers, fewer than VPP {}",
                      stages[s], chunks));
    }
  }
  return absl::OkStatus();
}

// Converts the layers of stages into the layers of parts.
absl::StatusOr<Layers> SplitStages(const Layers& stages, bool is_even,
                                   const TrainingSetup& setup) {
  const int64_t chunks = setup.chunks();
  if (PartsOfStage(setup) == 1) return stages;
  ASTRA_RETURN_IF_ERROR(CheckSplit(stages, is_even, setup));
  const std::vector<Layers> numbers = PartNumbers(setup);
  const auto last = static_cast<size_t>(NumParts(setup) - 1);
  Layers parts(last + 1);
  for (size_t s = 0; s < stages.size(); ++s) {
    const Layers& of_stage = numbers[s];
    const Layers spread = Spread(stages[s], chunks, of_stage.front() == 0,
                                 of_stage.back() == static_cast<int64_t>(last));
    for (size_t c = 0; c < of_stage.size(); ++c) {
      parts[static_cast<size_t>(of_stage[c])] = spread[c];
    }
  }
  return parts;
}

// Returns the layer counts that the user gave. A list of the wrong length is
// returned unchanged; CheckLayers reports it.
absl::StatusOr<Layers> GivenLayers(const TrainingSetup& setup) {
  const auto count = static_cast<int64_t>(setup.stage_layers.size());
  if (count != setup.pipeline) return setup.stage_layers;
  return SplitStages(setup.stage_layers, /*is_even=*/false, setup);
}

// Spreads the remaining layers evenly over the stages between the first and the
// last.
absl::StatusOr<Layers> LayersBetween(const ModelSpec& model,
                                     const TrainingSetup& setup) {
  const int64_t first = setup.first_stage_layers.value_or(0);
  const int64_t last = setup.last_stage_layers.value_or(0);
  const int64_t others = setup.pipeline - (setup.first_stage_layers ? 1 : 0) -
                         (setup.last_stage_layers ? 1 : 0);
  const int64_t left = model.layers - first - last;
  if (others < 0 || left < others || (others == 0 && left > 0) ||
      (others > 0 && left % others != 0)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} of {} layers are left for the {} other pipeline stages of PP {}: "
        "expected as many on each",
        left, model.layers, others, setup.pipeline));
  }
  Layers stages(static_cast<size_t>(setup.pipeline),
                others > 0 ? left / others : 0);
  if (setup.first_stage_layers) stages.front() = first;
  if (setup.last_stage_layers) stages.back() = last;
  return SplitStages(stages, /*is_even=*/true, setup);
}

// Returns equal parts where the embedding or the logits count as a block.
absl::StatusOr<Layers> AccountedLayers(const ModelSpec& model,
                                       const TrainingSetup& setup) {
  const int64_t first = setup.account_for_embedding ? 1 : 0;
  const int64_t last = setup.account_for_loss ? 1 : 0;
  const int64_t blocks = model.layers + first + last;
  const int64_t parts = NumParts(setup);
  if (blocks % parts != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} layers and {} that the embedding and the loss count "
                    "for are no multiple of the {} parts of the pipeline",
                    model.layers, first + last, parts));
  }
  Layers layers(static_cast<size_t>(parts), blocks / parts);
  layers.front() -= first;
  layers.back() -= last;
  return layers;
}

absl::StatusOr<Layers> UncheckedLayers(const ModelSpec& model,
                                       const TrainingSetup& setup) {
  if (!setup.stage_layers.empty()) return GivenLayers(setup);
  if (setup.first_stage_layers || setup.last_stage_layers) {
    return LayersBetween(model, setup);
  }
  if (setup.account_for_embedding || setup.account_for_loss) {
    return AccountedLayers(model, setup);
  }
  const bool by_stage = setup.pipeline_schedule()->has_virtual_stages;
  const Layers layers =
      Spread(model.layers, by_stage ? setup.pipeline : NumParts(setup),
             /*first_less=*/true, /*last_less=*/true);
  if (!by_stage) return layers;
  return SplitStages(layers, /*is_even=*/true, setup);
}

absl::Status CheckLayers(const Layers& layers, const ModelSpec& model,
                         const TrainingSetup& setup) {
  const int64_t parts = NumParts(setup);
  const int64_t sum = std::accumulate(layers.begin(), layers.end(), int64_t{0});
  if (static_cast<int64_t>(layers.size()) != parts || sum != model.layers) {
    const std::string or_parts =
        parts == setup.pipeline ? "" : fmt::format(", or PP x VPP {},", parts);
    return absl::InvalidArgumentError(fmt::format(
        "the stages have {} layers: expected PP {}{} numbers that add up to {}",
        fmt::join(setup.stage_layers.empty() ? layers : setup.stage_layers,
                  ","),
        setup.pipeline, or_parts, model.layers));
  }
  const bool has_lone_ends = setup.chunks() > 1 ||
                             setup.account_for_embedding ||
                             setup.account_for_loss;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == layers.size();
    if (layers[i] > 0 || (layers[i] == 0 && is_end && has_lone_ends)) continue;
    return absl::InvalidArgumentError(
        setup.chunks() == 1 ? "a pipeline stage has no layer"
                            : "a chunk of a pipeline stage has no layer");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<BlockGroup> GroupsOf(const ModelPart& part,
                                 const TrainingSetup& setup) {
  const bool is_full = setup.recompute == Recompute::kFull;
  const bool is_uniform = setup.recompute_method == RecomputeMethod::kUniform;
  const int64_t layers = setup.recompute_layers.value_or(1);
  const int64_t step = is_full && is_uniform ? layers : 1;
  std::vector<BlockGroup> groups;
  for (int64_t layer = part.first_layer; layer < part.end_layer;) {
    const int64_t end = std::min(layer + step, part.end_layer);
    const bool is_among = is_uniform || layer < part.first_layer + layers;
    const bool recomputes = setup.recompute != Recompute::kNone;
    groups.push_back({layer, end, recomputes && is_among});
    layer = end;
  }
  return groups;
}

absl::StatusOr<std::vector<int64_t>> PartLayers(const ModelSpec& model,
                                                const TrainingSetup& setup) {
  ASTRA_ASSIGN_OR_RETURN(Layers layers, UncheckedLayers(model, setup));
  ASTRA_RETURN_IF_ERROR(CheckLayers(layers, model, setup));
  return layers;
}

void FillLastStages(const ModelSpec& model, TrainingSetup& setup) {
  const int64_t over = model.layers % setup.pipeline;
  if (over == 0 || setup.chunks() > 1) return;
  setup.stage_layers.assign(static_cast<size_t>(setup.pipeline),
                            model.layers / setup.pipeline);
  for (auto stage = setup.stage_layers.end() - over;
       stage != setup.stage_layers.end(); ++stage) {
    ++*stage;
  }
}

std::vector<std::vector<ModelPart>> PartsOfStages(const ModelSpec& model,
                                                  const TrainingSetup& setup) {
  const absl::StatusOr<Layers> layers = PartLayers(model, setup);
  ASTRA_CHECK(layers.ok(), "{}", layers.status().ToString());
  std::vector<ModelPart> parts(layers->size());
  int64_t layer = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = {.first_layer = layer,
                .end_layer = layer + (*layers)[i],
                .has_embedding = i == 0,
                .has_logits = i + 1 == parts.size()};
    layer = parts[i].end_layer;
  }
  std::vector<std::vector<ModelPart>> stages;
  for (const Layers& numbers : PartNumbers(setup)) {
    std::vector<ModelPart>& stage = stages.emplace_back();
    for (const int64_t number : numbers) {
      stage.push_back(parts[static_cast<size_t>(number)]);
    }
  }
  return stages;
}

}  // namespace astra
