#include "astra-core/apps/trace_tracks.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "fmt/core.h"

namespace astra {
namespace {

using ChannelNames = std::map<std::pair<RankId, LaneId>, std::string>;

ChannelNames NamesOfChannels(const TraceLanes& lanes) {
  ChannelNames names;
  for (const TraceChannel& channel : lanes.channels) {
    names[{channel.sender, channel.send_lane}] =
        fmt::format("sends to rank {}, tag {}", channel.receiver, channel.tag);
    names[{channel.receiver, channel.receive_lane}] = fmt::format(
        "receives from rank {}, tag {}", channel.sender, channel.tag);
  }
  return names;
}

// Returns the name of the group of a family that has the rank.
std::string NameOfGroup(const ExecutionTrace& trace, const TraceLanes& lanes,
                        RankId rank, LaneId lane) {
  for (const ProcessGroupId id : lanes.families[lane.index()]) {
    const ProcessGroup& group = trace.groups[id.index()];
    if (!std::binary_search(group.ranks.begin(), group.ranks.end(), rank)) {
      continue;
    }
    if (group.name.empty()) return "all ranks";
    return fmt::format("{} of group {}", Name(group.counted_dimension()),
                       group.name);
  }
  return fmt::format("lane {}", lane.index());
}

}  // namespace

TrackNames TraceTracks(const ExecutionTrace& trace, const TraceLanes& lanes) {
  return {.rank =
              [](const RankResult& rank) {
                return fmt::format("rank {}", rank.rank);
              },
          .lane = [&trace, &lanes, channels = NamesOfChannels(lanes)](
                      const RankResult& rank, LaneId lane) -> std::string {
            if (lane == lanes.host_lane()) return "CPU";
            if (lane == lanes.memory_lane()) return "copies";
            if (lane.index() < lanes.families.size()) {
              return NameOfGroup(trace, lanes, rank.rank, lane);
            }
            return channels.at({rank.rank, lane});
          }};
}

}  // namespace astra
