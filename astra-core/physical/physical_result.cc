#include "astra-core/physical/physical_result.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/collective_record.h"
#include "fmt/core.h"

namespace astra {
namespace {

// A collective, put together from the reports of its members so far.
struct Joint {
  MemberTimes first;  // Report of the first member.
  TimePs first_joined;
  TimePs last_joined;
  TimePs last_result;
  TimePs lowest_rank_time;
  uint32_t num_members = 0;
};
using Joints = std::map<std::pair<uint32_t, uint32_t>, Joint>;

absl::Status Add(RankId rank, const MemberTimes& times,
                 const SimulationSetting& setting, Joints& joints) {
  const std::vector<Communicator>& list = setting.communicators.list;
  if (times.communicator >= list.size()) {
    return absl::InternalError(
        fmt::format("rank {} reports communicator {}, which does not exist",
                    rank, times.communicator));
  }
  const auto [entry, is_new] =
      joints.try_emplace({times.communicator, times.number});
  Joint& joint = entry->second;
  if (is_new) {
    joint.first = times;
    joint.first_joined = times.joined;
  } else if (joint.first.communication != times.communication ||
             joint.first.layer != times.layer) {
    return absl::InternalError(fmt::format(
        "rank {} reports another collective {} of communicator {} than others",
        rank, times.number, times.communicator));
  }
  joint.first_joined = std::min(joint.first_joined, times.joined);
  joint.last_joined = std::max(joint.last_joined, times.joined);
  joint.last_result = std::max(joint.last_result, times.result);
  ++joint.num_members;
  if (list[times.communicator].ranks.front() == rank) {
    joint.lowest_rank_time = times.result - times.joined;
  }
  return absl::OkStatus();
}

// Where clocks differ, a result may seem to be there before the last member has
// joined.
absl::StatusOr<CollectiveRecord> RecordOfJoint(
    const Joint& joint, const SimulationSetting& setting) {
  const MemberTimes& times = joint.first;
  const Communicator& group = setting.communicators.list[times.communicator];
  if (joint.num_members != group.ranks.size()) {
    return absl::InternalError(
        fmt::format("{} of {} ranks report collective {} of communicator {}",
                    joint.num_members, group.ranks.size(), times.number,
                    times.communicator));
  }
  const auto& [kind, dimension, _] = times.communication;
  const auto cost = setting.costs->find({dimension, kind});
  if (cost == setting.costs->end() ||
      times.layer.index() >= setting.layer_names.size()) {
    return absl::InternalError(fmt::format(
        "ranks report a {} over {}, which the workload does not have",
        Name(kind), Name(dimension)));
  }
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveMessages messages,
      setting.lowering->Outline(times.communicator, group, times.communication,
                                cost->second));
  Call call;
  call.communicator = CommunicatorId(times.communicator);
  call.number = times.number;
  call.layer = times.layer;
  call.phase = times.phase;
  call.communication = times.communication;
  CollectiveRecord record = RecordOf(call, group, cost->second, &messages);
  record.first_start = joint.first_joined;
  record.start = joint.last_joined;
  record.time = std::max(TimePs(1), joint.last_result - joint.last_joined);
  record.lowest_rank_time = joint.lowest_rank_time;
  return record;
}

RankResult RankOf(RankId rank, uint32_t stage, const RankReport& report) {
  RankResult result;
  result.rank = rank;
  result.stage = stage;
  result.compute = report.compute;
  result.slowed = report.slowed;
  result.finish = report.finish;
  result.exposed_in = report.exposed;
  for (const TimePs exposed : report.exposed) result.exposed += exposed;
  return result;
}

}  // namespace

absl::StatusOr<SimulationResult> ResultOf(
    const SimulationSetting& setting, absl::Span<const RankReport> reports) {
  SimulationResult result;
  Joints joints;
  size_t last = 0;
  for (size_t i = 0; i < reports.size(); ++i) {
    const RankId rank(static_cast<uint32_t>(i));
    const RankClasses& classes = setting.communicators.classes;
    result.ranks.push_back(
        RankOf(rank, classes.stage[classes.class_of_rank[i]], reports[i]));
    if (reports[i].finish > reports[last].finish) last = i;
    for (const MemberTimes& times : reports[i].collectives) {
      ASTRA_RETURN_IF_ERROR(Add(rank, times, setting, joints));
    }
  }
  for (const auto& [_, joint] : joints) {
    ASTRA_ASSIGN_OR_RETURN(CollectiveRecord record,
                           RecordOfJoint(joint, setting));
    const std::vector<RankId>& ranks =
        setting.communicators.list[record.communicator].ranks;
    record.is_of_reported_rank =
        std::find(ranks.begin(), ranks.end(),
                  RankId(static_cast<uint32_t>(last))) != ranks.end();
    result.collectives.push_back(record);
  }
  std::stable_sort(result.collectives.begin(), result.collectives.end(),
                   [](const CollectiveRecord& a, const CollectiveRecord& b) {
                     return std::tuple(a.start, a.lowest_rank) <
                            std::tuple(b.start, b.lowest_rank);
                   });
  const RankResult& reported = result.ranks[last];
  result.reported_rank = reported.rank;
  result.compute = reported.compute;
  result.slowed = reported.slowed;
  result.exposed = reported.exposed_in;
  result.stage_time = reported.finish;
  result.layer_names = setting.layer_names;
  result.num_rank_classes = static_cast<uint32_t>(reports.size());
  return result;
}

}  // namespace astra
