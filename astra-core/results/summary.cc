#include "astra-core/results/summary.h"

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/check.h"
#include "astra-core/results/summary_lines.h"
#include "fmt/core.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

// Returns text such as "1 server", "2 servers" or "2 switches".
std::string Count(size_t count, std::string_view what) {
  const std::string_view plural =
      what.substr(what.size() - 2) == "ch" ? "es" : "s";
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : plural);
}

std::string CountSwitches(const Topology& topology) {
  std::string text = Count(topology.num_switches(), "switch");
  if (topology.num_storage() > 0) {
    text += ", " + Count(topology.num_storage(), "storage server");
  }
  return text;
}

std::string DescribeLayout(const ParallelSizes& sizes) {
  const absl::StatusOr<ParallelPlan> plan = ParallelPlan::Create(sizes);
  ASTRA_CHECK(plan.ok(), "{}", plan.status().ToString());
  const std::string context =
      sizes.context == 1 ? "" : fmt::format(" (with CP {})", sizes.context);
  const std::string expert_tensor =
      sizes.expert_tensor.value_or(sizes.tensor) == sizes.tensor
          ? ""
          : fmt::format(", ETP {}", *sizes.expert_tensor);
  return fmt::format(
      "layout     TP {} x DP {}{} x PP {} = {} GPUs; EP {}{}, DP_EP {}; VPP {}"
      ", GA {}{}\n",
      sizes.tensor, plan->GroupSize(ParallelDimension::kData), context,
      sizes.pipeline, sizes.num_ranks, sizes.expert, expert_tensor,
      plan->GroupSize(ParallelDimension::kDataExpert), sizes.virtual_stages,
      sizes.micro_batches,
      sizes.order == RankOrder() ? "" : fmt::format("; {}", Name(sizes.order)));
}

std::string DescribeProgram(const Program& program) {
  const ParallelSizes& sizes = program.sizes();
  if (!program.simulates_pipeline()) {
    return fmt::format("workload   SimAI's text, {}\n",
                       Count(program.modules().size(), "layer"));
  }
  const std::string kinds =
      sizes.pipeline == 1 ? ""
      : program.stages().size() == 1
          ? ", all alike"
          : fmt::format(" of {} kinds", program.stages().size());
  return fmt::format(
      "program    {}: {}, {}{}, {}\n",
      program.forward_only() ? "inference" : "training",
      Count(program.modules().size(), "module"),
      Count(static_cast<size_t>(sizes.pipeline), "stage"), kinds,
      Count(static_cast<size_t>(sizes.micro_batches), "micro-batch"));
}

}  // namespace

std::string DescribeCluster(const Topology& topology, int64_t num_ranks,
                            const SimulationResult& result) {
  return fmt::format("cluster    {} {} in {} of {}, {}, {}\n",
                     topology.num_gpus(), topology.gpu_type(),
                     Count(topology.num_servers(), "server"),
                     topology.gpus_per_server(), CountSwitches(topology),
                     Count(topology.links().size() / 2, "link")) +
         fmt::format(
             "simulated  {} of {} ranks, {}; {}; the times are those of "
             "rank {}, which finishes last\n",
             result.num_rank_classes, num_ranks,
             result.num_rank_classes < num_ranks
                 ? "each for all that do the same"
                 : "each by itself",
             Count(static_cast<size_t>(result.num_events), "event"),
             result.reported_rank);
}

std::string DescribeRun(const Program& program, const Topology& topology,
                        const SimulationResult& result) {
  return DescribeProgram(program) + DescribeLayout(program.sizes()) +
         DescribeCluster(topology, program.sizes().num_ranks, result);
}

std::string DescribeTime(const Topology& topology,
                         const SimulationResult& result) {
  const TimePs total = result.total();
  std::string text = TimeLine("iteration", total, total);
  text += TimeLine("compute", result.compute, total);
  text += CollectiveLines(topology, result);
  const PipelineResult& pipeline = result.pipeline;
  text += TimeLine("pipeline bubble", pipeline.bubble, total);
  if (pipeline.num_messages > 0) text += MessageLines(topology, result);
  return text + LinkLines(topology, result);
}

}  // namespace astra
