#include "astra-core/planner/group_seconds.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

constexpr uint32_t kNumPowers = 62;

uint32_t PowerOf(int64_t bytes) {
  return static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(bytes)) -
                               1);
}

// Returns the first of all groups that lie alike on servers.
std::vector<size_t> UnlikeGroups(const CollectiveTimes& times,
                                 size_t num_groups) {
  std::vector<const TuningTable*> tables;
  std::vector<size_t> groups;
  for (size_t i = 0; i < num_groups; ++i) {
    const TuningTable* table = &times.tuning(i);
    if (std::find(tables.begin(), tables.end(), table) != tables.end()) {
      continue;
    }
    tables.push_back(table);
    groups.push_back(i);
  }
  return groups;
}

}  // namespace

RankGroup GroupOf(RankGroup inner, RankGroup outer) {
  if (inner.size == 1) return outer;
  if (outer.size == 1) return inner;
  if (outer.stride == inner.size * inner.stride) {
    return {.size = inner.size * outer.size, .stride = inner.stride};
  }
  return {inner.size, inner.stride, outer.size, outer.stride};
}

std::vector<std::vector<RankId>> RanksOfGroups(RankGroup group,
                                               int64_t num_ranks) {
  std::vector<std::vector<RankId>> groups;
  const int64_t reach =
      (group.size - 1) * group.stride + (group.runs - 1) * group.run_stride;
  for (int64_t first = 0; first + reach < num_ranks; ++first) {
    const bool is_first = first / group.stride % group.size == 0 &&
                          first / group.run_stride % group.runs == 0;
    if (!is_first) continue;
    std::vector<RankId>& ranks = groups.emplace_back();
    for (int64_t run = 0; run < group.runs; ++run) {
      for (int64_t i = 0; i < group.size; ++i) {
        ranks.emplace_back(static_cast<uint32_t>(
            first + run * group.run_stride + i * group.stride));
      }
    }
  }
  return groups;
}

double GroupSeconds::Of(CollectiveKind kind, RankGroup group, int64_t bytes) {
  if (group.num_ranks() <= 1 || bytes <= 0 || !status_.ok()) return 0;
  Curve& curve = FindCurve(kind, group);
  if (!curve.status.ok()) {
    status_ = curve.status;
    return 0;
  }
  const uint32_t power = PowerOf(bytes);
  const double low = AtPower(curve, power);
  const double floor = static_cast<double>(int64_t{1} << power);
  const double share = static_cast<double>(bytes) / floor - 1;
  if (share == 0) return low;
  return low + share * (AtPower(curve, power + 1) - low);
}

std::optional<WireTraffic> GroupSeconds::TrafficOf(CollectiveKind kind,
                                                   RankGroup group,
                                                   int64_t bytes) {
  if (group.num_ranks() <= 1 || bytes <= 0 || !status_.ok()) {
    return std::nullopt;
  }
  Curve& curve = FindCurve(kind, group);
  if (!curve.status.ok()) status_ = curve.status;
  if (!curve.between) return std::nullopt;
  const uint32_t power = PowerOf(bytes);
  std::optional<WireTraffic>& traffic = curve.traffic[power];
  if (traffic) return traffic;
  const absl::StatusOr<NcclMessages> messages =
      curve.times->Messages(*curve.between, Bytes(int64_t{1} << power));
  if (!messages.ok()) {
    status_ = curve.status = messages.status();
    return std::nullopt;
  }
  traffic = WireTraffic{messages->registry_name,
                        messages->between.wire_bytes_per_byte};
  return traffic;
}

GroupSeconds::Curve& GroupSeconds::FindCurve(CollectiveKind kind,
                                             RankGroup group) {
  constexpr int kRankBits = 28;
  const uint64_t run = ((static_cast<uint64_t>(kind) << kRankBits |
                         static_cast<uint64_t>(group.size))
                        << kRankBits) |
                       static_cast<uint64_t>(group.stride);
  const uint64_t runs = static_cast<uint64_t>(group.runs) << kRankBits |
                        static_cast<uint64_t>(group.run_stride);
  std::unique_ptr<Curve>& curve = curves_[{run, runs}];
  if (curve == nullptr) {
    curve = std::make_unique<Curve>();
    curve->seconds.assign(kNumPowers, -1);
    curve->traffic.resize(kNumPowers);
    std::vector<std::vector<RankId>> groups = RanksOfGroups(group, num_ranks_);
    const size_t num_groups = groups.size();
    absl::StatusOr<CollectiveTimes> times = CollectiveTimes::Create(
        kind, std::move(groups), system_, options_, routes_);
    if (times.ok()) {
      curve->times.emplace(*std::move(times));
      curve->unlike = UnlikeGroups(*curve->times, num_groups);
      const auto between = std::find_if(
          curve->unlike.begin(), curve->unlike.end(), [&](size_t i) {
            return curve->times->tuning(i).hardware.num_servers > 1;
          });
      if (between != curve->unlike.end()) curve->between = *between;
    } else {
      curve->status = times.status();
    }
  }
  return *curve;
}

double GroupSeconds::AtPower(Curve& curve, uint32_t power) {
  double& seconds = curve.seconds[power];
  if (seconds >= 0) return seconds;
  seconds = 0;
  for (const size_t group : curve.unlike) {
    const absl::StatusOr<TimedCollective> time =
        curve.times->Time(group, Bytes(int64_t{1} << power));
    if (!time.ok()) {
      status_ = curve.status = time.status();
      return 0;
    }
    seconds = std::max(seconds, ToSeconds(time->time));
  }
  return seconds;
}

}  // namespace astra
