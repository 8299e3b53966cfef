#include "astra-core/apps/serving/serving_job.h"

#include <algorithm>
#include <numeric>
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
  return SystemBuiltWith(job.gpu);
}

}  // namespace

absl::StatusOr<SystemSpec> SystemBuiltWith(const GpuSpec& gpu) {
  absl::StatusOr<SystemSpec> system = SystemOfGpu(gpu.name);
  for (const std::string& alias : gpu.aliases) {
    if (system.ok()) break;
    absl::StatusOr<SystemSpec> other = SystemOfGpu(alias);
    if (other.ok()) system = std::move(other);
  }
  return system;
}

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
  if (facts.ranks_share_budget) {
    const auto of_rank = [&job](int64_t& budget_of) {
      budget_of = std::max<int64_t>(1, budget_of / job.layout.attention_ranks);
    };
    of_rank(job.options.max_batched_tokens);
    of_rank(job.options.chunk_tokens);
    of_rank(job.options.max_sequences);
  }
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
    const bool fits = job.shares_topology
                          ? topology->num_gpus() >= job.num_gpus()
                          : topology->num_gpus() == job.num_gpus();
    if (!fits) {
      return absl::InvalidArgumentError(
          fmt::format("{} has {} GPUs, but {} replicas of {} GPUs are {}",
                      *job.topology_file, topology->num_gpus(), job.replicas,
                      job.layout.num_gpus(), job.num_gpus()));
    }
  }
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, SystemOf(job, topology));
  if (!topology) {
    const bool has_groups = job.layout.num_gpus() > 1;
    const int64_t server = system.gpus_per_server;
    int64_t cluster = has_groups ? job.num_gpus() : 1;
    if (cluster > server) cluster = (cluster + server - 1) / server * server;
    const auto gpus = static_cast<uint32_t>(cluster);
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
  ASTRA_RETURN_IF_ERROR(times->Price(job));
  return times;
}

absl::Status ReplicaTimes::Price(const ServingJob& job) {
  const FusedKernels fused = {facts_.fused, job.gpu.calibration.kernel_us};
  const auto prices_of = [&](const ModelSpec& model,
                             const ServingLayout& layout,
                             std::optional<int64_t> stage = std::nullopt) {
    return StepPrices(model, layout, gpu_->model(), fused, graph_, eager_,
                      stage);
  };
  prices_.emplace(prices_of(job.model, job.layout));
  ASTRA_RETURN_IF_ERROR(prices_->Check());
  steps_.emplace(*prices_, facts_);
  if (job.draft_model) {
    StepPrices prices = prices_of(*job.draft_model,
                                  DraftLayoutOf(*job.draft_model, job.layout));
    ASTRA_RETURN_IF_ERROR(prices.Check());
    drafts_.emplace(std::move(prices), facts_);
  }
  if (job.layout.pipeline == 1) return absl::OkStatus();
  stages_.emplace(facts_);
  for (int64_t stage = 0; stage < job.layout.pipeline; ++stage) {
    stages_->Add(prices_of(job.model, job.layout, stage));
  }
  return absl::OkStatus();
}

void ReplicaTimes::AddParts(absl::Span<const StepWork> ranks,
                            std::vector<StepParts>* parts) {
  if (stages_) {
    stages_->AddParts(ranks, parts);
  } else {
    parts->push_back(steps_->PartsOf(ranks));
  }
  if (drafts_) parts->back() += drafts_->Of(ranks);
}

TimePs ReplicaCost::TimeOf(const StepWork& work) {
  std::vector<TimePs> stages;
  AddStages({&work, 1}, &stages);
  return std::accumulate(stages.begin(), stages.end(), TimePs(0));
}

void ReplicaCost::AddStages(absl::Span<const StepWork> ranks,
                            std::vector<TimePs>* stages) {
  parts_.clear();
  times_.AddParts(ranks, &parts_);
  for (const StepParts& parts : parts_) stages->push_back(TimeOfParts(parts));
}

}  // namespace astra
