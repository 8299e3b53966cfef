#include "astra-core/engine/communicators.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/engine/shared_layouts.h"

namespace astra {
namespace {

// What decides the times of a group.
using GroupKey = std::pair<std::vector<ClosedForm>, std::vector<uint32_t>>;

void AddToKey(const CollectiveCost& cost, uint32_t group, GroupKey& key) {
  key.first.push_back(cost.forms.groups[group].form);
  if (!cost.sized.empty()) key.second.push_back(cost.class_of_group[group]);
}

// Equal numbers for the ranks behind one another in the pipeline whose messages
// all cost the same.
GroupCosts ClassifyPipelines(const ParallelPlan& plan,
                             const PipelinePairs& pairs,
                             const CollectiveCost& cost) {
  const std::set<uint32_t> first_pairs(pairs.first_pair.begin(),
                                       pairs.first_pair.end());
  GroupCosts groups = {.dimension = ParallelDimension::kPipeline,
                       .cost_class = {}};
  std::map<GroupKey, uint32_t> ids;
  for (uint32_t g = 0; g < plan.NumGroups(groups.dimension); ++g) {
    GroupKey key;
    for (const uint32_t first : first_pairs) AddToKey(cost, first + g, key);
    const auto next = static_cast<uint32_t>(ids.size());
    groups.cost_class.push_back(
        ids.try_emplace(std::move(key), next).first->second);
  }
  return groups;
}

// Equal numbers for groups whose collectives all cost the same.
std::vector<GroupCosts> ClassifyCosts(const ParallelPlan& plan,
                                      const PipelinePairs& pairs,
                                      const CollectiveCosts& costs) {
  std::vector<GroupCosts> result;
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) {
      const auto cost = costs.find({dimension, CollectiveKind::kSendRecv});
      if (cost == costs.end()) continue;
      result.push_back(ClassifyPipelines(plan, pairs, cost->second));
      continue;
    }
    std::map<GroupKey, uint32_t> ids;
    GroupCosts groups = {.dimension = dimension, .cost_class = {}};
    std::vector<const CollectiveCost*> used;
    for (const auto& [key, cost] : costs) {
      if (key.first == dimension) used.push_back(&cost);
    }
    if (used.empty()) continue;
    for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
      GroupKey key;
      for (const CollectiveCost* cost : used) AddToKey(*cost, g, key);
      const auto next = static_cast<uint32_t>(ids.size());
      groups.cost_class.push_back(
          ids.try_emplace(std::move(key), next).first->second);
    }
    result.push_back(std::move(groups));
  }
  return result;
}

// Puts the communicators of a plan together.
class CommunicatorFormer {
 public:
  CommunicatorFormer(const ParallelPlan& plan, const Topology& topology,
                     RankClasses classes, uint32_t num_lanes)
      : plan_(plan), topology_(topology) {
    result_.num_lanes = num_lanes;
    result_.of_class.assign(
        classes.lowest_rank.size(),
        std::vector<std::optional<CommunicatorId>>(num_lanes));
    result_.classes = std::move(classes);
  }

  // Those of one dimension; `class_of_group` is that of the classes.
  void AddGroups(ParallelDimension dimension,
                 absl::Span<const uint32_t> class_of_group) {
    const auto first = static_cast<uint32_t>(result_.list.size());
    for (uint32_t g = 0; g < class_of_group.size(); ++g) {
      const uint32_t id = first + class_of_group[g];
      if (id < result_.list.size()) {
        ++result_.list[id].num_groups;
        continue;
      }
      std::vector<RankId> ranks = plan_.Ranks(dimension, g);
      std::vector<uint32_t> members;
      members.reserve(ranks.size());
      for (const RankId rank : ranks) members.push_back(ClassOf(rank));
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
      std::vector<LaneId> lanes(members.size(), LaneOf(dimension));
      Add(dimension, g, std::move(ranks), std::move(members), std::move(lanes));
    }
  }

  // Those of one link: one for each class of senders.
  void AddLink(const PipelineLink& link, uint32_t first_pair) {
    std::map<uint32_t, uint32_t> of_sender;  // Position in the list.
    for (uint32_t i = 0; i < plan_.stage_size(); ++i) {
      const RankId sender = plan_.RankOf(link.from, i);
      const RankId receiver = plan_.RankOf(link.to, i);
      const auto next = static_cast<uint32_t>(result_.list.size());
      const auto [known, is_new] = of_sender.try_emplace(ClassOf(sender), next);
      if (!is_new) {
        ++result_.list[known->second].num_groups;
        continue;
      }
      Add(ParallelDimension::kPipeline, first_pair + i, {sender, receiver},
          {ClassOf(sender), ClassOf(receiver)},
          {link.send_lane, link.receive_lane});
    }
  }

  Communicators Take() { return std::move(result_); }

 private:
  uint32_t ClassOf(RankId rank) const {
    return result_.classes.class_of_rank[rank.index()];
  }

  void Add(ParallelDimension dimension, uint32_t group,
           std::vector<RankId> ranks, std::vector<uint32_t> members,
           std::vector<LaneId> lanes) {
    const CommunicatorId id(static_cast<uint32_t>(result_.list.size()));
    for (size_t i = 0; i < members.size(); ++i) {
      result_.of_class[members[i]][lanes[i].index()] = id;
    }
    Communicator made = {.dimension = dimension,
                         .group = group,
                         .num_groups = 1,
                         .ranks = std::move(ranks),
                         .members = std::move(members),
                         .lanes = std::move(lanes),
                         .layout = {},
                         .nodes = {}};
    made.layout = layouts_.Share(GroupLayout::Of(made.ranks, topology_));
    made.nodes = MemberNodes(made.ranks, *made.layout, topology_);
    result_.list.push_back(std::move(made));
  }

  const ParallelPlan& plan_;
  const Topology& topology_;
  SharedLayouts layouts_;
  Communicators result_;
};

}  // namespace

PipelineWiring WiringOf(const Program& program, const ParallelPlan& plan) {
  PipelineWiring wiring;
  const PipelineShape shape = program.shape();
  wiring.num_stages = static_cast<uint32_t>(shape.stages);
  wiring.num_lanes =
      LaneOf(StageMessage::kSendActivation, static_cast<uint32_t>(shape.chunks))
          .index();
  wiring.links = PipelineLinks(program);
  wiring.pairs = PairsOf(wiring.links, plan);
  return wiring;
}

Communicators FormCommunicators(const ParallelPlan& plan,
                                const PipelineWiring& pipeline,
                                const CollectiveCosts& costs, bool each_rank,
                                const Topology& topology) {
  const std::vector<GroupCosts> dimensions =
      ClassifyCosts(plan, pipeline.pairs, costs);
  const bool by_stage = pipeline.num_stages > 1;
  RankClasses classes = each_rank ? EachRankAlone(plan, dimensions, by_stage)
                                  : ClassifyRanks(plan, dimensions, by_stage);
  const std::vector<std::vector<uint32_t>> class_of_group =
      classes.class_of_group;
  CommunicatorFormer former(plan, topology, std::move(classes),
                            pipeline.num_lanes);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d].dimension == ParallelDimension::kPipeline) continue;
    former.AddGroups(dimensions[d].dimension, class_of_group[d]);
  }
  for (size_t i = 0; i < pipeline.links.size(); ++i) {
    former.AddLink(pipeline.links[i], pipeline.pairs.first_pair[i]);
  }
  return former.Take();
}

}  // namespace astra
