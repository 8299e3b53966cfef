#include "astra-core/engine/flow_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/event_queue.h"
#include "fmt/format.h"

namespace astra {
namespace {

// One graph on a network of its own. What happens at one instant does so in the
// order of flows: slots are used again and again, and mean nothing.
class LoneRun {
 public:
  LoneRun(std::shared_ptr<const FlowGraph> graph,
          absl::Span<const NodeId> members, NetworkBackend& network,
          const MessageCosts& costs)
      : run_(std::move(graph)),
        members_(members),
        network_(network),
        costs_(costs) {}

  absl::StatusOr<TimePs> Run() {
    const TimePs start = network_.now();
    for (uint32_t rank = 0; rank < run_.graph().num_ranks(); ++rank) {
      run_.Join(GroupRank(rank), &ready_);
    }
    while (true) {
      for (const FlowId flow : ready_) Leave(flow);
      ready_.clear();
      if (run_.is_done()) return network_.now() - start;
      if (!Advance()) {
        return absl::InternalError(fmt::format(
            "the network fell silent with {} of {} messages missing",
            run_.num_missing(), run_.graph().num_flows()));
      }
    }
  }

 private:
  // Delays that end at one instant do so in this order.
  enum DelayKind : uint32_t { kTargetDone, kMessageReady };

  struct InFlight {
    FlowId id;
    Flow flow;
  };

  // `flow` may leave.
  void Leave(FlowId flow) {
    const uint32_t slot = TakeSlot(flow);
    if (costs_.per_message == TimePs(0)) {
      Send(slot);
    } else {
      Delay(costs_.per_message, kMessageReady, slot);
    }
  }

  void Send(uint32_t slot) {
    const Flow& flow = in_flight_[slot].flow;
    network_.Send({.id = MessageId(slot),
                   .source = members_[flow.source.index()],
                   .target = members_[flow.target.index()],
                   .bytes = costs_.OnWire(flow.bytes)});
  }

  // Goes on to the next instant at which something happens; returns false if
  // there is none.
  bool Advance() {
    constexpr TimePs kNever(std::numeric_limits<int64_t>::max());
    arrived_.clear();
    network_.AdvanceTo(delays_.empty() ? kNever : delays_.next().time,
                       &arrived_);
    if (arrived_.empty() && delays_.empty()) return false;
    for (const MessageId message : arrived_) Arrive(message.index());
    while (!delays_.empty() && delays_.next().time == network_.now()) {
      const Event delay = delays_.Pop();
      (delay.kind == kTargetDone ? done_ : leaving_).push_back(delay.index);
    }
    SortByFlow(&done_);
    for (const uint32_t slot : done_) {
      run_.Arrive(in_flight_[slot].id, &ready_, &finished_);
      free_slots_.push_back(slot);
    }
    SortByFlow(&leaving_);
    for (const uint32_t slot : leaving_) Send(slot);
    done_.clear();
    leaving_.clear();
    finished_.clear();
    return true;
  }

  // The message in `slot` has reached its target.
  void Arrive(uint32_t slot) {
    const TimePs spent =
        costs_.AtTarget(in_flight_[slot].flow, run_.graph().num_ranks());
    if (spent == TimePs(0)) {
      done_.push_back(slot);
    } else {
      Delay(spent, kTargetDone, slot);
    }
  }

  void Delay(TimePs time, DelayKind kind, uint32_t slot) {
    delays_.Push({.time = network_.now() + time, .kind = kind, .index = slot});
  }

  uint32_t TakeSlot(FlowId flow) {
    if (free_slots_.empty()) {
      ASTRA_CHECK(in_flight_.size() < std::numeric_limits<uint32_t>::max(),
                  "{} messages in flight", in_flight_.size());
      free_slots_.push_back(static_cast<uint32_t>(in_flight_.size()));
      in_flight_.emplace_back();
    }
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    in_flight_[slot] = {flow, run_.graph().flow(flow)};
    return slot;
  }

  void SortByFlow(std::vector<uint32_t>* slots) const {
    std::sort(slots->begin(), slots->end(), [this](uint32_t a, uint32_t b) {
      return in_flight_[a].id < in_flight_[b].id;
    });
  }

  FlowRun run_;
  absl::Span<const NodeId> members_;
  NetworkBackend& network_;
  const MessageCosts& costs_;
  std::vector<InFlight> in_flight_;  // By slot, which is the message's id.
  std::vector<uint32_t> free_slots_;
  EventQueue delays_;                // The index of an event is a slot.
  std::vector<FlowId> ready_;        // Flows that may leave.
  std::vector<MessageId> arrived_;   // Scratch.
  std::vector<uint32_t> done_;       // Scratch.
  std::vector<uint32_t> leaving_;    // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

}  // namespace

FlowRun::FlowRun(std::shared_ptr<const FlowGraph> graph)
    : graph_(std::move(graph)),
      joined_(graph_->num_members()),
      waiting_(graph_->num_ranks()),
      num_absent_(graph_->num_ranks()),
      num_missing_(graph_->num_flows()) {
  missing_.reserve(graph_->num_members());
  for (uint32_t i = 0; i < graph_->num_members(); ++i) {
    const GroupRank member(i);
    missing_.push_back(graph_->num_flows_of(member));
    if (i < graph_->num_ranks()) continue;
    joined_[i] = true;
    graph_->AppendFirstFlows(member, &released_);
    ASTRA_CHECK(released_.empty(), "switch {} sends what it has not received",
                member);
  }
}

// Sorted as if each flow of the rank had been asked in turn.
void FlowRun::Join(GroupRank rank, std::vector<FlowId>* ready) {
  joined_[rank.index()] = true;
  --num_absent_;
  const auto first = static_cast<std::ptrdiff_t>(ready->size());
  std::vector<FlowId>& waiting = waiting_[rank.index()];
  ready->insert(ready->end(), waiting.begin(), waiting.end());
  std::vector<FlowId>().swap(waiting);

  released_.clear();
  graph_->AppendFirstFlows(rank, &released_);
  for (const FlowId flow : released_) {
    const GroupRank target = graph_->flow(flow).target;
    std::vector<FlowId>* list =
        joined_[target.index()] ? ready : &waiting_[target.index()];
    list->push_back(flow);
  }
  std::sort(ready->begin() + first, ready->end());
}

// The source of what waits for an arrived flow is one of the two members that
// were in it, and so has joined.
void FlowRun::Arrive(FlowId flow, std::vector<FlowId>* ready,
                     std::vector<GroupRank>* finished) {
  --num_missing_;
  released_.clear();
  graph_->AppendDependents(flow, &released_);
  for (const FlowId later : released_) {
    if (!IsReleased(later)) continue;
    std::vector<FlowId>* list = ready;
    if (num_absent_ > 0) {
      const GroupRank target = graph_->flow(later).target;
      if (!joined_[target.index()]) list = &waiting_[target.index()];
    }
    list->push_back(later);
  }
  const Flow arrived = graph_->flow(flow);
  for (const GroupRank member : {arrived.source, arrived.target}) {
    if (--missing_[member.index()] > 0) continue;
    if (member.index() < graph_->num_ranks()) finished->push_back(member);
  }
}

// Counts an arrival that `flow` waits for; returns whether it was the last.
bool FlowRun::IsReleased(FlowId flow) {
  const uint32_t num_dependencies = graph_->num_dependencies(flow);
  if (num_dependencies == 1) return true;
  const auto [missing, _] =
      partly_released_.try_emplace(flow.index(), num_dependencies);
  if (--missing->second > 0) return false;
  partly_released_.erase(missing);
  return true;
}

TimePs MessageCosts::AtTarget(const Flow& flow, uint32_t num_ranks) const {
  if (flow.target.index() >= num_ranks) return TimePs(0);
  const double ps_per_byte =
      flow.op == FlowOp::kReduce ? reduce_ps_per_byte : copy_ps_per_byte;
  return TimePs(
      std::llround(ps_per_byte * static_cast<double>(flow.bytes.count())));
}

Bytes MessageCosts::OnWire(Bytes bytes) const {
  if (wire_bytes_per_byte == 1) return bytes;
  return Bytes(static_cast<int64_t>(
      std::ceil(wire_bytes_per_byte * static_cast<double>(bytes.count()))));
}

absl::StatusOr<TimePs> RunFlowGraph(std::shared_ptr<const FlowGraph> graph,
                                    absl::Span<const NodeId> members,
                                    NetworkBackend& network,
                                    const MessageCosts& costs) {
  ASTRA_CHECK(members.size() == graph->num_members(), "{} nodes for {} members",
              members.size(), graph->num_members());
  return LoneRun(std::move(graph), members, network, costs).Run();
}

}  // namespace astra
