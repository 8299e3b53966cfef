// Options of the packet network as its user describes it: NICs, switches,
// faults and records. Each has a default that is the same for any cluster.
// docs/formats/networks.md lists the keys of the file.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/link_event.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/packet/congestion/registry.h"
#include "topology/topology.h"

namespace astra {

enum class Switching : uint8_t {
  kStoreAndForward,  // A packet leaves once its last bit is there.
  kCutThrough,  // Leaves after its first 64 B, unless the link out is faster.
};

enum class LoadBalancing : uint8_t {
  kEcmp,      // A queue pair keeps to one path, by a hash.
  kFlowlet,   // A queue pair may change its path after a pause.
  kSpray,     // Each packet takes any path, by a hash.
  kAdaptive,  // Each packet takes the link with the shortest queue.
};

// Hash by which `kEcmp` chooses among equal-cost next hops.
enum class EcmpHash : uint8_t {
  kMixed,  // Hash of the queue pair, the node and the seed.
  kSimai,  // SimAI's hash; see simai_hash.h.
};

enum class LossRecovery : uint8_t {
  kGoBackN,          // All packets from the first missing one are sent again.
  kSelectiveRepeat,  // Only the missing packets are sent again.
};

enum class QueuePairs : uint8_t {
  kPerConnection,  // One for each source, target and channel, kept.
  kPerMessage,     // A new one for each message, as in SimAI.
};

// Condition for the arrival of a message.
enum class Completion : uint8_t {
  kDelivered,     // Its last byte is at the target.
  kAcknowledged,  // Its sender knows that it is there, as in SimAI.
};

// What limits the bytes that a queue pair may have under way.
enum class WindowScope : uint8_t {
  kNone,     // Nothing.
  kPath,     // Bandwidth-delay product of the queue pair's path.
  kNetwork,  // The largest of the network, for all, as in SimAI.
};

// Probability of an ECN mark by the queue of a link of `rate`: 0 up to
// `min_queue`, growing to `max_probability` at `max_queue`, and 1 beyond.
struct EcnThresholds {
  Bandwidth rate;
  Bytes min_queue;
  Bytes max_queue;
  double max_probability = 0;
};

struct NicOptions {
  Bytes payload{4096};  // Payload of a full packet.
  // Header of a RoCEv2 packet on the wire: preamble and gap 20, Ethernet 18,
  // IPv4 20, UDP 8, base transport header 12, invariant CRC 4.
  Bytes header{82};
  Bytes ack{86};  // `header` and an extended header of 4 B.
  // Packets that one acknowledgement answers; the last packet of a message is
  // always acknowledged.
  uint32_t packets_per_ack = 1;
  bool ack_has_priority = true;  // Leaves NICs and switches before data.
  WindowScope window = WindowScope::kPath;
  double window_factor = 1.5;  // Factor of the window that `window` gives.
  // The window shrinks with the sender's rate.
  bool window_follows_rate = false;
  // A rate that rises lets the packet that waits for the lower one leave
  // earlier. If not, it holds from the packet after it, as in ns-3.
  bool pace_follows_rate = false;
  QueuePairs queue_pairs = QueuePairs::kPerConnection;
  Completion completion = Completion::kDelivered;
  LossRecovery loss_recovery = LossRecovery::kGoBackN;
  // Time without acknowledgement after which all unacknowledged packets are
  // sent again.
  TimePs retransmission_timeout = Microseconds(500);
  // Timeouts in a row after which the sender gives up. Each waits twice as long
  // as the one before.
  uint32_t retries = 7;
  TimePs nack_interval = Microseconds(5);  // Go-back-N: between two NACKs.
  // Selective repeat: a packet counts as lost once this many later ones have
  // overtaken it.
  uint32_t reorder_packets = 128;
};

struct SwitchOptions {
  Switching switching = Switching::kStoreAndForward;
  TimePs latency;  // Delay from the arrival of a packet until it may leave.
  Bytes buffer = MiB(64);  // Memory that all ports share.
  // A port may use `buffer_share` times the free memory of the buffer. With PFC
  // this limits what its incoming packets hold before it pauses their sender;
  // without PFC it limits what waits for the port before packets are dropped.
  double buffer_share = 0.125;
  Bytes reserve = KiB(4);  // Memory of each incoming link's own.
  // Distance of resuming below the pausing threshold.
  Bytes resume_offset = KiB(3);
  double headroom_factor = 3;      // Factor of rate x delay in the headroom.
  Bytes headroom_extra = KiB(20);  // Added to the headroom of a link with PFC.
  bool pfc = true;
  bool ecn = true;
  // Thresholds by rate. Other rates use the thresholds of the nearest, scaled.
  std::vector<EcnThresholds> ecn_thresholds{
      1, EcnThresholds{Gbps(400), Bytes(800'000), Bytes(3'200'000), 0.2}};
};

// Background traffic: a message of `bytes` every `interval`, from `start` on
// and before `stop`.
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
  SwitchOptions fabric;  // All switches, unless nv_switch differs.
  SwitchOptions nv_switch = NvSwitchDefaults();
  LoadBalancing load_balancing = LoadBalancing::kEcmp;
  EcmpHash ecmp_hash = EcmpHash::kMixed;
  TimePs flowlet_gap = Microseconds(50);
  CongestionOptions congestion;
  std::vector<LinkEvent> link_events;  // Changes of links, in any order.
  // Time from a change until switches and NICs send other ways.
  TimePs reroute_delay;
  std::vector<BackgroundTraffic> background;
  uint64_t seed = 1;
  RecordOptions record;
  // Probability that a packet is lost on a link to which the topology gives no
  // error rate.
  double error_rate = 0;

  // Serialisation times are rounded down to multiples of this. ns-3 has 1 ns: a
  // packet of 9052 B takes 25 ns, not 25.144 ns, at 2880 Gbps.
  TimePs time_resolution = TimePs(1);

  // NVSwitches pass credits link by link: no packet is lost or marked.
  static SwitchOptions NvSwitchDefaults() {
    SwitchOptions options;
    options.ecn = false;
    return options;
  }
};

// Returns the network that holds where no file says otherwise: the defaults of
// PacketOptions, with records of messages, pauses and congestion notifications.
PacketOptions DefaultNetwork();

// Checks the options. Errors: InvalidArgument, with the key of the file, for
// values out of range, nodes that `topology` does not have or that no cable
// connects, an unknown congestion control, a time resolution above the time of
// a full packet on the fastest link, and choices that contradict each other:
// packets that overtake one another need selective repeat.
absl::Status CheckPacketOptions(const PacketOptions& options,
                                const Topology& topology);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_OPTIONS_H_
