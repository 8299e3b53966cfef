#include "astra-core/apps/measured_inputs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_times.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {

std::vector<std::string> FilesOf(const std::optional<std::string>& list) {
  std::vector<std::string> files;
  if (!list) return files;
  std::string_view rest = *list;
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    files.emplace_back(rest.substr(0, comma));
    if (comma == rest.size()) return files;
    rest.remove_prefix(comma + 1);
  }
}

absl::StatusOr<std::shared_ptr<const MeasuredCurves>> ReadMeasuredCurves(
    absl::Span<const std::string> files, const std::string& gpu,
    std::optional<Launch> launch, bool symmetric, Warnings* warnings) {
  if (files.empty()) return nullptr;
  ASTRA_ASSIGN_OR_RETURN(
      const MeasuredTimes times,
      MeasuredTimes::Read(
          files, {.gpu = gpu, .launch = launch, .symmetric = symmetric}));
  warnings->insert(warnings->end(), times.notes().begin(), times.notes().end());
  return std::make_shared<const MeasuredCurves>(times.curves());
}

std::optional<MeasuredGroup> MeasuredGroupOf(CollectiveKind kind,
                                             absl::Span<const RankId> ranks,
                                             const Topology& topology) {
  std::map<uint32_t, uint32_t> by_server;
  for (const RankId rank : ranks) ++by_server[topology.ServerOf(rank)];
  const auto servers = static_cast<uint32_t>(by_server.size());
  const auto per_server = static_cast<uint32_t>(ranks.size()) / servers;
  for (const auto& [_, count] : by_server) {
    if (count != per_server) return std::nullopt;
  }
  return MeasuredGroup{kind, servers, per_server};
}

void WarnOfUnusedMeasurements(absl::Span<const std::string> files,
                              const MeasuredCurves& curves,
                              const CollectiveSizes& used,
                              const ParallelPlan& plan,
                              const Topology& topology, Warnings& warnings) {
  std::string missing;
  for (const auto& [key, _] : used) {
    const auto& [dimension, kind] = key;
    for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
      const std::optional<MeasuredGroup> group =
          MeasuredGroupOf(kind, plan.Ranks(dimension, g), topology);
      if (!group) continue;
      if (FindCurve(curves, *group) != nullptr) return;
      if (!missing.empty()) continue;
      missing = fmt::format(", such as {} on {} x {} GPUs", Name(kind),
                            group->num_servers, group->gpus_per_server);
    }
  }
  warnings.push_back(
      fmt::format("{}: no effect: nothing there was measured for a collective "
                  "of this run{}",
                  fmt::join(files, ", "), missing));
}

}  // namespace astra
