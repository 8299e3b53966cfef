#include "astra-core/engine/breakdown.h"

#include <algorithm>

#include "astra-core/base/check.h"

namespace astra {
namespace {

void Append(const TimePart& part, std::vector<TimePart>& parts) {
  if (part.time > TimePs(0)) parts.push_back(part);
}

void AppendComputations(const RankResult& rank, std::vector<TimePart>& parts) {
  for (uint32_t i = 0; i < rank.layers.size(); ++i) {
    for (const Phase phase : kPhases) {
      Append({.category = TimeCategory::kCompute,
              .layer = LayerId(i),
              .phase = phase,
              .dimension = std::nullopt,
              .time = rank.layers[i][IndexOf(phase)].compute},
             parts);
    }
  }
}

void AppendExposures(const RankResult& rank, std::vector<TimePart>& parts) {
  for (const Exposure& exposure : rank.exposures) {
    const bool is_message = exposure.dimension == ParallelDimension::kPipeline;
    TimePart part = {.category = is_message ? TimeCategory::kTransfer
                                            : TimeCategory::kNetwork,
                     .layer = exposure.layer,
                     .phase = exposure.phase,
                     .dimension = exposure.dimension,
                     .kind = exposure.kind,
                     .time = exposure.exposed - exposure.late};
    Append(part, parts);
    part.category = is_message ? TimeCategory::kBubble : TimeCategory::kLate;
    part.time = exposure.late;
    Append(part, parts);
  }
}

}  // namespace

std::string_view Name(TimeCategory category) {
  switch (category) {
    case TimeCategory::kCompute:
      return "compute";
    case TimeCategory::kSlowed:
      return "slowed";
    case TimeCategory::kNetwork:
      return "network";
    case TimeCategory::kLate:
      return "late";
    case TimeCategory::kTransfer:
      return "transfer";
    case TimeCategory::kBubble:
      return "bubble";
    case TimeCategory::kHost:
      return "host";
    case TimeCategory::kIdle:
      return "idle";
  }
  ASTRA_CHECK(false, "time category {}", static_cast<int>(category));
}

std::vector<TimePart> TimePartsOf(const RankResult& rank,
                                  const SimulationResult& result) {
  std::vector<TimePart> parts;
  AppendComputations(rank, parts);
  Append({.category = TimeCategory::kSlowed,
          .layer = std::nullopt,
          .dimension = std::nullopt,
          .time = rank.slowed},
         parts);
  AppendExposures(rank, parts);
  Append({.category = TimeCategory::kHost,
          .layer = std::nullopt,
          .dimension = std::nullopt,
          .time = rank.held},
         parts);
  Append({.category = TimeCategory::kIdle,
          .layer = std::nullopt,
          .dimension = std::nullopt,
          .time = result.total() - rank.finish},
         parts);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TimePart& a, const TimePart& b) {
                     return a.category < b.category;
                   });
  return parts;
}

}  // namespace astra
