#include "astra-core/traces/trace_program.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {

// Builds the steps of one rank. Kernels are numbered; what is started behind
// kernel k and before the next one has place k + 1. A node's place is the first
// at which all kernels before it have ended and all calls before it have been
// made.
class TraceProgram::RankBuilder {
 public:
  RankBuilder(const ExecutionTrace& trace, const TraceLanes& lanes,
              uint32_t rank)
      : lanes_(lanes),
        number_(rank),
        own_(trace.ranks[rank]),
        ended_(own_.nodes.size()),
        num_calls_(lanes.num_lanes),
        place_of_lane_(lanes.num_lanes) {}

  Rank Build() {
    std::vector<std::vector<uint32_t>> at_place(1);  // Nodes, in order.
    for (uint32_t i = 0; i < own_.nodes.size(); ++i) {
      const TraceNode& node = own_.nodes[i];
      Reach needs = NeedsOf(node);
      if (node.kind == TraceNodeKind::kMark) {
        ended_[i] = std::move(needs);
        continue;
      }
      if (node.kind == TraceNodeKind::kCompute) {
        kernels_.push_back(i);
        at_place.emplace_back();
        ended_[i].place = static_cast<uint32_t>(kernels_.size());
      } else {
        const LaneId lane = LaneOfNode(node);
        uint32_t& place = place_of_lane_[lane.index()];
        place = std::max(place, needs.place);
        ended_[i] = {place, {{lane, ++num_calls_[lane.index()]}}};
        at_place[place].push_back(i);
      }
      needs_.resize(i + 1);
      needs_[i] = std::move(needs.lanes);
    }
    needs_.resize(own_.nodes.size());
    for (size_t place = 0; place < at_place.size(); ++place) {
      for (const uint32_t node : at_place[place]) AddCall(node);
      if (place < kernels_.size()) AddKernel(kernels_[place]);
    }
    return std::move(made_);
  }

 private:
  // What has to have happened: kernels and calls before a place, and calls that
  // have ended, each lane once, ascending.
  struct Reach {
    uint32_t place = 0;
    std::vector<LaneProgress> lanes;
  };

  static void Merge(const Reach& other, Reach& reach) {
    reach.place = std::max(reach.place, other.place);
    for (const LaneProgress& progress : other.lanes) {
      const auto lane =
          std::lower_bound(reach.lanes.begin(), reach.lanes.end(), progress,
                           [](const LaneProgress& a, const LaneProgress& b) {
                             return a.lane < b.lane;
                           });
      if (lane == reach.lanes.end() || lane->lane != progress.lane) {
        reach.lanes.insert(lane, progress);
      } else {
        lane->ended = std::max(lane->ended, progress.ended);
      }
    }
  }

  Reach NeedsOf(const TraceNode& node) const {
    Reach needs;
    for (const uint32_t dependency : own_.DependenciesOf(node)) {
      Merge(ended_[dependency], needs);
    }
    return needs;
  }

  LaneId LaneOfNode(const TraceNode& node) const {
    switch (node.kind) {
      case TraceNodeKind::kHost:
        return lanes_.host_lane();
      case TraceNodeKind::kMemory:
        return lanes_.memory_lane();
      case TraceNodeKind::kCollective:
        return LaneId(lanes_.family_of_group[node.group.index()]);
      case TraceNodeKind::kSend:
        return ChannelOf(RankId(number_), node.peer, node.tag).send_lane;
      case TraceNodeKind::kReceive:
        return ChannelOf(node.peer, RankId(number_), node.tag).receive_lane;
      case TraceNodeKind::kMark:
      case TraceNodeKind::kCompute:
        break;
    }
    ASTRA_CHECK(false, "node kind {}", static_cast<int>(node.kind));
  }

  const TraceChannel& ChannelOf(RankId sender, RankId receiver,
                                int64_t tag) const {
    return *std::lower_bound(lanes_.channels.begin(), lanes_.channels.end(),
                             std::tuple(sender, receiver, tag),
                             [](const TraceChannel& channel, const auto& key) {
                               return std::tuple(channel.sender,
                                                 channel.receiver,
                                                 channel.tag) < key;
                             });
  }

  // Kernels have waited for this much already.
  bool IsCertain(const LaneProgress& progress) const {
    const auto found = waited_.find(progress.lane);
    return found != waited_.end() && found->second >= progress.ended;
  }

  void AddCall(uint32_t node) {
    Step step;
    step.node = node;
    step.lane = LaneOfNode(own_.nodes[node]);
    step.first_after = static_cast<uint32_t>(made_.after.size());
    for (const LaneProgress& progress : needs_[node]) {
      if (progress.lane == step.lane || IsCertain(progress)) continue;
      made_.after.push_back(progress);
      ++step.num_after;
    }
    made_.steps.push_back(step);
  }

  void AddKernel(uint32_t node) {
    for (const LaneProgress& progress : needs_[node]) {
      if (IsCertain(progress)) continue;
      waited_[progress.lane] = progress.ended;
      Step wait;
      wait.lane = progress.lane;
      wait.ended = progress.ended;
      made_.steps.push_back(wait);
    }
    Step step;
    step.node = node;
    made_.steps.push_back(step);
  }

  const TraceLanes& lanes_;
  const uint32_t number_;
  const RankTrace& own_;
  std::vector<Reach> ended_;  // By node: what its end means.
  std::vector<std::vector<LaneProgress>> needs_;  // By node.
  std::vector<uint32_t> kernels_;
  std::vector<uint32_t> num_calls_;      // By lane.
  std::vector<uint32_t> place_of_lane_;  // Of its last call.
  std::map<LaneId, uint32_t> waited_;
  Rank made_;
};

TraceProgram::TraceProgram(const ExecutionTrace& trace, const TraceLanes& lanes)
    : trace_(trace), lanes_(lanes) {
  for (uint32_t rank = 0; rank < trace.ranks.size(); ++rank) {
    ranks_.push_back(RankBuilder(trace, lanes, rank).Build());
  }
}

Op TraceProgram::OpOf(uint32_t rank, const Step& step) const {
  Op op;
  op.lane = step.lane;
  if (step.node == Step::kNoNode) {
    op.kind = OpKind::kWait;
    op.ended = step.ended;
    return op;
  }
  const TraceNode& node = trace_.ranks[rank].nodes[step.node];
  op.layer = LayerId(node.name.index());
  op.phase = node.phase;
  op.compute = node.duration;
  op.after = absl::MakeConstSpan(ranks_[rank].after)
                 .subspan(step.first_after, step.num_after);
  if (node.kind == TraceNodeKind::kCompute) {
    op.kind = OpKind::kCompute;
    return op;
  }
  if (node.kind == TraceNodeKind::kHost ||
      node.kind == TraceNodeKind::kMemory) {
    op.kind = OpKind::kDelay;
    return op;
  }
  op.kind = OpKind::kLaunch;
  const bool is_collective = node.kind == TraceNodeKind::kCollective;
  op.communication = {
      is_collective ? node.collective : CollectiveKind::kSendRecv,
      is_collective ? trace_.groups[node.group.index()].counted_dimension()
                    : ParallelDimension::kPipeline,
      node.bytes};
  op.update = node.update;
  return op;
}

OpStream TraceProgram::Begin(uint32_t stage) const {
  return [this, stage, next = size_t{0}]() mutable {
    const std::vector<Step>& steps = ranks_[stage].steps;
    if (next < steps.size()) return OpOf(stage, steps[next++]);
    Op op;
    op.kind = next++ == steps.size() ? OpKind::kWaitAll : OpKind::kFinish;
    return op;
  };
}

}  // namespace astra
