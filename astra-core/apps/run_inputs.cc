#include "astra-core/apps/run_inputs.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/simulation.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "workload/memory_timeline.h"
#include "workload/operators/gpu_library.h"
#include "workload/program_file.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

// Warns if the number of model chunks looks like the layers of a stage, which
// AICB writes there. It would make the pipeline bubble tiny.
void WarnOfLayersAsChunks(const std::string& workload_file,
                          const Program& program, Warnings& warnings) {
  if (program.simulates_pipeline()) return;
  const ParallelSizes& sizes = program.sizes();
  if (sizes.pipeline == 1 || sizes.virtual_stages == 1) return;
  int64_t num_attentions = 0;
  for (const ProgramModule& layer : program.modules()) {
    num_attentions +=
        layer.name == "attention_column" || layer.name == "attention_layer";
  }
  if (num_attentions != sizes.virtual_stages * sizes.micro_batches) return;
  warnings.push_back(fmt::format(
      "{}: vpp: {} is the number of transformer layers of a stage, as AICB "
      "writes it; it is taken as the number of model chunks, by which the "
      "pipeline bubble is divided",
      workload_file, sizes.virtual_stages));
}

bool IsIdle(const Communication& what, const ParallelPlan& plan) {
  return what.bytes > Bytes(0) && plan.GroupSize(what.dimension) == 1;
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

void WarnOfIdleCollectives(const std::string& workload_file,
                           const Program& program, const ParallelPlan& plan,
                           Warnings& warnings) {
  const int64_t count = CountIdle(program, plan);
  if (count == 0) return;
  warnings.push_back(
      fmt::format("{}: {} collective(s) over groups of one rank do nothing",
                  workload_file, count));
}

}  // namespace

bool MayHaveGpu(const Topology& topology, std::string_view gpu) {
  // Topologies use these words if they name no GPU.
  constexpr std::string_view kUnnamed[] = {"gpu", "none"};
  const std::string& type = topology.gpu_type();
  for (const std::string_view unnamed : kUnnamed) {
    if (LowerCase(type) == unnamed) return true;
  }
  return IsGpuType(type, gpu);
}

std::optional<std::string> OtherGpus(std::string_view gpu,
                                     const std::string& file,
                                     const Topology& topology) {
  if (MayHaveGpu(topology, gpu)) return std::nullopt;
  return fmt::format("--gpu-type is {}, but {} has {}", Quoted(gpu), file,
                     Quoted(topology.gpu_type()));
}

std::optional<std::string> TimedForOtherGpus(const std::string& workload_file,
                                             const Program& program,
                                             const std::string& cluster,
                                             const Topology& topology) {
  const std::string& timed = program.gpu().name;
  if (timed.empty() || MayHaveGpu(topology, timed)) return std::nullopt;
  return fmt::format("{} is timed for the GPU {}, but {} has {}", workload_file,
                     Quoted(timed), cluster, Quoted(topology.gpu_type()));
}

absl::Status CheckSameGpuType(const std::string& workload_file,
                              const Program& program,
                              const std::string& cluster,
                              const Topology& topology, bool allowed,
                              Warnings& warnings) {
  const std::optional<std::string> text =
      TimedForOtherGpus(workload_file, program, cluster, topology);
  if (!text) return absl::OkStatus();
  if (!allowed) {
    return absl::InvalidArgumentError(*text +
                                      " (--gpu-mismatch runs it all the same)");
  }
  warnings.push_back(*text);
  return absl::OkStatus();
}

absl::StatusOr<Program> ReadWorkload(const std::string& path,
                                     Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  if (IsProgram(contents)) return ParseProgram(path, contents);
  return ParseSimaiProgram(path, contents, warnings);
}

absl::Status CheckSameGpus(const std::string& workload_file,
                           const Program& program, const std::string& cluster,
                           const Topology& topology) {
  const int64_t in_workload = program.sizes().num_ranks;
  if (in_workload == topology.num_gpus()) return absl::OkStatus();
  const std::string_view key =
      program.simulates_pipeline() ? "gpus" : "all_gpus";
  return absl::InvalidArgumentError(
      fmt::format("{} is for {} GPUs ({}), {} has {}", workload_file,
                  in_workload, key, cluster, topology.num_gpus()));
}

void WarnOfWorkload(const std::string& workload_file, const Program& program,
                    const ParallelPlan& plan, Warnings& warnings) {
  WarnOfIdleCollectives(workload_file, program, plan, warnings);
  WarnOfLayersAsChunks(workload_file, program, warnings);
  if (!SaysMemory(program)) return;
  const std::string excess = DescribeExcess(program, MemoryOf(program));
  if (excess.empty()) return;
  warnings.push_back(fmt::format("{}: {}", workload_file, excess));
}

void WarnOfErrorRates(const std::string& topology_file,
                      const Topology& topology, std::string_view what,
                      Warnings& warnings) {
  const bool has_errors =
      std::any_of(topology.link_types().begin(), topology.link_types().end(),
                  [](const LinkType& type) { return type.error_rate > 0; });
  if (!has_errors) return;
  warnings.push_back(fmt::format(
      "{}: error rates of links have no effect on {}", topology_file, what));
}

absl::Status CheckSystem(const std::string& name, const SystemSpec& system,
                         const Topology& topology, const std::string& cluster) {
  absl::Status status = CheckGpus(system, topology, cluster);
  if (status.ok() || IsNamed(name, system.name, system.aliases)) return status;
  return absl::Status(
      status.code(),
      fmt::format("{}: {}", name, std::string(status.message())));
}

}  // namespace astra
