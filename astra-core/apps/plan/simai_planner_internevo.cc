#include "astra-core/apps/plan/simai_planner_internevo.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/apps/plan/heat_map.h"
#include "astra-core/apps/plan/internevo_profile.h"
#include "astra-core/apps/plan/internevo_report.h"
#include "astra-core/apps/plan/internevo_request.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/planner/internevo/evo_config.h"
#include "astra-core/planner/internevo/evo_search.h"
#include "astra-core/planner/internevo/evo_traffic.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

constexpr size_t kMostSolutions = 1000;  // In solutions.csv.

// The tables that the request needs.
absl::StatusOr<std::vector<EvoKey>> KeysOf(const EvoRequest& request,
                                           const EvoCluster& cluster) {
  if (!request.layout) {
    const absl::Status batch = CheckEvoBatch(request.model, request.seq_len,
                                             request.world, request.tokens);
    if (!batch.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("--global_batch_size: {}", std::string(batch.message())));
    }
    return KeysOfSearch(request.model, request.seq_len, cluster,
                        request.tokens);
  }
  std::vector<EvoKey> keys;
  if (AppendKeys(*request.layout, cluster, &keys)) return keys;
  return absl::InvalidArgumentError(fmt::format(
      "{}: a group lies unevenly on servers of {}, so that no table of "
      "collectives holds for it",
      DescribeEvoLayout(*request.layout), cluster.gpus_per_server));
}

// Returns the one layout as the only solution, whether it fits or not.
EvoSearchResult Price(const EvoJob& job, const EvoLayout& layout) {
  EvoSolution solution;
  solution.layout = layout;
  solution.memory = MemoryOf(job.model, job.seq_len, job.cluster.world, layout);
  solution.cost =
      CostOf(job, layout, WorkOf(job, layout.micro_bsz, layout.sequence));
  EvoSearchResult found;
  found.layouts = found.solved = 1;
  found.best_of_mode[static_cast<size_t>(layout.mode)] = solution;
  found.solutions.push_back(solution);
  return found;
}

absl::StatusOr<std::vector<NamedFile>> FilesOf(const EvoRequest& request,
                                               const EvoSearchResult& found,
                                               const std::string& page) {
  std::vector<NamedFile> files = {
      {"summary.txt", page},
      {"solutions.csv", EvoSolutionsCsv(request, found)},
      {"best.json", EvoBestJson(request, found)},
      {"run.json", EvoRunJson(request, found)}};
  if (found.solutions.empty()) return files;
  const EvoLayout& best = found.solutions.front().layout;
  files.push_back({"best_config.yaml",
                   FormatEvoConfig(request.model, request.seq_len, best)});
  if (!request.draws_heatmap) return files;
  const TrafficMatrix matrix =
      TrafficOf(request.model, request.seq_len, request.world, best);
  files.push_back({"heatmap.csv", TrafficCsv(matrix)});
  files.push_back(
      {"heatmap.svg",
       TrafficSvg(fmt::format("{}: {}", request.name, DescribeEvoLayout(best)),
                  matrix)});
  return files;
}

// Says what was found in a few words.
std::string Conclusion(const EvoRequest& request, const EvoSearchResult& found,
                       double memory_bytes) {
  constexpr double kBytesPerGb = 1 << 30;
  const auto gb = [](double bytes) {
    return fmt::format("{:.1f} GB", bytes / kBytesPerGb);
  };
  if (!found.solutions.empty()) {
    const EvoSolution& best = found.solutions.front();
    const bool fits = best.memory.total <= memory_bytes;
    return fmt::format(
        "{}: {:.2f} tokens per GPU and second{}",
        DescribeEvoLayout(best.layout), best.cost.tgs,
        fits ? ""
             : fmt::format("; does not fit: {} of {}", gb(best.memory.total),
                           gb(memory_bytes)));
  }
  if (!found.least) {
    return fmt::format(
        "every layout of {} ranks has a group that lies "
        "unevenly on servers",
        request.world);
  }
  return fmt::format("no layout fits into {}: the least one, {}, takes {}",
                     gb(memory_bytes), DescribeEvoLayout(found.least->layout),
                     gb(found.least->memory.total));
}

absl::Status Write(const EvoRequest& request, const EvoSearchResult& found,
                   const PreparedProfile& prepared, const std::string& page,
                   double memory_bytes) {
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(request.output));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<NamedFile> files,
                         FilesOf(request, found, page));
  constexpr std::string_view kStale[] = {"best_config.yaml", "heatmap.csv",
                                         "heatmap.svg"};
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kStale));
  ASTRA_RETURN_IF_ERROR(WriteProfile(prepared, request.output + "/profile"));
  Print(page);
  std::string names;
  for (const NamedFile& file : files) names += " " + file.name;
  Print(fmt::format("results    {}:{} profile\nfinished   {}: {}\n",
                    request.output, names, request.name,
                    Conclusion(request, found, memory_bytes)));
  return FlushStdout();
}

}  // namespace

absl::Status RunInternEvo(const CommandLine& flags, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const EvoRequest request, ReadEvoRequest(flags));
  log.Report(request.warnings);
  ASTRA_ASSIGN_OR_RETURN(RunCluster ranks,
                         ReadCluster(request.run, request.world));
  if (ranks.topology.num_gpus() != request.world) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {}", request.world,
                    request.run.cluster_name(), ranks.topology.num_gpus()));
  }
  std::optional<SystemSpec> system = std::move(ranks.system);
  if (!system) {
    ASTRA_ASSIGN_OR_RETURN(system, DeriveSystem(ranks.topology));
  }
  Routes routes(ranks.topology);
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<GpuTimes> times,
      GpuTimes::Create(request.gpu, {}, "",
                       {.use = KernelUse::kTraining,
                        .attention = request.attention_speed == 1},
                       &warnings));
  const EvoCluster cluster = {
      request.world,
      std::min<int64_t>(ranks.topology.gpus_per_server(), request.world)};
  ASTRA_ASSIGN_OR_RETURN(const std::vector<EvoKey> keys,
                         KeysOf(request, cluster));
  ASTRA_ASSIGN_OR_RETURN(const PreparedProfile prepared,
                         PrepareProfile(request, keys, times->model(),
                                        {*system, routes}, &warnings));
  log.Report(warnings);
  const EvoJob job = {.model = request.model,
                      .seq_len = request.seq_len,
                      .cluster = cluster,
                      .profile = &prepared.profile,
                      .operators = &times->model(),
                      .load = request.load};
  const auto memory_bytes = static_cast<double>(UsableMemory(request.gpu));
  const EvoSearchResult found =
      request.layout ? Price(job, *request.layout)
                     : SearchEvo(job, {.tokens = request.tokens,
                                       .memory_bytes = memory_bytes,
                                       .most = kMostSolutions});
  return Write(request, found, prepared,
               DescribeEvo(request, found, prepared, cluster), memory_bytes);
}

}  // namespace astra
