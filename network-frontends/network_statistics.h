// Statistics of a network beside arrivals. A backend fills in what it models.
// Lists that grow with time hold only what RecordOptions asks for.

#ifndef NETWORK_FRONTENDS_NETWORK_STATISTICS_H_
#define NETWORK_FRONTENDS_NETWORK_STATISTICS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// What flows.csv says of the messages of a run.
enum class FlowsFile : uint8_t {
  kAuto,     // Each message, or sums if there are too many messages.
  kEach,     // Each message.
  kSummary,  // Sums by collective and pair of nodes.
  kNone,     // There is no such file.
};

// Chooses what is recorded during the simulation.
struct RecordOptions {
  // Keeps a FlowRecord of each message that has arrived in the statistics.
  bool flows = false;
  // What is written of messages. Networks only hand messages to an ArrivalLog;
  // whoever gave it to them reads this option.
  FlowsFile flows_file = FlowsFile::kNone;
  bool pfc = false;  // Records each pause and resume.
  bool cnp = false;  // Records each congestion notification to a sender.
  // Interval at which queues and rates are sampled; without a value there are
  // no samples. Samples are taken only of queues and senders that have
  // something.
  std::optional<TimePs> sample_interval;
  // The link of which every packet is recorded.
  std::optional<LinkId> captured_link;

  // Largest number of entries of each list. Further records are only counted,
  // in `num_lost_records`.
  uint64_t max_records = uint64_t{1} << 24;

  TimePs sample_start;  // No sample is taken before this instant.
};

// Channel of the background traffic, which the network itself sends.
inline constexpr uint32_t kBackgroundChannel =
    std::numeric_limits<uint32_t>::max();

// A message that has arrived. If it overtook an earlier message of its channel,
// it was handed to the engine later than `finish`.
struct FlowRecord {
  MessageId message;
  NodeId source;
  NodeId target;
  uint32_t channel = 0;
  uint32_t retransmissions = 0;  // Packets that were sent again.
  uint32_t num_links = 0;        // Number of links on its path.
  uint64_t path = 0;             // Index of its first link in `paths`.
  Bytes bytes;
  TimePs start;   // Instant of Send().
  TimePs finish;  // Instant of arrival, as its backend defines it.
  TimePs ideal;   // Time if alone on its path, at least 1 ps.
};

// Is called with a message that has arrived and with the links of its path.
// FlowRecord::path has no meaning here.
using ArrivalLog =
    std::function<void(const FlowRecord&, absl::Span<const LinkId>)>;

struct LinkRecord {
  double bytes = 0;      // Bytes on the wire, headers included.
  uint64_t packets = 0;  // Data, acknowledgements and all others.
  TimePs busy;
  TimePs paused;         // Time for which PFC held back data.
  Bytes max_queue;       // Longest queue before the link.
  uint64_t marked = 0;   // Packets marked with ECN.
  uint64_t dropped = 0;  // Packets for which there was no buffer.
  uint64_t lost = 0;     // Packets lost to errors or a link failure.
  uint64_t pauses = 0;   // Pause frames that reached its source.
};

struct PfcRecord {
  TimePs time;  // When the frame reaches the node that is told to pause.
  LinkId link;  // Link from the paused node to the sender of the frame.
  bool is_pause = false;  // False: resume.
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
  NodeId source;  // Sender that is told to slow down.
  NodeId target;
  uint32_t channel = 0;
};

// A packet that begins to leave on the captured link at `time`.
struct CapturedPacket {
  enum class Kind : uint8_t { kData, kAck, kNack, kPause, kResume };

  TimePs time;
  Kind kind = Kind::kData;
  bool is_marked = false;  // ECN: congestion experienced.
  NodeId source;
  NodeId target;
  uint32_t channel = 0;
  uint32_t sequence = 0;  // Number of the packet in its queue pair.
  Bytes wire_bytes;
};

struct NetworkStatistics {
  std::vector<LinkRecord> links;  // Record of each link of the topology.
  std::vector<FlowRecord> flows;  // Records in the order of `finish`.
  std::vector<LinkId> paths;      // Paths of `flows`, one after the other.
  std::vector<PfcRecord> pfc;
  std::vector<QueueSample> queues;
  std::vector<RateSample> rates;
  std::vector<CnpRecord> cnps;
  std::vector<CapturedPacket> captured;
  uint64_t num_lost_records = 0;
  uint64_t num_flows = 0;  // Messages that have arrived, recorded or not.

  uint64_t num_events = 0;
  uint64_t num_data_packets = 0;   // Data packets sent, again or not.
  uint64_t num_packet_hops = 0;    // Packets of any kind, over one link each.
  uint64_t num_replayed_hops = 0;  // Those of them that were not simulated.
  uint64_t num_drops = 0;          // Packets dropped for want of buffer.
  uint64_t num_losses = 0;         // Packets lost on the wire.
  uint64_t num_retransmissions = 0;

  // Time for which the rates of congestion control keep packets apart: from the
  // start of one packet to when the rate allows the next of its queue pair,
  // summed over all packets.
  TimePs sending;
  // Part of `sending` at less than a hundredth of the sender's line rate. Where
  // it is most of `sending`, congestion control has collapsed.
  TimePs sending_slowly;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_NETWORK_STATISTICS_H_
