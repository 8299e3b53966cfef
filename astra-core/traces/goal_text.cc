#include "astra-core/traces/goal_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/shared_layouts.h"
#include "astra-core/traces/trace_lanes.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"
#include "collectives/registry.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int kKernelCpu = 0;
constexpr int kNetworkCpu = 1;
constexpr int kHostCpu = 2;
constexpr int kMemoryCpu = 3;

// The messages of a collective, by member.
struct Messages {
  std::unique_ptr<const FlowGraph> graph;
  std::vector<std::vector<FlowId>> of_member;  // Sent or received.
  std::vector<std::vector<FlowId>> before;     // By flow: what it waits for.
};

Messages MessagesOf(std::unique_ptr<const FlowGraph> graph, size_t num_ranks) {
  Messages messages;
  messages.of_member.resize(num_ranks);
  messages.before.resize(graph->num_flows());
  std::vector<FlowId> dependents;
  for (uint64_t i = 0; i < graph->num_flows(); ++i) {
    const Flow flow = graph->flow(FlowId(i));
    messages.of_member[flow.source.index()].emplace_back(i);
    messages.of_member[flow.target.index()].emplace_back(i);
    dependents.clear();
    graph->AppendDependents(FlowId(i), &dependents);
    for (const FlowId later : dependents) {
      messages.before[later.index()].emplace_back(i);
    }
  }
  messages.graph = std::move(graph);
  return messages;
}

// Lowers each sort of collective once.
class MessageTable {
 public:
  MessageTable(const ExecutionTrace& trace, const Topology& topology) {
    for (const ProcessGroup& group : trace.groups) {
      layouts_.push_back(shared_.Share(GroupLayout::Of(group.ranks, topology)));
    }
  }

  absl::StatusOr<const Messages*> Of(const TraceNode& node) {
    const std::shared_ptr<const GroupLayout>& layout =
        layouts_[node.group.index()];
    const Key key = {layout.get(), node.collective, node.bytes};
    const auto found = table_.find(key);
    if (found != table_.end()) return &found->second;
    ASTRA_ASSIGN_OR_RETURN(
        const CollectiveRequest request,
        CollectiveRequest::Create(node.collective, node.bytes, layout));
    ASTRA_ASSIGN_OR_RETURN(
        std::unique_ptr<const FlowGraph> graph,
        DefaultCollectiveAlgorithm(node.collective).lower(request));
    return &table_
                .try_emplace(key,
                             MessagesOf(std::move(graph), layout->num_ranks()))
                .first->second;
  }

 private:
  using Key = std::tuple<const GroupLayout*, CollectiveKind, Bytes>;

  SharedLayouts shared_;
  std::vector<std::shared_ptr<const GroupLayout>> layouts_;  // By group.
  std::map<Key, Messages> table_;
};

// The first tag of each collective of a group, and of the messages of each
// channel: no two messages have a tag in common.
class Tags {
 public:
  absl::Status Assign(const ExecutionTrace& trace, const TraceLanes& lanes,
                      MessageTable& table) {
    of_group_.resize(trace.groups.size());
    for (uint32_t g = 0; g < trace.groups.size(); ++g) {
      const RankTrace& first = trace.ranks[trace.groups[g].ranks[0].index()];
      for (const TraceNode& node : first.nodes) {
        if (node.kind != TraceNodeKind::kCollective ||
            node.group != ProcessGroupId(g)) {
          continue;
        }
        ASTRA_ASSIGN_OR_RETURN(const Messages* messages, table.Of(node));
        of_group_[g].push_back(next_);
        ASTRA_RETURN_IF_ERROR(Take(messages->graph->num_flows()));
      }
    }
    for (const TraceChannel& channel : lanes.channels) {
      uint64_t count = 0;
      for (const TraceNode& node : trace.ranks[channel.sender.index()].nodes) {
        count += node.kind == TraceNodeKind::kSend &&
                 node.peer == channel.receiver && node.tag == channel.tag;
      }
      of_channel_[{channel.sender, channel.receiver, channel.tag}] = next_;
      ASTRA_RETURN_IF_ERROR(Take(count));
    }
    return absl::OkStatus();
  }

  uint64_t OfCollective(ProcessGroupId group, uint32_t number) const {
    return of_group_[group.index()][number];
  }
  uint64_t OfChannel(RankId sender, RankId receiver, int64_t tag) const {
    return of_channel_.at({sender, receiver, tag});
  }

 private:
  absl::Status Take(uint64_t count) {
    next_ += count;
    if (next_ <= kMostGoalMessages) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        fmt::format("the trace has more than {} messages", kMostGoalMessages));
  }

  uint64_t next_ = 0;
  std::vector<std::vector<uint64_t>> of_group_;
  std::map<std::tuple<RankId, RankId, int64_t>, uint64_t> of_channel_;
};

// Writes the block of one rank.
class RankBlock {
 public:
  RankBlock(const ExecutionTrace& trace, RankId rank, const Tags& tags,
            MessageTable& table, std::string& text)
      : trace_(trace), rank_(rank), tags_(tags), table_(table), text_(text) {}

  absl::Status Write() {
    const RankTrace& own = trace_.ranks[rank_.index()];
    AppendFormat(&text_, "rank {} {{\n", rank_);
    for (const TraceNode& node : own.nodes) {
      std::vector<uint64_t> after;
      for (const uint32_t dependency : own.DependenciesOf(node)) {
        after.push_back(ends_[dependency]);
      }
      ASTRA_RETURN_IF_ERROR(WriteNode(node, std::move(after)));
    }
    text_ += "}\n";
    return absl::OkStatus();
  }

 private:
  absl::Status WriteNode(const TraceNode& node, std::vector<uint64_t> after) {
    switch (node.kind) {
      case TraceNodeKind::kMark:
        ends_.push_back(Calc(TimePs(), kHostCpu, after));
        break;
      case TraceNodeKind::kCompute:
        ends_.push_back(InOrder(kKernelCpu, node.duration, std::move(after)));
        break;
      case TraceNodeKind::kHost:
        ends_.push_back(InOrder(kHostCpu, node.duration, std::move(after)));
        break;
      case TraceNodeKind::kMemory:
        ends_.push_back(InOrder(kMemoryCpu, node.duration, std::move(after)));
        break;
      case TraceNodeKind::kCollective:
        return WriteCollective(node, std::move(after));
      case TraceNodeKind::kSend:
      case TraceNodeKind::kReceive:
        WriteMessage(node, std::move(after));
        break;
    }
    return absl::OkStatus();
  }

  uint64_t Calc(TimePs duration, int cpu, const std::vector<uint64_t>& after) {
    constexpr int64_t kPerNanosecond = 1000;
    AppendFormat(&text_, "l{}: calc {} cpu {}\n", ++last_label_,
                 (duration.count() + kPerNanosecond / 2) / kPerNanosecond, cpu);
    const uint64_t label = last_label_;
    Require(label, after);
    return label;
  }

  void Require(uint64_t label, const std::vector<uint64_t>& after) {
    for (const uint64_t before : after) {
      AppendFormat(&text_, "l{} requires l{}\n", label, before);
    }
  }

  // Simulators may start what is ready in any order.
  uint64_t InOrder(int cpu, TimePs duration, std::vector<uint64_t> after) {
    const auto [last, is_first] = last_on_cpu_.try_emplace(cpu, 0);
    if (!is_first) after.push_back(last->second);
    last->second = Calc(duration, cpu, after);
    return last->second;
  }

  uint64_t Transfer(bool sends, RankId peer, Bytes bytes, uint64_t tag) {
    AppendFormat(&text_, "l{}: {} {}b {} {} tag {} cpu {}\n", ++last_label_,
                 sends ? "send" : "recv", std::max<int64_t>(bytes.count(), 1),
                 sends ? "to" : "from", peer, tag, kNetworkCpu);
    return last_label_;
  }

  absl::Status WriteCollective(const TraceNode& node,
                               std::vector<uint64_t> after) {
    ASTRA_ASSIGN_OR_RETURN(const Messages* messages, table_.Of(node));
    GroupState& state = groups_[node.group];
    if (state.num_calls > 0) after.push_back(state.last_end);
    const uint64_t tag = tags_.OfCollective(node.group, state.num_calls++);
    const std::vector<RankId>& ranks = trace_.groups[node.group.index()].ranks;
    const auto member = static_cast<uint32_t>(
        std::lower_bound(ranks.begin(), ranks.end(), rank_) - ranks.begin());
    const uint64_t begin = Calc(TimePs(), kHostCpu, after);
    std::map<FlowId, uint64_t> labels;
    for (const FlowId id : messages->of_member[member]) {
      const Flow flow = messages->graph->flow(id);
      const bool sends = flow.source.index() == member;
      const GroupRank peer = sends ? flow.target : flow.source;
      labels[id] =
          Transfer(sends, ranks[peer.index()], flow.bytes, tag + id.index());
    }
    std::vector<uint64_t> all;
    for (const auto& [id, label] : labels) {
      std::vector<uint64_t> before = {begin};
      if (messages->graph->flow(id).source.index() == member) {
        for (const FlowId earlier : messages->before[id.index()]) {
          before.push_back(labels.at(earlier));
        }
      }
      Require(label, before);
      all.push_back(label);
    }
    state.last_end = Calc(node.update, kHostCpu, all);
    ends_.push_back(state.last_end);
    return absl::OkStatus();
  }

  void WriteMessage(const TraceNode& node, std::vector<uint64_t> after) {
    const bool sends = node.kind == TraceNodeKind::kSend;
    const RankId sender = sends ? rank_ : node.peer;
    const RankId receiver = sends ? node.peer : rank_;
    ChannelState& state = channels_[{sender, receiver, node.tag}];
    if (state.num_messages > 0) after.push_back(state.last);
    state.last = Transfer(
        sends, node.peer, node.bytes,
        tags_.OfChannel(sender, receiver, node.tag) + state.num_messages++);
    Require(state.last, after);
    ends_.push_back(state.last);
  }

  struct GroupState {
    uint32_t num_calls = 0;
    uint64_t last_end = 0;
  };
  struct ChannelState {
    uint64_t num_messages = 0;
    uint64_t last = 0;
  };

  const ExecutionTrace& trace_;
  const RankId rank_;
  const Tags& tags_;
  MessageTable& table_;
  std::string& text_;
  uint64_t last_label_ = 0;
  std::vector<uint64_t> ends_;  // By node: the label of its end.
  std::map<int, uint64_t> last_on_cpu_;
  std::map<ProcessGroupId, GroupState> groups_;
  std::map<std::tuple<RankId, RankId, int64_t>, ChannelState> channels_;
};

}  // namespace

absl::StatusOr<std::string> GoalText(const ExecutionTrace& trace,
                                     const Topology& topology) {
  MessageTable table(trace, topology);
  Tags tags;
  ASTRA_RETURN_IF_ERROR(tags.Assign(trace, LanesOf(trace), table));
  std::string text = fmt::format("num_ranks {}\n", trace.ranks.size());
  for (uint32_t r = 0; r < trace.ranks.size(); ++r) {
    ASTRA_RETURN_IF_ERROR(
        RankBlock(trace, RankId(r), tags, table, text).Write());
  }
  return text;
}

}  // namespace astra
