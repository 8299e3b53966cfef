#include "astra-core/apps/serving/serving_job.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/cache_memory.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/topology_file.h"

namespace astra {

absl::StatusOr<std::optional<Topology>> TopologyOfJob(const ServingJob& job) {
  if (job.part != nullptr) return *job.part;
  if (!job.topology_file) return std::nullopt;
  return ReadTopology(*job.topology_file);
}

absl::StatusOr<SystemSpec> SystemOfJob(const ServingJob& job) {
  if (job.system) return LoadSystem(*job.system);
  absl::StatusOr<SystemSpec> system = SystemOfGpu(job.gpu.name);
  for (const std::string& alias : job.gpu.aliases) {
    if (system.ok()) break;
    absl::StatusOr<SystemSpec> other = SystemOfGpu(alias);
    if (other.ok()) system = std::move(other);
  }
  return system;
}

absl::Status CheckAttentionRanks(const ServingJob& job,
                                 std::string_view prefix) {
  const ServingLayout& layout = job.layout;
  if (!job.engine.serving.ranks_are_gpus || layout.attention_ranks == 1 ||
      layout.tensor == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "--{0}tp is {1}: a rank of attention of {2} is one GPU: expected "
      "--{0}tp 1 --{0}attention-dp {3}",
      prefix, layout.tensor, job.engine.name,
      layout.tensor * layout.attention_ranks));
}

void ShareBudget(const ServingFacts& facts, int64_t ranks,
                 BatchingOptions& options) {
  if (!facts.ranks_share_budget) return;
  for (int64_t* const budget :
       {&options.max_batched_tokens, &options.chunk_tokens,
        &options.max_sequences}) {
    *budget = std::max<int64_t>(1, *budget / ranks);
  }
}

absl::Status UseFacts(ServingJob& job) {
  const ServingFacts& facts = job.engine.serving;
  if (facts.scheduler.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("the file of the engine {} has no serving facts",
                    Quoted(job.engine.name)));
  }
  ASTRA_RETURN_IF_ERROR(CheckAttentionRanks(job, ""));
  ASTRA_ASSIGN_OR_RETURN(job.scheduler, FindScheduler(facts.scheduler));
  job.options = job.scheduler->defaults;
  job.options.block_tokens = facts.block_positions;
  job.options.chunked_prefill = facts.chunked_prefill;
  const StepBudget* budget =
      facts.BudgetOf(ToGib(MemoryOf(job.gpu)), job.gpu.architecture);
  if (budget == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("the file of the engine {} has no budget for a {} of {} GB",
                    Quoted(job.engine.name), job.gpu.name, job.gpu.memory_gb));
  }
  job.options.max_batched_tokens = budget->tokens;
  job.options.chunk_tokens = budget->tokens;
  job.options.max_sequences = budget->sequences;
  ShareBudget(facts, job.layout.attention_ranks, job.options);
  return absl::OkStatus();
}

}  // namespace astra
