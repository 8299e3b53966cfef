// The network of packets as its user describes it: NICs, switches, what goes
// wrong, and what is written down. Everything here has a default that is the
// same for any cluster; docs/formats.md lists the keys of the file.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/packet/congestion/congestion_options.h"
#include "topology/topology.h"

namespace astra {

enum class Switching : uint8_t {
  kStoreAndForward,  // A packet leaves once its last bit is there.
  kCutThrough,  // Once its first 64 bytes are, if the link out is no faster.
};

enum class LoadBalancing : uint8_t {
  kEcmp,      // A queue pair keeps to one path, by a hash.
  kFlowlet,   // May change it at each switch after a pause.
  kSpray,     // Each packet takes any, by a hash.
  kAdaptive,  // Each packet takes the one with the shortest queue.
};

// By which hash `kEcmp` chooses among equal-cost next hops.
enum class EcmpHash : uint8_t {
  kMixed,  // A hash of the queue pair, the node and the seed.
  kSimai,  // SimAI's; see simai_hash.h.
};

enum class LossRecovery : uint8_t {
  kGoBackN,          // All is sent again from the first packet that is missing.
  kSelectiveRepeat,  // Only what is missing.
};

enum class QueuePairs : uint8_t {
  kPerConnection,  // One for each source, target and channel, kept.
  kPerMessage,     // A new one for each message, as in SimAI.
};

// When a message has arrived.
enum class Completion : uint8_t {
  kDelivered,     // Its last byte is at the target.
  kAcknowledged,  // And the source knows, as in SimAI.
};

enum class WindowScope : uint8_t {
  kNone,     // Unlimited.
  kPath,     // Bandwidth-delay product of the queue pair's own path.
  kNetwork,  // The largest of the network for all, as in SimAI.
};

// When switches mark packets on links of `rate`: never up to `min_queue`, with
// a probability that grows to `max_probability` at `max_queue`, then always.
struct EcnThresholds {
  Bandwidth rate;
  Bytes min_queue;
  Bytes max_queue;
  double max_probability = 0;
};

struct NicOptions {
  Bytes payload{4096};  // Of a full packet.
  // Of a RoCEv2 packet on the wire: preamble and gap 20, Ethernet 18, IPv4 20,
  // UDP 8, base transport header 12, invariant CRC 4.
  Bytes header{82};
  Bytes ack{86};  // The same and its extended header, 4.
  // An acknowledgement answers each so many packets, and the last of a message.
  uint32_t packets_per_ack = 1;
  bool ack_has_priority = true;  // Over data, in NICs and switches.
  WindowScope window = WindowScope::kPath;
  double window_factor = 1.5;        // Times what `window` says.
  bool window_follows_rate = false;  // Shrinks with the rate of the sender.
  QueuePairs queue_pairs = QueuePairs::kPerConnection;
  Completion completion = Completion::kDelivered;
  LossRecovery loss_recovery = LossRecovery::kGoBackN;
  // Without acknowledgement for so long, all is sent again that lacks one.
  TimePs retransmission_timeout = Microseconds(500);
  // Each next time it waits twice as long; after so many in a row it gives up.
  uint32_t retries = 7;
  TimePs nack_interval = Microseconds(5);  // Go-back-N: between two of them.
  // Selective repeat: a packet that so many later ones have overtaken is lost.
  uint32_t reorder_packets = 128;
};

struct SwitchOptions {
  Switching switching = Switching::kStoreAndForward;
  TimePs latency;          // From the arrival of a packet until it may leave.
  Bytes buffer = MiB(64);  // Shared by all ports.
  // A port may use this times what is free of the buffer. With PFC that is what
  // its incoming packets may hold before it pauses their sender, without it is
  // what may wait for it before it drops.
  double buffer_share = 0.125;
  Bytes reserve = KiB(4);          // Of each port that receives.
  Bytes resume_offset = KiB(3);    // Below the pausing threshold.
  double headroom_factor = 3;      // Times rate x delay of the link, ...
  Bytes headroom_extra = KiB(20);  // ... and this, for a port with PFC.
  bool pfc = true;
  bool ecn = true;
  // By rate; thresholds of other rates are those of the nearest, scaled.
  std::vector<EcnThresholds> ecn_thresholds{
      1, EcnThresholds{Gbps(400), Bytes(800'000), Bytes(3'200'000), 0.2}};
};

// From `time` on the cable between two nodes has `rate_factor` times the rate
// of the topology, in both directions; 0: it is down. Where several cables lead
// from one to the other, all of them.
struct LinkEvent {
  TimePs time;
  NodeId a;
  NodeId b;
  double rate_factor = 1;
};

// Messages that others send meanwhile: `bytes` at every `interval` from `start`
// on, before `stop`.
struct BackgroundTraffic {
  NodeId source;
  NodeId target;
  Bytes bytes;
  TimePs interval;
  TimePs start;
  TimePs stop;
};

struct PacketOptions {
  NicOptions nic;
  SwitchOptions fabric;  // Switches; those of servers too unless said below.
  SwitchOptions nv_switch = NvSwitchDefaults();
  LoadBalancing load_balancing = LoadBalancing::kEcmp;
  EcmpHash ecmp_hash = EcmpHash::kMixed;
  TimePs flowlet_gap = Microseconds(50);
  CongestionOptions congestion;
  std::vector<LinkEvent> link_events;  // In any order.
  std::vector<BackgroundTraffic> background;
  uint64_t seed = 1;
  RecordOptions record;
  // That a packet is lost on a link to which the topology gives no rate of its
  // own.
  double error_rate = 0;

  // Serialisation takes multiples of it, cut off. 1 ns is that of ns-3, where a
  // packet of 9052 B takes 25 ns, not 25.144 ns, at 2880 Gbps.
  TimePs time_resolution = TimePs(1);

  // NVSwitches pass credits link by link: nothing is lost and nothing marked.
  static SwitchOptions NvSwitchDefaults() {
    SwitchOptions options;
    options.ecn = false;
    return options;
  }
};

// What holds where no file says otherwise: the defaults of PacketOptions, and
// messages, pauses and congestion notifications are written down.
PacketOptions DefaultNetwork();

// Errors: InvalidArgument, with the key of the file, for values out of range,
// nodes that `topology` does not have or that no cable connects, an unknown
// congestion control, and choices that do not go together: packets that
// overtake one another need selective repeat.
absl::Status CheckPacketOptions(const PacketOptions& options,
                                const Topology& topology);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_
