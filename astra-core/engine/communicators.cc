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
    using Key = std::pair<std::vector<ClosedForm>, std::vector<uint32_t>>;
    std::map<Key, uint32_t> ids;
    GroupCosts groups = {.dimension = dimension, .cost_class = {}};
    std::vector<const CollectiveCost*> used;
    for (const auto& [key, cost] : costs) {
      if (key.first == dimension) used.push_back(&cost);
    }
    if (used.empty()) continue;
    for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
      Key key;
      for (const CollectiveCost* cost : used) {
        key.first.push_back(cost->forms.groups[g].form);
        if (!cost->sized.empty()) key.second.push_back(cost->class_of_group[g]);
      }
      const auto next = static_cast<uint32_t>(ids.size());
      groups.cost_class.push_back(
          ids.try_emplace(std::move(key), next).first->second);
    }
    result.push_back(std::move(groups));
  }
  return result;
}

void AddIfUsed(const Communication& what, const ParallelPlan& plan,
               CollectiveSizes& used) {
  if (what.bytes > Bytes(0) && plan.GroupSize(what.dimension) > 1) {
    used[{what.dimension, what.kind}].insert(what.bytes);
  }
}

void AddPipelineMessage(Bytes message, const ParallelPlan& plan,
                        CollectiveSizes& used) {
  AddIfUsed({CollectiveKind::kSendRecv, ParallelDimension::kPipeline, message},
            plan, used);
}

// One object for each layout, so that pointers tell them apart.
class SharedLayouts {
 public:
  std::shared_ptr<const GroupLayout> Share(GroupLayout layout) {
    return *layouts_
                .insert(std::make_shared<const GroupLayout>(std::move(layout)))
                .first;
  }

 private:
  struct Less {
    bool operator()(const std::shared_ptr<const GroupLayout>& a,
                    const std::shared_ptr<const GroupLayout>& b) const {
      return *a < *b;
    }
  };
  std::set<std::shared_ptr<const GroupLayout>, Less> layouts_;
};

// Fills in what NCCL would do with each of `sizes`.
absl::Status AddNccl(CollectiveKind kind, const std::set<Bytes>& sizes,
                     std::vector<std::vector<RankId>> groups,
                     const NcclSystem& nccl, bool with_messages, Routes& routes,
                     CollectiveCost* cost) {
  const std::vector<Bytes> list(sizes.begin(), sizes.end());
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, std::move(groups), nccl.system,
                              nccl.options, routes));
  ASTRA_ASSIGN_OR_RETURN(cost->class_of_group, times.Classify(list));
  std::vector<size_t> first_group;  // By class: they are numbered in order.
  for (size_t group = 0; group < cost->class_of_group.size(); ++group) {
    if (cost->class_of_group[group] == first_group.size()) {
      first_group.push_back(group);
    }
  }
  for (const Bytes bytes : list) {
    std::vector<TimedCollective>& timed = cost->sized[bytes];
    for (const size_t group : first_group) {
      ASTRA_ASSIGN_OR_RETURN(timed.emplace_back(), times.Time(group, bytes));
      if (!with_messages) continue;
      ASTRA_ASSIGN_OR_RETURN(cost->messages[bytes].emplace_back(),
                             times.Messages(group, bytes));
    }
    std::vector<double>& link_bytes =
        cost->link_bytes_per_byte[timed.front().registry_name];
    if (!link_bytes.empty()) continue;
    ASTRA_ASSIGN_OR_RETURN(const absl::Span<const double> laid,
                           times.LinkBytesPerByte(bytes));
    link_bytes.assign(laid.begin(), laid.end());
  }
  return absl::OkStatus();
}

}  // namespace

TimedCollective CollectiveCost::Time(uint32_t group, CollectiveKind kind,
                                     Bytes bytes) const {
  if (!sized.empty()) return sized.at(bytes)[class_of_group[group]];
  const ClosedForms::Group& form = forms.groups[group];
  TimedCollective timed;
  timed.algorithm = DefaultCollectiveAlgorithm(kind).name;
  timed.registry_name = timed.algorithm;
  timed.protocol = "-";
  timed.time = form.form.TimeOf(bytes);
  timed.is_latency_bound = form.form.latency + form.form.latency > timed.time;
  timed.bottleneck = form.bottleneck;
  return timed;
}

absl::Span<const double> CollectiveCost::LinkBytesPerByte(
    std::string_view algorithm) const {
  return sized.empty() ? forms.link_bytes_per_byte
                       : link_bytes_per_byte.at(algorithm);
}

CollectiveSizes UsedCollectives(const Workload& workload,
                                const ParallelPlan& plan) {
  CollectiveSizes used;
  AddPipelineMessage(workload.pipeline_message(), plan, used);
  for (const Layer& layer : workload.layers()) {
    for (const LayerPhase& phase : layer.phases) {
      if (phase.communication) AddIfUsed(*phase.communication, plan, used);
    }
  }
  return used;
}

CollectiveSizes UsedCollectives(const Program& program,
                                const ParallelPlan& plan) {
  CollectiveSizes used;
  AddPipelineMessage(program.pipeline_message(), plan, used);
  for (const ProgramModule& module : program.modules()) {
    for (const std::vector<Step>& steps : module.passes) {
      for (const Step& step : steps) AddIfUsed(step.communication, plan, used);
    }
  }
  return used;
}

absl::StatusOr<CollectiveCosts> FindCosts(const CollectiveSizes& used,
                                          const ParallelPlan& plan,
                                          const BusBandwidths& measured,
                                          const std::optional<NcclSystem>& nccl,
                                          bool with_messages, Routes& routes) {
  CollectiveCosts costs;
  for (const auto& [key, _] : used) {
    if (key.first != ParallelDimension::kPipeline) costs[key];
  }
  for (auto& [key, cost] : costs) {
    const auto [dimension, kind] = key;
    ASTRA_ASSIGN_OR_RETURN(cost.forms,
                           LayOnLinks(DefaultCollectiveAlgorithm(kind),
                                      AllGroups(plan, dimension), routes));
    const std::optional<double> gb_per_s = measured.Find(dimension, kind);
    if (!gb_per_s && nccl) {
      ASTRA_RETURN_IF_ERROR(AddNccl(kind, used.at(key),
                                    AllGroups(plan, dimension), *nccl,
                                    with_messages, routes, &cost));
    }
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
  SharedLayouts layouts;
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
                                   .layout = {},
                                   .nodes = {}};
      communicator.layout =
          layouts.Share(GroupLayout::Of(communicator.ranks, topology));
      communicator.nodes =
          MemberNodes(communicator.ranks, *communicator.layout, topology);
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
