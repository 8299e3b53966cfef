#include "astra-core/apps/serving/serving_job.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/topology_file.h"
#include "workload/kernels/kernel_model.h"

namespace astra {
namespace {

constexpr double kBytesPerGib = 1 << 30;

NcclOptions OptionsOf(const ServingJob& job, Launch launch) {
  NcclOptions options = job.nccl;
  options.launch = launch;
  options.engine = job.engine;
  return options;
}

absl::StatusOr<SystemSpec> SystemOf(const ServingJob& job,
                                    const std::optional<Topology>& topology) {
  if (job.system) return LoadSystem(*job.system);
  // A replica of one GPU has no collectives, so that any system will do.
  if (job.layout.num_gpus() == 1) return BundledSystems().front();
  if (topology) return DeriveSystem(*topology);
  absl::StatusOr<SystemSpec> system = SystemOfGpu(job.gpu.name);
  for (const std::string& alias : job.gpu.aliases) {
    if (system.ok()) break;
    absl::StatusOr<SystemSpec> other = SystemOfGpu(alias);
    if (other.ok()) system = std::move(other);
  }
  return system;
}

}  // namespace

absl::Status UseFacts(ServingJob& job) {
  const ServingFacts& facts = job.engine.serving;
  if (facts.scheduler.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("the file of the engine {} has no serving facts",
                    Quoted(job.engine.name)));
  }
  ASTRA_ASSIGN_OR_RETURN(job.scheduler, FindScheduler(facts.scheduler));
  job.options = job.scheduler->defaults;
  job.options.block_tokens = facts.block_positions;
  job.options.chunked_prefill = facts.chunked_prefill;
  const StepBudget* budget = facts.BudgetOf(
      static_cast<double>(MemoryOf(job.gpu).count()) / kBytesPerGib,
      job.gpu.architecture);
  if (budget == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("the file of the engine {} has no budget for a {} of {} GB",
                    Quoted(job.engine.name), job.gpu.name, job.gpu.memory_gb));
  }
  job.options.max_batched_tokens = budget->tokens;
  job.options.chunk_tokens = budget->tokens;
  job.options.max_sequences = budget->sequences;
  return absl::OkStatus();
}

ReplicaTimes::ReplicaTimes(const ServingJob& job, SystemSpec system,
                           Topology topology)
    : facts_(job.engine.serving),
      system_(std::move(system)),
      topology_(std::move(topology)),
      routes_(topology_),
      graph_options_(OptionsOf(job, Launch::kGraph)),
      eager_options_(OptionsOf(job, Launch::kQueued)),
      graph_(system_, graph_options_, routes_, job.num_gpus()),
      eager_(system_, eager_options_, routes_, job.num_gpus()) {}

absl::StatusOr<std::unique_ptr<ReplicaTimes>> ReplicaTimes::Create(
    const ServingJob& job, Warnings* warnings) {
  const Precision precision = job.layout.precision;
  if (job.gpu.peak_tflops[IndexOf(precision)] == 0) {
    return absl::InvalidArgumentError(
        fmt::format("--dtype {}: {} has no products of that precision",
                    Name(precision), job.gpu.name));
  }
  std::optional<Topology> topology;
  if (job.topology_file) {
    ASTRA_ASSIGN_OR_RETURN(topology, ReadTopology(*job.topology_file));
    if (topology->num_gpus() != job.num_gpus()) {
      return absl::InvalidArgumentError(
          fmt::format("{} has {} GPUs, but {} replicas of {} GPUs are {}",
                      *job.topology_file, topology->num_gpus(), job.replicas,
                      job.layout.num_gpus(), job.num_gpus()));
    }
  }
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, SystemOf(job, topology));
  if (!topology) {
    const bool has_groups = job.layout.num_gpus() > 1;
    const auto gpus =
        has_groups ? static_cast<uint32_t>(job.num_gpus()) : uint32_t{1};
    ASTRA_ASSIGN_OR_RETURN(
        topology,
        BuildSystemTopology(system, gpus,
                            GpusOfDomain(gpus, system.gpus_per_server)));
  }
  std::unique_ptr<ReplicaTimes> times(
      new ReplicaTimes(job, std::move(system), *std::move(topology)));
  ASTRA_ASSIGN_OR_RETURN(
      times->gpu_, GpuTimes::Create(job.gpu, {}, "",
                                    {.use = KernelUse::kInference}, warnings));
  times->prices_.emplace(
      job.model, job.layout, times->gpu_->model(),
      FusedKernels{times->facts_.fused, job.gpu.calibration.kernel_us},
      times->graph_, times->eager_);
  ASTRA_RETURN_IF_ERROR(times->prices_->Check());
  times->steps_.emplace(*times->prices_, times->facts_);
  return times;
}

}  // namespace astra
