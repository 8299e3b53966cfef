#include "astra-core/engine/communicators.h"

#include <algorithm>

#include "astra-core/base/status_macros.h"
#include "collectives/registry.h"

namespace astra {
namespace {

std::vector<std::vector<RankId>> AllGroups(const ParallelPlan& plan,
                                           ParallelDimension dimension) {
  std::vector<std::vector<RankId>> groups;
  groups.reserve(plan.NumGroups(dimension));
  for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
    groups.push_back(plan.Ranks(dimension, g));
  }
  return groups;
}

// Equal numbers for groups whose collectives all cost the same.
std::vector<GroupCosts> ClassifyCosts(const ParallelPlan& plan,
                                      const CollectiveCosts& costs) {
  std::vector<GroupCosts> result;
  for (const ParallelDimension dimension : kParallelDimensions) {
    std::map<std::vector<ClosedForm>, uint32_t> ids;
    GroupCosts groups = {.dimension = dimension, .cost_class = {}};
    std::vector<const CollectiveCost*> used;
    for (const auto& [key, cost] : costs) {
      if (key.first == dimension) used.push_back(&cost);
    }
    if (used.empty()) continue;
    for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
      std::vector<ClosedForm> forms;
      forms.reserve(used.size());
      for (const CollectiveCost* cost : used) {
        forms.push_back(cost->forms.groups[g].form);
      }
      const auto next = static_cast<uint32_t>(ids.size());
      groups.cost_class.push_back(
          ids.try_emplace(std::move(forms), next).first->second);
    }
    result.push_back(std::move(groups));
  }
  return result;
}

void AddIfUsed(const Communication& what, const ParallelPlan& plan,
               std::set<CostKey>& used) {
  if (what.bytes > Bytes(0) && plan.GroupSize(what.dimension) > 1) {
    used.insert({what.dimension, what.kind});
  }
}

void AddPipelineMessage(Bytes message, const ParallelPlan& plan,
                        std::set<CostKey>& used) {
  AddIfUsed({CollectiveKind::kSendRecv, ParallelDimension::kPipeline, message},
            plan, used);
}

}  // namespace

std::set<CostKey> UsedCollectives(const Workload& workload,
                                  const ParallelPlan& plan) {
  std::set<CostKey> used;
  AddPipelineMessage(workload.pipeline_message(), plan, used);
  for (const Layer& layer : workload.layers()) {
    for (const LayerPhase& phase : layer.phases) {
      if (phase.communication) AddIfUsed(*phase.communication, plan, used);
    }
  }
  return used;
}

std::set<CostKey> UsedCollectives(const Program& program,
                                  const ParallelPlan& plan) {
  std::set<CostKey> used;
  AddPipelineMessage(program.pipeline_message(), plan, used);
  for (const ProgramModule& module : program.modules()) {
    for (const std::vector<Step>& steps : module.passes) {
      for (const Step& step : steps) AddIfUsed(step.communication, plan, used);
    }
  }
  return used;
}

absl::StatusOr<CollectiveCosts> FindCosts(const std::set<CostKey>& used,
                                          const ParallelPlan& plan,
                                          const BusBandwidths& measured,
                                          Routes& routes) {
  CollectiveCosts costs;
  for (const CostKey& key : used) {
    if (key.first != ParallelDimension::kPipeline) costs[key];
  }
  for (auto& [key, cost] : costs) {
    const auto [dimension, kind] = key;
    ASTRA_ASSIGN_OR_RETURN(cost.forms,
                           LayOnLinks(DefaultCollectiveAlgorithm(kind),
                                      AllGroups(plan, dimension), routes));
    const std::optional<double> gb_per_s = measured.Find(dimension, kind);
    if (!gb_per_s) continue;
    cost.is_measured = true;
    for (ClosedForms::Group& group : cost.forms.groups) {
      group.form = AtBusBandwidth(kind, plan.GroupSize(dimension), *gb_per_s);
    }
  }
  return costs;
}

Communicators FormCommunicators(const ParallelPlan& plan,
                                const CollectiveCosts& costs, bool each_rank,
                                const Topology& topology) {
  const std::vector<GroupCosts> dimensions = ClassifyCosts(plan, costs);
  Communicators result;
  result.classes = each_rank ? EachRankAlone(plan, dimensions)
                             : ClassifyRanks(plan, dimensions);
  const RankClasses& classes = result.classes;
  result.of_class.resize(classes.lowest_rank.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const ParallelDimension dimension = dimensions[d].dimension;
    const auto first = static_cast<uint32_t>(result.list.size());
    for (uint32_t g = 0; g < classes.class_of_group[d].size(); ++g) {
      const uint32_t id = first + classes.class_of_group[d][g];
      if (id < result.list.size()) {
        ++result.list[id].num_groups;
        continue;
      }
      Communicator communicator = {.dimension = dimension,
                                   .group = g,
                                   .num_groups = 1,
                                   .ranks = plan.Ranks(dimension, g),
                                   .members = {},
                                   .shape = {}};
      communicator.shape = ShapeOf(communicator.ranks, topology);
      std::vector<uint32_t>& members = communicator.members;
      for (const RankId rank : communicator.ranks) {
        members.push_back(classes.class_of_rank[rank.index()]);
      }
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
      for (const uint32_t member : members) {
        result.of_class[member][IndexOf(dimension)] = CommunicatorId(id);
      }
      result.list.push_back(std::move(communicator));
    }
  }
  return result;
}

}  // namespace astra
