#include "astra-core/apps/simai_analytical_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/communicators.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "topology/topology_file.h"
#include "topology/two_level_cluster.h"
#include "workload/parallel_plan.h"
#include "workload/program_file.h"
#include "workload/workload_file.h"

namespace astra {
namespace {

// The form is known by the content.
absl::StatusOr<AnyWorkload> ReadAnyWorkload(const std::string& path,
                                            Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  if (IsProgram(contents)) return ParseProgram(path, contents);
  return ParseWorkload(path, contents, warnings);
}

const ParallelSizes& SizesOf(const AnyWorkload& workload) {
  return std::visit(
      [](const auto& form) -> const ParallelSizes& { return form.sizes(); },
      workload);
}

absl::Status CheckGpus(const SimaiAnalyticalOptions& options,
                       const AnyWorkload& workload, const Topology& topology) {
  const int64_t in_workload = SizesOf(workload).num_ranks;
  const std::string_view key =
      std::holds_alternative<Program>(workload) ? "gpus" : "all_gpus";
  const std::string cluster =
      options.topology_file ? *options.topology_file : "-g";
  if (in_workload != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("{} is for {} GPUs ({}), {} has {}", options.workload_file,
                    in_workload, key, cluster, topology.num_gpus()));
  }
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

// An overlap ratio must have something to overlap. --dp-overlap is for DP and
// DP_EP.
absl::Status CheckOverlaps(const SimaiAnalyticalOptions& options,
                           const CollectiveSizes& used) {
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
      return absl::InvalidArgumentError(fmt::format(
          "--{} has no effect: {} has no {} communication", rule.option,
          options.workload_file, Name(rule.dimension)));
    }
  }
  return absl::OkStatus();
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

void WarnOfErrorRates(const SimaiAnalyticalOptions& options,
                      const Topology& topology, Warnings& warnings) {
  const bool has_errors =
      std::any_of(topology.link_types().begin(), topology.link_types().end(),
                  [](const LinkType& type) { return type.error_rate > 0; });
  if (!has_errors) return;
  warnings.push_back(
      fmt::format("{}: error rates of links have no effect on analytical times",
                  *options.topology_file));
}

// AICB writes the layers of a stage where the number of its model chunks
// belongs, which makes the pipeline bubble tiny.
void WarnOfLayersAsChunks(const SimaiAnalyticalOptions& options,
                          const AnyWorkload& any, Warnings& warnings) {
  if (std::holds_alternative<Program>(any)) return;
  const Workload& workload = std::get<Workload>(any);
  const ParallelSizes& sizes = workload.sizes();
  if (sizes.pipeline == 1 || sizes.virtual_stages == 1) return;
  int64_t num_attentions = 0;
  for (const Layer& layer : workload.layers()) {
    num_attentions +=
        layer.name == "attention_column" || layer.name == "attention_layer";
  }
  if (num_attentions != sizes.virtual_stages * sizes.micro_batches) return;
  warnings.push_back(fmt::format(
      "{}: vpp: {} is the number of transformer layers of a stage, as AICB "
      "writes it; it is taken as the number of model chunks, by which the "
      "pipeline bubble is divided",
      options.workload_file, sizes.virtual_stages));
}

bool IsIdle(const Communication& what, const ParallelPlan& plan) {
  return what.bytes > Bytes(0) && plan.GroupSize(what.dimension) == 1;
}

int64_t CountIdle(const Workload& workload, const ParallelPlan& plan) {
  int64_t count = 0;
  for (const Layer& layer : workload.layers()) {
    for (const LayerPhase& phase : layer.phases) {
      count += phase.communication && IsIdle(*phase.communication, plan);
    }
  }
  return count;
}

int64_t CountIdle(const Program& program, const ParallelPlan& plan) {
  int64_t count = 0;
  for (const ProgramModule& module : program.modules()) {
    for (const std::vector<Step>& steps : module.passes) {
      for (const Step& step : steps) count += IsIdle(step.communication, plan);
    }
  }
  return count;
}

void WarnOfIdleCollectives(const SimaiAnalyticalOptions& options,
                           const AnyWorkload& workload,
                           const ParallelPlan& plan, Warnings& warnings) {
  const int64_t count = std::visit(
      [&](const auto& form) { return CountIdle(form, plan); }, workload);
  if (count == 0) return;
  warnings.push_back(
      fmt::format("{}: {} collective(s) over groups of one rank do nothing",
                  options.workload_file, count));
}

// The system that collectives run on; it must have the GPUs of the topology,
// where that names them.
absl::StatusOr<std::optional<NcclSystem>> ReadSystem(
    const SimaiAnalyticalOptions& options, const Topology& topology) {
  if (!options.system) return std::nullopt;
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, LoadSystem(*options.system));
  ASTRA_RETURN_IF_ERROR(
      CheckGpus(system, topology, options.topology_file.value_or("-g")));
  return NcclSystem{std::move(system), options.nccl};
}

}  // namespace

absl::StatusOr<SimaiAnalyticalInputs> ReadInputs(
    const SimaiAnalyticalOptions& options) {
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(AnyWorkload workload,
                         ReadAnyWorkload(options.workload_file, &warnings));
  if (options.simulation.unroll && !std::holds_alternative<Program>(workload)) {
    return absl::InvalidArgumentError(fmt::format(
        "--unroll has no effect: {} is no program", options.workload_file));
  }
  ASTRA_ASSIGN_OR_RETURN(Topology topology,
                         options.topology_file
                             ? ReadTopology(*options.topology_file)
                             : BuildTwoLevelCluster(options.cluster));
  BusBandwidths bus_bandwidths;
  if (options.bus_bandwidth_file) {
    ASTRA_ASSIGN_OR_RETURN(bus_bandwidths,
                           ReadBusBandwidths(*options.bus_bandwidth_file));
  }
  ASTRA_RETURN_IF_ERROR(CheckGpus(options, workload, topology));
  ASTRA_ASSIGN_OR_RETURN(std::optional<NcclSystem> nccl,
                         ReadSystem(options, topology));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(SizesOf(workload)));
  const CollectiveSizes used = std::visit(
      [&](const auto& form) { return UsedCollectives(form, plan); }, workload);
  ASTRA_RETURN_IF_ERROR(CheckOverlaps(options, used));
  WarnOfErrorRates(options, topology, warnings);
  WarnOfUnusedBusBandwidths(options, bus_bandwidths, used, warnings);
  WarnOfIdleCollectives(options, workload, plan, warnings);
  WarnOfLayersAsChunks(options, workload, warnings);
  return SimaiAnalyticalInputs{std::move(workload), std::move(topology),
                               std::move(bus_bandwidths), std::move(nccl),
                               std::move(warnings)};
}

}  // namespace astra
