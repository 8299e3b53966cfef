#include "astra-core/apps/simai_analytical_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/analytical_work.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/communicators.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "topology/topology_file.h"
#include "topology/two_level_cluster.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

absl::Status CheckGpus(const SimaiAnalyticalOptions& options,
                       const Program& program, const Topology& topology) {
  const int64_t in_workload = program.sizes().num_ranks;
  const std::string cluster =
      options.topology_file ? *options.topology_file : "-g";
  ASTRA_RETURN_IF_ERROR(
      CheckSameGpus(options.workload_file, program, cluster, topology));
  if (options.num_gpus && *options.num_gpus != in_workload) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} and {} have {}", *options.num_gpus,
                    options.workload_file, cluster, in_workload));
  }
  if (options.topology_file && options.gpu_type &&
      *options.gpu_type != topology.gpu_type()) {
    return absl::InvalidArgumentError(fmt::format(
        "--gpu-type is {}, but {} has {}", Quoted(*options.gpu_type), cluster,
        Quoted(topology.gpu_type())));
  }
  return absl::OkStatus();
}

bool IsUsed(const CollectiveSizes& used, ParallelDimension dimension) {
  return std::any_of(used.begin(), used.end(), [&](const auto& entry) {
    return entry.first.first == dimension;
  });
}

// Warns of overlap ratios that have nothing to overlap: SimAI's users type all
// of them, whatever the workload has. --dp-overlap is for DP and DP_EP.
void WarnOfOverlaps(const SimaiAnalyticalOptions& options,
                    const CollectiveSizes& used, Warnings& warnings) {
  using D = ParallelDimension;
  struct Rule {
    std::string_view option;
    D dimension;
    bool has_effect;
  };
  const Rule rules[] = {
      {"tp-overlap", D::kTensor, IsUsed(used, D::kTensor)},
      {"dp-overlap", D::kData,
       IsUsed(used, D::kData) || IsUsed(used, D::kDataExpert)},
      {"ep-overlap", D::kExpert, IsUsed(used, D::kExpert)},
      {"pp-overlap", D::kPipeline, IsUsed(used, D::kPipeline)},
  };
  for (const Rule& rule : rules) {
    if (options.simulation.overlap[IndexOf(rule.dimension)] > 0 &&
        !rule.has_effect) {
      warnings.push_back(fmt::format(
          "--{} has no effect: {} has no {} communication", rule.option,
          options.workload_file, Name(rule.dimension)));
    }
  }
}

void WarnOfUnusedBusBandwidths(const SimaiAnalyticalOptions& options,
                               const BusBandwidths& bus_bandwidths,
                               const CollectiveSizes& used,
                               Warnings& warnings) {
  std::vector<std::string> unused;
  for (const auto& [key, _] : bus_bandwidths.entries()) {
    if (used.count(key) > 0) continue;
    unused.push_back(fmt::format("{} {}", Name(key.first), Name(key.second)));
  }
  if (unused.empty()) return;
  warnings.push_back(fmt::format(
      "{}: no effect, since {} has none: {}", *options.bus_bandwidth_file,
      options.workload_file, fmt::join(unused, ", ")));
}

}  // namespace

absl::StatusOr<SimaiAnalyticalInputs> ReadInputs(
    const SimaiAnalyticalOptions& options) {
  Warnings warnings = options.warnings;
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(options.workload_file, &warnings));
  if (options.simulation.unroll && !program.simulates_pipeline()) {
    return absl::InvalidArgumentError(fmt::format(
        "--unroll has no effect: {} is no program", options.workload_file));
  }
  const bool is_whole =
      options.simulation.unroll || options.simulation.jitter > 0;
  ASTRA_RETURN_IF_ERROR(
      AnnounceWork(AnalyticalWork(program, EstimateCables(options), is_whole),
                   options.force));
  ASTRA_ASSIGN_OR_RETURN(Topology topology,
                         options.topology_file
                             ? ReadTopology(*options.topology_file)
                             : BuildTwoLevelCluster(options.cluster));
  BusBandwidths bus_bandwidths;
  if (options.bus_bandwidth_file) {
    ASTRA_ASSIGN_OR_RETURN(bus_bandwidths,
                           ReadBusBandwidths(*options.bus_bandwidth_file));
  }
  ASTRA_RETURN_IF_ERROR(CheckGpus(options, program, topology));
  ASTRA_RETURN_IF_ERROR(CheckSameGpuType(
      options.workload_file, program, options.topology_file.value_or("-g"),
      topology, options.gpu_mismatch, warnings));
  std::optional<NcclSystem> nccl;
  if (options.system) {
    ASTRA_ASSIGN_OR_RETURN(
        nccl, ReadNcclSystem(*options.system, options.nccl, topology,
                             options.topology_file.value_or("-g")));
  }
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  const CollectiveSizes used = UsedCollectives(program, plan);
  WarnOfOverlaps(options, used, warnings);
  WarnOfErrorRates(options.topology_file.value_or("-g"), topology,
                   "analytical times", warnings);
  WarnOfUnusedBusBandwidths(options, bus_bandwidths, used, warnings);
  WarnOfWorkload(options.workload_file, program, plan, warnings);
  return SimaiAnalyticalInputs{std::move(program), std::move(topology),
                               std::move(bus_bandwidths), std::move(nccl),
                               std::move(warnings)};
}

}  // namespace astra
