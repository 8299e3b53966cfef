#include "astra-core/engine/breakdown.h"

#include <algorithm>

#include "astra-core/base/check.h"
#include "astra-core/base/csv.h"
#include "fmt/core.h"

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

std::string CsvLine(const RankResult& rank, const TimePart& part,
                    const SimulationResult& result) {
  std::string name;
  std::string_view phase;
  if (part.layer) {
    name = CsvField(result.layer_names[part.layer->index()]);
    phase = Name(part.phase);
  }
  const double share = static_cast<double>(part.time.count()) /
                       static_cast<double>(result.total().count());
  return fmt::format("{},{},{},{},{},{},{},{},{:.6f},{:.6f}\n", rank.stage,
                     rank.rank, rank.count, Name(part.category),
                     part.dimension ? Name(*part.dimension) : "",
                     part.dimension ? Name(part.kind) : "", name, phase,
                     ToMicroseconds(part.time), share);
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

std::string BreakdownCsv(const SimulationResult& result) {
  std::string text =
      "stage,rank,ranks,category,group,collective,name,phase,time_us,share\n";
  for (const RankResult& rank : result.ranks) {
    for (const TimePart& part : TimePartsOf(rank, result)) {
      text += CsvLine(rank, part, result);
    }
  }
  return text;
}

}  // namespace astra
