#include "astra-core/apps/chakra_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/gpu_spec.h"
#include "workload/traces/chakra_file.h"

namespace astra {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".et";
constexpr int64_t kMostRanks = int64_t{1} << 24;

std::string FileOf(const std::string& prefix, size_t rank) {
  return fmt::format("{}.{}{}", prefix, rank, kSuffix);
}

// The rank of a file named STEM.RANK.et; none of another file.
std::optional<int64_t> RankOf(const std::string& name,
                              const std::string& stem) {
  if (name.size() <= stem.size() + 1 + kSuffix.size() ||
      name.compare(0, stem.size(), stem) != 0 || name[stem.size()] != '.' ||
      !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const size_t begin = stem.size() + 1;
  const absl::StatusOr<int64_t> rank = ParseInteger(
      "rank", name.substr(begin, name.size() - begin - kSuffix.size()), 0,
      kMostRanks - 1);
  return rank.ok() ? std::optional(*rank) : std::nullopt;
}

// The ranks that have files, ascending.
std::vector<int64_t> RanksOf(const std::string& prefix) {
  const fs::path path(prefix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<int64_t> ranks;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const auto rank =
        RankOf(entry.path().filename().string(), path.filename().string());
    if (rank) ranks.push_back(*rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// The number of ranks, whose files must be there from 0 on.
absl::StatusOr<uint32_t> CountRanks(const std::string& prefix) {
  const std::vector<int64_t> ranks = RanksOf(prefix);
  if (ranks.empty()) {
    return absl::NotFoundError(
        fmt::format("{}: no such file, nor any other of the trace --chakra {}",
                    FileOf(prefix, 0), prefix));
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == static_cast<int64_t>(i)) continue;
    return absl::NotFoundError(fmt::format(
        "{}: no such file, but there are files up to {}", FileOf(prefix, i),
        FileOf(prefix, static_cast<size_t>(ranks.back()))));
  }
  return static_cast<uint32_t>(ranks.size());
}

absl::StatusOr<std::vector<ProcessGroup>> ReadGroups(
    const std::string& prefix, const std::optional<std::string>& groups_file,
    uint32_t num_ranks) {
  const std::string file = groups_file.value_or(prefix + ".json");
  std::error_code error;
  if (!groups_file && !fs::exists(file, error)) {
    return std::vector<ProcessGroup>();
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  return ParseProcessGroups(file, contents, num_ranks);
}

}  // namespace

absl::StatusOr<ExecutionTrace> ReadChakraTrace(
    const std::string& prefix, const std::optional<std::string>& groups_file,
    const std::optional<PeakRates>& peak, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const uint32_t num_ranks, CountRanks(prefix));
  ASTRA_ASSIGN_OR_RETURN(std::vector<ProcessGroup> groups,
                         ReadGroups(prefix, groups_file, num_ranks));
  ChakraImport import(std::move(groups), num_ranks, peak);
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    const std::string name = FileOf(prefix, rank);
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(name));
    ASTRA_ASSIGN_OR_RETURN(const ChakraFile file,
                           ParseChakraFile(name, contents));
    ASTRA_RETURN_IF_ERROR(import.AddRank(name, file));
  }
  return import.Finish(warnings);
}

std::vector<std::string> LaterRankFiles(const std::string& prefix,
                                        size_t num_ranks) {
  const std::string stem = fs::path(prefix).filename().string();
  std::vector<std::string> names;
  for (const int64_t rank : RanksOf(prefix)) {
    if (rank < static_cast<int64_t>(num_ranks)) continue;
    names.push_back(FileOf(stem, static_cast<size_t>(rank)));
  }
  return names;
}

absl::StatusOr<PeakRates> FindPeakRates(const std::string& name) {
  ASTRA_ASSIGN_OR_RETURN(const GpuSpec gpu, FindGpu(name));
  const auto bf16 = static_cast<size_t>(Precision::kBf16);
  return PeakRates{gpu.peak_tflops[bf16] * 1e12, gpu.memory_gb_per_s * 1e9};
}

}  // namespace astra
