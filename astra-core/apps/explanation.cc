#include "astra-core/apps/explanation.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/breakdown.h"
#include "astra-core/engine/program_summary.h"
#include "astra-core/engine/summary.h"
#include "astra-core/engine/work_rates.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

// About 200 MB of timeline, and 2 GB where it is asked for.
constexpr int64_t kMaxOps = int64_t{1} << 21;
constexpr int64_t kMaxTracedOps = int64_t{1} << 24;

Json TimesByDimension(const std::array<TimePs, kNumParallelDimensions>& times) {
  Json json = Json::object();
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    json[std::string(Name(dimension))] = times[IndexOf(dimension)].count();
  }
  return json;
}

// By what it is made of: "compute", a dimension, or "messages".
Json PathJson(const Explanation& explanation, const SimulationResult& result) {
  Json json = Json::object();
  for (const PathPart& part : PartsOf(explanation.path, result)) {
    const std::string_view name = part.kind == PathKind::kCollective
                                      ? Name(part.communication.dimension)
                                  : part.kind == PathKind::kMessage ? "messages"
                                                                    : "compute";
    Json& sum = json[std::string(name)];
    sum = sum.is_null() ? part.time.count()
                        : sum.get<int64_t>() + part.time.count();
  }
  return json;
}

}  // namespace

void KeepTimeline(const Program& program, bool trace,
                  SimulationOptions& options) {
  options.record_timeline = trace || program.simulates_pipeline();
  options.max_timeline_ops = trace ? kMaxTracedOps : kMaxOps;
}

absl::StatusOr<std::optional<Explanation>> Explain(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const SimulationResult& result) {
  if (!program.simulates_pipeline()) return std::nullopt;
  Explanation explanation;
  explanation.path = CriticalPath(result);
  SimulationOptions same_costs = options;
  same_costs.costs = result.costs;
  ASTRA_ASSIGN_OR_RETURN(explanation.bounds,
                         BoundsOf(program, same_costs, routes, [&] {
                           return std::make_unique<AnalyticalBackend>(routes);
                         }));
  if (SaysMemory(program)) explanation.memory = MemoryOf(program);
  explanation.gpu_memory = program.gpu().memory;
  return explanation;
}

std::vector<NamedFile> ExplanationFiles(const Program& program,
                                        const Explanation& explanation,
                                        const SimulationResult& result) {
  std::vector<NamedFile> files = {{"breakdown.csv", BreakdownCsv(result)}};
  if (!explanation.path.empty()) {
    files.push_back(
        {"critical_path.csv", CriticalPathCsv(explanation.path, result)});
  }
  if (!explanation.memory.empty()) {
    files.push_back({"memory.csv", MemoryCsv(program, explanation.memory)});
  }
  return files;
}

std::string DescribeTimeOf(const Program& program, const Topology& topology,
                           const SimulationResult& result,
                           const std::optional<Explanation>& explanation) {
  if (!explanation) return DescribeTime(topology, result);
  std::string text = DescribeTime(program, topology, result, explanation->path,
                                  explanation->bounds);
  if (!explanation->memory.empty()) {
    text += DescribeMemory(program, explanation->memory);
  }
  return text;
}

Json IterationJson(const Program& program, const SimulationResult& result,
                   const Explanation& explanation) {
  const WorkRates rates = RatesOf(program, result.total());
  return {{"total_ps", result.total().count()},
          {"compute_ps", result.compute.count()},
          {"slowed_ps", result.slowed.count()},
          {"exposed_ps", TimesByDimension(result.exposed)},
          {"late_ps", TimesByDimension(result.late)},
          {"transfer_ps", result.pipeline.exposed.count()},
          {"bubble_ps", result.pipeline.bubble.count()},
          {"bubble_of_work", BubbleShare(result)},
          {"ideal_bubble_of_work", IdealBubbleShare(program)},
          {"critical_path_ps", PathJson(explanation, result)},
          {"ideal_network_ps", explanation.bounds.ideal_network.count()},
          {"ideal_compute_ps", explanation.bounds.ideal_compute.count()},
          {"model_tflops_per_gpu", rates.tflops_per_gpu},
          {"mfu", rates.utilisation},
          {"tokens_per_s", rates.tokens_per_second},
          {"tokens_per_s_per_gpu", rates.tokens_per_second_per_gpu}};
}

Json MemoryJson(const Explanation& explanation) {
  const auto gib = [](Bytes bytes) {
    return static_cast<double>(bytes.count()) / 0x1p30;
  };
  const StageMemory& most = LargestOf(explanation.memory);
  Bytes reserved;
  for (const StageMemory& stage : explanation.memory) {
    reserved = std::max(reserved, ReservedMemory(stage));
  }
  Json json = {{"stage", most.stage},
               {"peak_memory_gib", gib(most.peak())},
               {"reserved_memory_gib", gib(reserved)},
               {"weights_gib", gib(most.weights)},
               {"gradients_gib", gib(most.gradients)},
               {"optimizer_gib", gib(most.optimizer)},
               {"saved_gib", gib(most.saved)},
               {"workspace_gib", gib(most.workspace)},
               {"kv_cache_gib", gib(most.cache)}};
  if (explanation.gpu_memory != Bytes(0)) {
    json["gpu_memory_gib"] = gib(explanation.gpu_memory);
    json["fits"] = most.peak() <= explanation.gpu_memory;
  }
  return json;
}

}  // namespace astra
