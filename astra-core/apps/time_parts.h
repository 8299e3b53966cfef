// The parts that pages divide the time of a rank into, with their colours:
// compute and what slows it, waiting by group, messages, bubbles, the CPU.

#ifndef ASTRA_CORE_APPS_TIME_PARTS_H_
#define ASTRA_CORE_APPS_TIME_PARTS_H_

#include <cstddef>
#include <optional>

#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/breakdown.h"
#include "astra-core/pages/bar_chart.h"

namespace astra {

// Plans have the same colours.
inline constexpr BarPart kTimeParts[] = {
    {"compute", "#0072b2"},    {"slowed", "#56b4e9"},
    {"TP", "#e69f00"},         {"CP", "#f0e442"},
    {"EP and ETP", "#d55e00"}, {"DP", "#cc79a7"},
    {"late", "#7a5fd0"},       {"messages", "#009e73"},
    {"bubble", "#999999"},     {"CPU and copies", "#b03a68"},
    {"idle", "#cccccc"}};

// Returns the position in kTimeParts of a wait for a collective of `dimension`,
// or of a message where that is kPipeline.
size_t TimePartOf(ParallelDimension dimension);

// Returns the position in kTimeParts of what a rank did. `dimension` is what it
// waited for, if it did.
size_t TimePartOf(TimeCategory category,
                  std::optional<ParallelDimension> dimension = std::nullopt);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TIME_PARTS_H_
