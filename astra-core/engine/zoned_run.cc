#include "astra-core/engine/zoned_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

// Runs the flows that arrive in one zone, and sends those that leave it, in the
// order of FlowCarrier. The number of a flow is the id of its message, so that
// every zone knows what arrives.
class ZoneRun final : public ZoneDriver {
 public:
  ZoneRun(const PlacedFlowGraph& placed, ZonedNetwork& zones, ZoneId id)
      : placed_(placed),
        graph_(*placed.graph),
        zones_(zones),
        network_(zones.zone(id)),
        id_(id),
        run_(placed.graph) {
    delays_.Push({.time = placed.costs.start, .kind = kKernelsStarted});
  }

  void AdvanceTo(TimePs limit) override;
  TimePs next() const override {
    return delays_.empty() ? kNever : delays_.next().time;
  }
  uint64_t num_done() const override { return num_done_; }
  bool needs_other_zone() const override { return needs_other_zone_; }

  // Returns when the last flow was done in this zone.
  TimePs end() const { return end_; }

 private:
  // Delays that end at one instant are handled in this order, and by flow.
  enum DelayKind : uint32_t { kKernelsStarted, kTargetDone, kMessageReady };

  bool Step(TimePs limit);
  void EndDelays();
  void Join();
  void Leave(FlowId id);
  void Send(FlowId id);

  ZoneId ZoneOf(GroupRank member) const {
    return zones_.ZoneOf(placed_.members[member.index()]);
  }

  const PlacedFlowGraph& placed_;
  const FlowGraph& graph_;
  const ZonedNetwork& zones_;
  NetworkBackend& network_;
  const ZoneId id_;
  FlowRun run_;
  EventQueue delays_;  // The index of each event is a flow.
  uint64_t num_done_ = 0;
  bool needs_other_zone_ = false;
  TimePs end_;
  std::vector<MessageId> arrived_;   // Scratch.
  std::vector<FlowId> done_;         // Scratch.
  std::vector<FlowId> leaving_;      // Scratch.
  std::vector<FlowId> ready_;        // Scratch.
  std::vector<GroupRank> finished_;  // Scratch.
};

void ZoneRun::AdvanceTo(TimePs limit) {
  while (Step(limit)) {
  }
}

// Goes on to the next instant at which there is something to do, but not beyond
// `limit`. Returns whether there was something.
bool ZoneRun::Step(TimePs limit) {
  arrived_.clear();
  done_.clear();
  const TimePs due = next();
  network_.AdvanceTo(std::min(limit, due), &arrived_);
  for (const MessageId message : arrived_) {
    const FlowId id(message.index());
    const TimePs after =
        placed_.costs.AtTarget(graph_.flow(id), graph_.num_ranks());
    if (after == TimePs(0)) {
      done_.push_back(id);
    } else {
      delays_.Push({network_.now() + after, kTargetDone, message.index()});
    }
  }
  const bool has_delay = next() == network_.now();
  EndDelays();
  std::sort(done_.begin(), done_.end());
  for (const FlowId id : done_) {
    ready_.clear();
    run_.Arrive(id, &ready_, &finished_);
    for (const FlowId later : ready_) Leave(later);
    finished_.clear();
    ++num_done_;
    end_ = network_.now();
  }
  return has_delay || !arrived_.empty();
}

// Ends the delays that are over now.
void ZoneRun::EndDelays() {
  leaving_.clear();
  while (next() == network_.now()) {
    const Event delay = delays_.Pop();
    const FlowId id(delay.index);
    if (delay.kind == kKernelsStarted) Join();
    if (delay.kind == kTargetDone) done_.push_back(id);
    if (delay.kind == kMessageReady) leaving_.push_back(id);
  }
  for (const FlowId id : leaving_) Send(id);
}

// Lets all ranks join, also those of other zones, whose flows leave there.
void ZoneRun::Join() {
  ready_.clear();
  for (uint32_t rank = 0; rank < graph_.num_ranks(); ++rank) {
    run_.Join(GroupRank(rank), &ready_);
  }
  for (const FlowId id : ready_) {
    if (ZoneOf(graph_.flow(id).source) == id_) Leave(id);
  }
}

void ZoneRun::Leave(FlowId id) {
  const Flow flow = graph_.flow(id);
  if (ZoneOf(flow.source) != id_) {
    needs_other_zone_ = true;
    return;
  }
  const TimePs before = placed_.costs.BeforeSending(id, flow, placed_.layout);
  if (before == TimePs(0)) {
    Send(id);
  } else {
    delays_.Push({network_.now() + before, kMessageReady,
                  static_cast<uint32_t>(id.index())});
  }
}

void ZoneRun::Send(FlowId id) {
  const Flow flow = graph_.flow(id);
  network_.Send({.id = MessageId(static_cast<uint32_t>(id.index())),
                 .source = placed_.members[flow.source.index()],
                 .target = placed_.members[flow.target.index()],
                 .bytes = placed_.costs.OnWire(flow, placed_.layout),
                 .channel = flow.channel});
}

}  // namespace

absl::StatusOr<TimePs> RunInZones(const PlacedFlowGraph& placed,
                                  ZonedNetwork& network) {
  const uint64_t num_flows = placed.graph->num_flows();
  if (num_flows > std::numeric_limits<uint32_t>::max()) {
    return absl::FailedPreconditionError("there are too many messages");
  }
  std::vector<std::unique_ptr<ZoneRun>> runs;
  std::vector<ZoneDriver*> drivers;
  for (uint32_t i = 0; i < network.num_zones(); ++i) {
    runs.push_back(std::make_unique<ZoneRun>(placed, network, ZoneId(i)));
    drivers.push_back(runs.back().get());
  }
  ASTRA_RETURN_IF_ERROR(network.Run(drivers, num_flows));
  TimePs end;
  for (const std::unique_ptr<ZoneRun>& run : runs) {
    end = std::max(end, run->end());
  }
  return std::max(end, placed.costs.least);
}

}  // namespace astra
