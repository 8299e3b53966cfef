#include "astra-core/engine/simulation_setting.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckFamily(const SimulationOptions& options) {
  const bool is_nccl = options.collectives == CollectiveFamily::kNccl;
  if (is_nccl && !options.nccl) {
    return absl::InvalidArgumentError(
        "NCCL's collectives need the system that they run on: give --system");
  }
  if (!is_nccl && options.nccl) {
    return absl::InvalidArgumentError(
        "the system has no effect: only NCCL's collectives use it");
  }
  return absl::OkStatus();
}

absl::Status CheckClosedForm(const SimulationOptions& options) {
  if (options.custom != nullptr) {
    return absl::InvalidArgumentError(
        "own algorithms have no effect on closed forms: they are messages");
  }
  if (options.symmetric) {
    return absl::InvalidArgumentError(
        "closed forms need no network for ranks that do the same");
  }
  if (options.message_costs != MessageCosts()) {
    return absl::InvalidArgumentError(
        "the costs of messages have no effect on closed forms, which have no "
        "messages");
  }
  return absl::OkStatus();
}

absl::Status CheckMessages(const SimulationOptions& options,
                           bool has_real_pipeline) {
  if (options.custom != nullptr && options.symmetric) {
    return absl::InvalidArgumentError(
        "own algorithms have no effect where ranks that do the same are run "
        "once: how collectives share links is known of built-in algorithms "
        "only");
  }
  if (options.ideal_network) {
    return absl::InvalidArgumentError(
        "an ideal network has no messages: it needs closed forms");
  }
  for (const ParallelDimension dimension : kParallelDimensions) {
    const bool is_formula =
        dimension == ParallelDimension::kPipeline && !has_real_pipeline;
    if (!is_formula && options.overlap[IndexOf(dimension)] != 0) {
      return absl::InvalidArgumentError(fmt::format(
          "the overlap of {} has no effect on messages: only closed forms have "
          "overlap ratios",
          Name(dimension)));
    }
  }
  if (!options.bus_bandwidths.empty()) {
    return absl::InvalidArgumentError(
        "bus bandwidths have no effect on messages: only closed forms use "
        "them");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const ParallelSizes& sizes,
                          const SimulationOptions& options,
                          bool has_real_pipeline, const Topology& topology) {
  if (sizes.num_ranks != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("the workload is for {} GPUs, the topology has {}",
                    sizes.num_ranks, topology.num_gpus()));
  }
  return CheckCollectiveOptions(options, !has_real_pipeline);
}

}  // namespace

std::vector<std::string> LayerNames(const Program& program) {
  std::vector<std::string> names;
  for (const ProgramModule& module : program.modules()) {
    names.push_back(module.name);
  }
  // Messages between stages count as a module of their own.
  if (program.simulates_pipeline()) names.push_back("pipeline");
  return names;
}

absl::Span<const CustomCollective> CustomsOf(const SimulationOptions& options) {
  if (options.custom == nullptr) return {};
  return *options.custom;
}

EngineSetting MakeEngineSetting(const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network,
                                std::shared_ptr<const CollectiveCosts> costs,
                                Communicators communicators,
                                std::vector<std::string> layer_names) {
  const Topology& topology = routes.topology();
  EngineSetting setting{
      options,
      routes,
      new_network,
      std::move(costs),
      std::move(communicators),
      std::make_unique<CollectiveLowering>(
          options.collectives, options.simai, options.message_costs, topology,
          CustomsOf(options), options.pace_network),
      std::move(layer_names)};
  setting.sharing = std::make_unique<LinkSharing>(*setting.costs, topology);
  return setting;
}

CostSetting CostSettingOf(const SimulationOptions& options) {
  return {.family = options.collectives,
          .nccl = options.nccl,
          .simai = options.simai,
          .measured = options.bus_bandwidths,
          .with_messages = options.lowering == Lowering::kFlowGraph};
}

absl::Status CheckCollectiveOptions(const SimulationOptions& options,
                                    bool has_pipeline_formula) {
  ASTRA_RETURN_IF_ERROR(CheckFamily(options));
  return options.lowering == Lowering::kClosedForm
             ? CheckClosedForm(options)
             : CheckMessages(options, !has_pipeline_formula);
}

absl::StatusOr<SimulationSetting> PrepareSimulation(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network) {
  const Topology& topology = routes.topology();
  ASTRA_RETURN_IF_ERROR(CheckOptions(program.sizes(), options,
                                     program.simulates_pipeline(), topology));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  PipelineWiring wiring = WiringOf(program, plan);
  std::shared_ptr<const CollectiveCosts> costs = options.costs;
  if (costs == nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        CollectiveCosts found,
        FindCosts(UsedCollectives(program, plan), plan, wiring.pairs,
                  CostSettingOf(options), routes));
    costs = std::make_shared<const CollectiveCosts>(std::move(found));
  }
  const bool each_rank =
      (options.lowering == Lowering::kFlowGraph && !options.symmetric) ||
      options.ranks_differ();
  Communicators communicators =
      FormCommunicators(plan, wiring, *costs, each_rank, topology);
  SimulationSetting setting{
      MakeEngineSetting(options, routes, new_network, std::move(costs),
                        std::move(communicators), LayerNames(program)),
      plan, std::move(wiring)};
  if (!setting.options.communication_slowdown) {
    setting.options.communication_slowdown =
        program.gpu().communication_slowdown;
  }
  return setting;
}

}  // namespace astra
