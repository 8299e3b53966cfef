#include "astra-core/traces/program_trace.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/engine/simulation_setting.h"
#include "fmt/core.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

bool IsCall(const Op& op) {
  return op.kind == OpKind::kBlocking || op.kind == OpKind::kLaunch;
}

// A node of all ranks of a stage, before it is known which groups and peers
// each of them has.
struct StageNode {
  Op op;
  std::vector<uint32_t> dependencies;  // Ascending.
};

// Follows the program of a stage and notes what has to have ended before each
// operation.
class StageTracer {
 public:
  StageTracer(const ParallelPlan& plan, uint32_t num_lanes)
      : plan_(plan), calls_(num_lanes) {}

  std::vector<StageNode> Trace(const OpStream& next) {
    for (Op op = next(); op.kind != OpKind::kFinish; op = next()) Take(op);
    return std::move(nodes_);
  }

 private:
  void Take(const Op& op) {
    switch (op.kind) {
      case OpKind::kCompute:
        frontier_ = {AddNode(op)};
        break;
      case OpKind::kBlocking:
      case OpKind::kLaunch:
        TakeCall(op);
        break;
      case OpKind::kWait:
        WaitFor(op);
        break;
      case OpKind::kWaitAll:
        for (const std::vector<uint32_t>& lane : calls_) {
          if (!lane.empty()) AddToFrontier(lane.back());
        }
        break;
      case OpKind::kDelay:
      case OpKind::kRepetition:
      case OpKind::kFinish:
        break;
    }
  }

  // As in the engine, a group of one rank has nothing to do.
  void TakeCall(const Op& op) {
    const bool does_nothing = op.communication.bytes == Bytes(0) ||
                              plan_.GroupSize(op.communication.dimension) == 1;
    if (does_nothing) return;
    const uint32_t node = AddNode(op);
    calls_[op.lane.index()].push_back(node);
    if (op.kind == OpKind::kBlocking) AddToFrontier(node);
  }

  void WaitFor(const Op& op) {
    const std::vector<uint32_t>& lane = calls_[op.lane.index()];
    size_t ended = lane.size();  // Calls that must have ended.
    if (op.ended > 0) {
      ended = std::min<size_t>(ended, op.ended);
    } else {
      ended -= std::min<size_t>(ended, op.outstanding);
    }
    if (ended > 0) AddToFrontier(lane[ended - 1]);
  }

  uint32_t AddNode(const Op& op) {
    nodes_.push_back({op, frontier_});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  void AddToFrontier(uint32_t node) {
    const auto place =
        std::lower_bound(frontier_.begin(), frontier_.end(), node);
    if (place == frontier_.end() || *place != node) {
      frontier_.insert(place, node);
    }
  }

  const ParallelPlan& plan_;
  std::vector<StageNode> nodes_;
  std::vector<std::vector<uint32_t>> calls_;  // Nodes by lane.
  std::vector<uint32_t> frontier_;  // Nodes that the next one depends on.
};

// Fills in groups, peers and tags of each rank.
class TraceWriter {
 public:
  TraceWriter(const Program& program, const ParallelPlan& plan)
      : program_(program), plan_(plan), links_(PipelineLinks(program)) {
    trace_.names = LayerNames(program);
    trace_.communication_slowdown = program.gpu().communication_slowdown;
    trace_.ranks.resize(static_cast<size_t>(program.sizes().num_ranks));
  }

  absl::StatusOr<ExecutionTrace> Write() {
    const PipelineProgram stages(program_, program_.shape().micro_batches,
                                 /*window=*/1);
    int64_t num_nodes = 0;
    for (uint32_t s = 0; s < stages.num_stages(); ++s) {
      const std::vector<StageNode> nodes =
          StageTracer(plan_, stages.num_lanes()).Trace(stages.Begin(s));
      const auto size =
          static_cast<uint32_t>(trace_.ranks.size() / stages.num_stages());
      num_nodes += static_cast<int64_t>(nodes.size()) * size;
      if (num_nodes > kMostTraceNodes) {
        return absl::ResourceExhaustedError(fmt::format(
            "the trace would have more than {} nodes", kMostTraceNodes));
      }
      for (uint32_t i = 0; i < size; ++i) {
        WriteRank(plan_.RankOf(s, i), s, i, nodes);
      }
    }
    return std::move(trace_);
  }

 private:
  void WriteRank(RankId rank, uint32_t stage, uint32_t position,
                 const std::vector<StageNode>& nodes) {
    RankTrace& made = trace_.ranks[rank.index()];
    made.nodes.reserve(nodes.size());
    for (const StageNode& from : nodes) {
      TraceNode node;
      node.id = made.nodes.size();
      node.name = TraceNameId(from.op.layer.index());
      node.phase = from.op.phase;
      node.first_dependency = static_cast<uint32_t>(made.dependencies.size());
      node.num_dependencies = static_cast<uint32_t>(from.dependencies.size());
      made.dependencies.insert(made.dependencies.end(),
                               from.dependencies.begin(),
                               from.dependencies.end());
      if (!IsCall(from.op)) {
        node.kind = TraceNodeKind::kCompute;
        node.duration = from.op.compute;
      } else {
        node.bytes = from.op.communication.bytes;
        node.update = from.op.update;
        node.collective = from.op.communication.kind;
        if (from.op.communication.dimension == ParallelDimension::kPipeline) {
          SetMessage(from.op.lane, stage, position, node);
        } else {
          node.kind = TraceNodeKind::kCollective;
          node.group = GroupOf(from.op.communication.dimension, rank);
        }
      }
      made.nodes.push_back(node);
    }
  }

  // A link of the pipeline is a tag, so that the messages of two links between
  // the same ranks stay apart.
  void SetMessage(LaneId lane, uint32_t stage, uint32_t position,
                  TraceNode& node) const {
    for (size_t i = 0; i < links_.size(); ++i) {
      const PipelineLink& link = links_[i];
      const bool sends = link.from == stage && link.send_lane == lane;
      const bool receives = link.to == stage && link.receive_lane == lane;
      if (!sends && !receives) continue;
      node.kind = sends ? TraceNodeKind::kSend : TraceNodeKind::kReceive;
      node.peer = plan_.RankOf(sends ? link.to : link.from, position);
      node.tag = static_cast<int64_t>(i);
      return;
    }
    ASTRA_CHECK(false, "no link has lane {} of stage {}", lane.index(), stage);
  }

  // Returns the group, which is made with all others of its dimension.
  ProcessGroupId GroupOf(ParallelDimension dimension, RankId rank) {
    auto [found, is_new] = group_of_rank_.try_emplace(dimension);
    if (is_new) {
      found->second.resize(trace_.ranks.size());
      for (uint32_t g = 0; g < plan_.NumGroups(dimension); ++g) {
        const ProcessGroupId id(static_cast<uint32_t>(trace_.groups.size()));
        ProcessGroup group;
        group.name = fmt::format("{}", id.index());
        group.dimension = dimension;
        group.ranks = plan_.Ranks(dimension, g);
        for (const RankId member : group.ranks) {
          found->second[member.index()] = id;
        }
        trace_.groups.push_back(std::move(group));
      }
    }
    return found->second[rank.index()];
  }

  const Program& program_;
  const ParallelPlan& plan_;
  const std::vector<PipelineLink> links_;
  ExecutionTrace trace_;
  std::map<ParallelDimension, std::vector<ProcessGroupId>> group_of_rank_;
};

}  // namespace

absl::StatusOr<ExecutionTrace> TraceOf(const Program& program) {
  if (!program.simulates_pipeline() && program.sizes().pipeline > 1) {
    return absl::UnimplementedError(
        "the pipeline of this workload is a formula, which no trace can say: "
        "write it as a program (gen_workload --format program)");
  }
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  return TraceWriter(program, plan).Write();
}

}  // namespace astra
