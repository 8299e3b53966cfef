// What a network can tell about itself beside arrivals. A backend fills in what
// it models, and of what grows with time only what RecordOptions asks for.

#ifndef NETWORK_FRONTENDS_NETWORK_STATISTICS_H_
#define NETWORK_FRONTENDS_NETWORK_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// What to write down as the simulation goes.
struct RecordOptions {
  // Messages are kept when they have arrived. None: as long as there are at
  // most kMostUnaskedFlows; if there are more, none is kept.
  std::optional<bool> flows = false;
  bool pfc = false;  // Of each pause and resume.
  bool cnp = false;  // Of each congestion notification to a sender.
  // How often queues and rates are sampled; none: never. Samples are taken only
  // of queues and senders that have something.
  std::optional<TimePs> sample_interval;
  // The link of which every packet is written down.
  std::optional<LinkId> captured_link;

  // Each list ends when it has this many entries; `num_lost_records` counts
  // what is missing.
  uint64_t max_records = uint64_t{1} << 24;

  TimePs sample_start;  // No samples before.

  static constexpr uint64_t kMostUnaskedFlows = uint64_t{1} << 18;

  bool keeps_flows() const { return flows.value_or(true); }
};

// The channel of traffic of others, which the network itself sends.
inline constexpr uint32_t kBackgroundChannel =
    std::numeric_limits<uint32_t>::max();

// A message that has arrived. Where it overtook an earlier one of its channel,
// it was handed over later than `finish`.
struct FlowRecord {
  MessageId message;
  NodeId source;
  NodeId target;
  uint32_t channel = 0;
  uint32_t retransmissions = 0;  // Packets that were sent again.
  uint32_t num_links = 0;        // Of its path, which is ...
  uint64_t path = 0;             // ... paths[path] and what follows.
  Bytes bytes;
  TimePs start;   // Send().
  TimePs finish;  // When it arrived, as its backend defines that.
  TimePs ideal;   // What it would take alone on its path, at least 1 ps.
};

struct LinkRecord {
  double bytes = 0;      // On the wire, headers included.
  uint64_t packets = 0;  // Data, acknowledgements and all others.
  TimePs busy;
  TimePs paused;         // By PFC, of data.
  Bytes max_queue;       // Before the link, at its source.
  uint64_t marked = 0;   // With ECN.
  uint64_t dropped = 0;  // For want of buffer, before the link.
  uint64_t lost = 0;     // On the wire: errors, or the link went down.
  uint64_t pauses = 0;   // That the source of the link was told.
};

struct PfcRecord {
  TimePs time;  // When the frame reaches the node that is told to pause.
  LinkId link;  // Of that node, towards the one that has sent the frame.
  bool is_pause = false;  // Else resume.
};

struct QueueSample {
  TimePs time;
  LinkId link;
  Bytes queue;
};

struct RateSample {
  TimePs time;
  NodeId source;
  NodeId target;
  uint32_t channel = 0;
  Bandwidth rate;
  Bytes window;  // 0: no limit.
};

struct CnpRecord {
  TimePs time;
  NodeId source;  // That is told to slow down.
  NodeId target;
  uint32_t channel = 0;
};

// A packet as it begins to leave on the captured link.
struct CapturedPacket {
  enum class Kind : uint8_t { kData, kAck, kNack, kPause, kResume };

  TimePs time;
  Kind kind = Kind::kData;
  bool is_marked = false;  // ECN: congestion experienced.
  NodeId source;
  NodeId target;
  uint32_t channel = 0;
  uint32_t sequence = 0;  // Of the packet in its queue pair.
  Bytes wire_bytes;
};

struct NetworkStatistics {
  std::vector<LinkRecord> links;  // By link of the topology.
  std::vector<FlowRecord> flows;  // By finish.
  std::vector<LinkId> paths;      // Of `flows`.
  std::vector<PfcRecord> pfc;
  std::vector<QueueSample> queues;
  std::vector<RateSample> rates;
  std::vector<CnpRecord> cnps;
  std::vector<CapturedPacket> captured;
  uint64_t num_lost_records = 0;
  // Messages that arrived and are not in `flows`, since nobody asked for them
  // and they were many.
  uint64_t num_unasked_flows = 0;

  uint64_t num_events = 0;
  uint64_t num_data_packets = 0;  // That sources have sent, again or not.
  uint64_t num_packet_hops = 0;   // A packet of any sort, over one link.
  uint64_t num_drops = 0;         // Packets, for want of buffer.
  uint64_t num_losses = 0;        // Packets, on the wire.
  uint64_t num_retransmissions = 0;

  // How long the rates that congestion control sets have kept packets apart:
  // from the start of one to when the rate allows the next, summed over all
  // packets that another one of their queue pair has followed.
  TimePs sending;
  // The part of `sending` at less than a hundredth of the sender's line rate:
  // where it is most of the whole, the control has collapsed.
  TimePs sending_slowly;

  // Says whether a message that arrives is to be kept. Drops all flows when
  // `options` no longer keeps them.
  bool KeepsNextFlow(const RecordOptions& options) {
    if (!options.keeps_flows()) return false;
    if (options.flows) return true;
    if (flows.size() + num_unasked_flows < RecordOptions::kMostUnaskedFlows) {
      return true;
    }
    num_unasked_flows += 1 + flows.size();
    flows = {};
    paths = {};
    return false;
  }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_NETWORK_STATISTICS_H_
