#include "astra-core/physical/rank_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_sending.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Class of the members that other processes run.
constexpr uint32_t kElsewhere = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kHere = 0;

// Returns `all` as seen by one rank, whose class becomes kHere.
Communicators OnlyOf(RankId rank, Communicators all) {
  const uint32_t id = all.classes.class_of_rank[rank.index()];
  RankClasses classes;
  classes.class_of_rank.assign(all.classes.class_of_rank.size(), kHere);
  classes.lowest_rank = {rank};
  classes.stage = {all.classes.stage[id]};
  classes.class_of_group = std::move(all.classes.class_of_group);
  all.classes = std::move(classes);
  all.of_class = {all.of_class[id]};
  for (Communicator& communicator : all.list) {
    for (uint32_t& member : communicator.members) {
      member = member == id ? kHere : kElsewhere;
    }
  }
  return all;
}

void SortOnce(std::vector<ConnectionKey>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

RankPlan::RankPlan(const SimulationSetting& setting, RankId rank)
    : communicators_(OnlyOf(rank, setting.communicators)) {
  connections_.rank = rank;
}

absl::StatusOr<RankPlan> RankPlan::Create(const SimulationSetting& setting,
                                          const RankProgram& program,
                                          RankId rank) {
  RankPlan plan(setting, rank);
  const Communicators& communicators = plan.communicators_;
  const OpStream next = program.Begin(communicators.classes.stage.front());
  for (Op op = next(); op.kind != OpKind::kFinish; op = next()) {
    const bool calls =
        op.kind == OpKind::kBlocking || op.kind == OpKind::kLaunch;
    if (!calls || op.communication.bytes == Bytes(0)) continue;
    const std::optional<CommunicatorId>& communicator =
        communicators.of_class.front()[op.lane.index()];
    if (!communicator) continue;
    ASTRA_RETURN_IF_ERROR(plan.Add(setting, *communicator, op.communication));
  }
  SortOnce(plan.connections_.outgoing);
  SortOnce(plan.connections_.incoming);
  return plan;
}

absl::Status RankPlan::Add(const SimulationSetting& setting, CommunicatorId id,
                           const Communication& what) {
  const auto [kind, dimension, bytes] = what;
  const auto [entry, is_new] = collectives_.try_emplace(
      CollectiveKey(id.index(), kind, dimension, bytes));
  if (!is_new) return absl::OkStatus();
  PlannedCollective& planned = entry->second;
  // The lowering keeps what belongs to a communicator, so it gets the
  // setting's.
  const Communicator& group = setting.communicators.list[id.index()];
  ASTRA_ASSIGN_OR_RETURN(
      planned.messages,
      setting.lowering->Lower(id.index(), group, what,
                              setting.costs->at({dimension, kind})));
  if (planned.messages.graph->num_members() !=
      planned.messages.graph->num_ranks()) {
    return absl::UnimplementedError(fmt::format(
        "the {} of {} over {} is {}, for which switches compute, and hosts "
        "cannot do that for them: choose others with --nccl NCCL_ALGO=Ring and "
        "--engine none",
        Name(kind), bytes, Name(dimension), planned.messages.algorithm));
  }
  const auto own =
      std::find(group.ranks.begin(), group.ranks.end(), connections_.rank);
  planned.member = GroupRank(static_cast<uint32_t>(own - group.ranks.begin()));
  AddConnections(id, planned);
  return absl::OkStatus();
}

void RankPlan::AddConnections(CommunicatorId communicator,
                              const PlannedCollective& planned) {
  const FlowGraph& graph = *planned.messages.graph;
  for (uint64_t id = 0; id < graph.num_flows(); ++id) {
    const Flow flow = graph.flow(FlowId(id));
    const bool sends = flow.source == planned.member;
    if (!sends && flow.target != planned.member) continue;
    (sends ? connections_.outgoing : connections_.incoming)
        .push_back(KeyOf(communicator, planned.messages, flow));
  }
  // A graph has many flows of few connections.
  SortOnce(connections_.outgoing);
  SortOnce(connections_.incoming);
}

const PlannedCollective* RankPlan::Find(CommunicatorId communicator,
                                        const Communication& what) const {
  const auto found = collectives_.find(CollectiveKey(
      communicator.index(), what.kind, what.dimension, what.bytes));
  return found == collectives_.end() ? nullptr : &found->second;
}

ConnectionKey RankPlan::KeyOf(CommunicatorId communicator,
                              const CollectiveMessages& messages,
                              const Flow& flow) const {
  const std::vector<RankId>& ranks =
      communicators_.list[communicator.index()].ranks;
  return {ranks[flow.source.index()], ranks[flow.target.index()],
          ConnectionOf(flow, messages, communicator.index()).channel};
}

}  // namespace astra
