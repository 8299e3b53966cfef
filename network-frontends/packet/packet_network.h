// State and events of the packet network: ports, switches, queue pairs, and
// what happens to their packets. See packet_backend.h for the model.
//
// State that each event needs lies in flat arrays by index: ports by link,
// switches, queue pairs, NICs. Transmit puts a packet into a port, Advance
// decides which packets have left a port, OnLink takes packets from the wire,
// and Arrive decides where they go. Each source file has one concern:
//
//   packet_network.cc     set-up, the loop, ports
//   packet_forwarding.cc  switches: paths, buffers, PFC, ECN, telemetry
//   packet_connections.cc queue pairs: opening, paths, closing
//   packet_sender.cc      queue pairs: sending, acknowledgements, timers
//   packet_receiver.cc    queue pairs: data that arrives
//   packet_faults.cc      links that change, background traffic
//   packet_records.cc     statistics

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/agenda.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_options.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/round_robin.h"
#include "network-frontends/packet/shared_buffer.h"
#include "network-frontends/packet/simai_hash.h"
#include "topology/next_hops.h"
#include "topology/topology.h"

namespace astra {

class PacketNetwork {
 public:
  // `topology` must outlive the network. Requires CheckPacketOptions.
  PacketNetwork(const Topology& topology, const PacketOptions& options);
  ~PacketNetwork();

  // These functions implement NetworkBackend.
  TimePs now() const { return TimePs(now_ps_); }
  void Send(const Message& message);
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived);
  absl::Span<const double> link_bytes();
  const NetworkStatistics& statistics();
  std::string WhyStuck() const;

 private:
  static constexpr int64_t kNever = Port::kNever;
  static constexpr uint32_t kNone = Port::kNone;
  static constexpr uint32_t kEndOfPath = kNone;

  // Kinds of events. Events of one instant happen in this order.
  enum class EventKind : uint32_t {
    kLinkChange,  // Index: a link event of the options.
    kLink,        // Index: a link.
    kTimer,       // Index: a queue pair; for congestion control.
    kTimeout,     // Index: a queue pair; for retransmission.
    kBackground,  // Index: a background flow of the options.
  };
  static constexpr uint32_t kIndexBits = 28;
  static constexpr uint32_t kIndexMask = (uint32_t{1} << kIndexBits) - 1;

  // Bytes of a packet that a switch must have before it cuts through.
  static constexpr uint32_t kCutThroughBytes = 64;
  static constexpr uint16_t kPauseBytes = 84;  // 64 B, preamble and gap.

  // The statistics count a sender as slow below line rate / kSlowFactor.
  static constexpr int64_t kSlowFactor = 100;

  // A switch of the fabric or an NVSwitch.
  struct Switch {
    SharedBuffer buffer;
    uint32_t node = 0;
  };

  // The queue pairs that send on one link. `turns` holds those that may send,
  // `paced` those that wait for their rate.
  struct Nic {
    RoundRobin turns;
    std::vector<std::pair<int64_t, uint32_t>> paced;  // Heap, earliest first.
  };

  // EcnThresholds scaled to the rate of a link.
  struct MarkingProfile {
    int64_t min_bytes = 0;
    int64_t max_bytes = 0;
    double max_probability = 0;
  };

  // Average utilization of a switch port, as PINT defines it.
  struct PortUtilization {
    double average = 0;
    int64_t updated_ps = 0;
    uint64_t sent_bytes = 0;  // Port::sent_bytes at updated_ps.
  };

  // Link and time of the last packet of a queue pair at a switch.
  struct FlowletState {
    uint32_t link = kNone;
    int64_t last_ps = 0;
  };

  // Telemetry of one packet; the acknowledgement of the packet takes it back.
  struct TelemetrySlot {
    // Number of ports for which HPCC's header has room; see congestion/hpcc.h.
    static constexpr uint32_t kMaxHops = 5;
    int64_t sent_ps = 0;
    double utilization = 0;    // Largest of the ports on the path.
    uint32_t arrived = kNone;  // In an ACK: number of the packet it answers.
    uint32_t num_hops = 0;
    std::array<HopTelemetry, kMaxHops> hops;
  };

  // Order of the messages of one source, target and channel. Messages with
  // queue pairs of their own may overtake one another; they are handed to the
  // engine in the order of Send().
  struct Order {
    uint32_t num_sent = 0;
    uint32_t num_handed_over = 0;
    // Number and id of messages that have overtaken another one: a heap, the
    // lowest number first.
    std::vector<std::pair<uint32_t, MessageId>> early;
  };

  // packet_network.cc
  void SetUpPorts();
  double ErrorRateOf(uint32_t link) const;
  int64_t HeadroomOf(uint32_t link, const SwitchOptions& options) const;
  void SetUpSwitches();
  void SetUpMarking();
  void Push(int64_t time_ps, EventKind kind, uint32_t index);
  void Handle(uint32_t key);
  void Prefetch();
  static void PrefetchPort(const Port& port);
  void FinishEvent();
  void OnLink(uint32_t link);
  void Arrive(uint32_t link, Packet& packet);
  // Decides which packets leave the port up to now. Nothing that could change
  // the decision has happened since the last call.
  void Advance(uint32_t link) {
    if (ports_[link].busy_until_ps <= now_ps_) AdvanceIdle(link);
  }
  void AdvanceIdle(uint32_t link);
  void Start(uint32_t link, Port& port, Lane& lane, int64_t start_ps);
  // Makes sure that the port has an event when the first packet on the wire
  // reaches the far end or, with an empty wire, when a packet may leave.
  // Packets that come onto the wire later also arrive later.
  void Arm(uint32_t link) {
    const Port& port = ports_[link];
    if (!port.is_event_of_wire || port.is_watched) ArmAnew(link);
  }
  void ArmAnew(uint32_t link);
  int64_t NextStart(const Port& port) const;
  int64_t UntilForwarded(const Port& port, const Packet& packet,
                         int64_t serialisation_ps);
  void Transmit(uint32_t link, TrafficClass traffic_class,
                const Packet& packet);
  void Discard(const Packet& packet);

  // packet_forwarding.cc
  void Forward(uint32_t ingress, uint32_t egress, Packet& packet);
  uint32_t NextLink(uint32_t node, Packet& packet);
  uint32_t Balance(uint32_t link, const Packet& packet);
  uint32_t ShortestQueue(absl::Span<const LinkId> links, size_t first);
  uint32_t Flowlet(uint32_t link, absl::Span<const LinkId> links,
                   const Packet& packet, uint64_t draw);
  bool TakeBuffer(Port& port, Packet& packet);
  void Settle(const Switch& at);
  void ReleaseBuffer(Port& port, const Packet& packet);
  void TellToPause(uint32_t ingress, bool is_pause);
  void Watch(const Switch& at, bool is_watched);
  void OnPause(uint32_t link, bool is_pause);
  void Mark(uint32_t link, const Port& port, Packet& packet);
  void AddHop(const Port& port, const Packet& packet, int64_t start_ps);
  void AddUtilization(uint32_t link, const Port& port, const Packet& packet,
                      int64_t start_ps);
  uint32_t NewTelemetry();

  // packet_connections.cc
  void SetUpWindow();
  uint32_t ConnectionOf(const Message& message);
  uint32_t OpenQueuePair(uint32_t source, uint32_t target, uint32_t channel,
                         uint64_t key);
  void StartControl(uint32_t id);
  void FindPaths(uint32_t id);
  bool SetPath(uint32_t id, bool is_back);
  bool AppendSimaiPath(const SimaiFlow& flow);
  void Restride(uint32_t stride);
  PathProperties PropertiesOf(uint32_t id);
  int64_t WindowCapOf(const PathProperties& path) const;
  void LeaveNic(QueuePair& qp);
  void MaybeClose(uint32_t id);

  // packet_sender.cc
  uint32_t OrderOf(const Message& message);
  void Enqueue(uint32_t id, MessageState message);
  int64_t WindowOf(const QueuePair& qp) const;
  bool HasToSend(QueuePair& qp) const;
  void MakeReady(uint32_t id);
  void TakeTurn(uint32_t id);
  bool StartFromNic(uint32_t link, Port& port);
  void SendPacket(uint32_t id, uint32_t link, Port& port);
  uint32_t MessageOf(const QueuePair& qp, uint32_t packet) const;
  uint32_t PayloadOf(const QueuePair& qp, uint32_t packet) const;
  int64_t PatienceOf(const QueuePair& qp) const;
  void ArmTimeout(uint32_t id);
  void OnAck(const Packet& packet);
  int64_t AckUpTo(uint32_t id, uint32_t packet);
  int64_t AckSelectively(QueuePair& qp, uint32_t packet);
  bool HasGoneBack(const QueuePair& qp) const;
  void GoBack(QueuePair& qp);
  void LoseAll(QueuePair& qp);
  bool FindLost(QueuePair& qp);
  void AfterControl(uint32_t id);
  void PaceAnew(QueuePair& qp);
  int64_t NextSendAfter(const QueuePair& qp) const;
  void CountPace(const QueuePair& qp, const Port& port);
  void OnTimer(uint32_t id);
  void OnTimeout(uint32_t id);
  void CompleteMessage(uint32_t id, uint32_t slot);
  void Finish(uint32_t id, const MessageState& message);
  void HandOver(const MessageState& message);

  // packet_receiver.cc
  void OnData(Packet& packet);
  void OnDataInOrder(uint32_t id, Packet& packet);
  void OnDataInAnyOrder(uint32_t id, Packet& packet);
  bool DeliverMessages(uint32_t id);
  void Reply(uint32_t id, PacketKind kind, Packet& to);

  // packet_faults.cc
  void OnLinkChange(uint32_t index);
  void SetRate(uint32_t link, double factor);
  void SetPaused(uint32_t link, bool is_pause);
  void OnBackground(uint32_t index);

  // packet_records.cc
  TimePs IdealOf(uint32_t qp, const MessageState& message);
  void RecordFlow(uint32_t id, const MessageState& message);
  void RecordCapture(const Packet& packet, int64_t start_ps);
  template <class Record>
  void Append(std::vector<Record>& list, const Record& record) {
    if (list.size() < options_.record.max_records) {
      list.push_back(record);
    } else {
      ++statistics_.num_lost_records;
    }
  }
  void TakeSamples(int64_t up_to_ps);
  void AdvanceAll();

  uint32_t* PathOf(uint32_t qp, bool is_back) {
    return &paths_[(size_t{qp} * 2 + (is_back ? 1 : 0)) * stride_];
  }
  const uint32_t* PathOf(const Packet& packet) {
    return PathOf(packet.queue_pair, packet.kind != PacketKind::kData);
  }
  // Returns the link on which `packet` goes on along the path of its queue
  // pair. Returns kEndOfPath at the end of the path, and if the packet has left
  // it. Requires a packet with a queue pair.
  uint32_t NextOnPath(const Packet& packet) {
    if ((packet.flags & Packet::kOwnWay) != 0 || packet.hop >= stride_) {
      return kEndOfPath;
    }
    return PathOf(packet)[packet.hop];
  }
  TrafficClass AckClass() const {
    return options_.nic.ack_has_priority ? TrafficClass::kControl
                                         : TrafficClass::kData;
  }

  const Topology& topology_;
  const PacketOptions options_;
  NextHops next_hops_;
  std::unique_ptr<CongestionControl> control_;
  bool has_telemetry_ = false;
  bool has_hops_ = false;         // Telemetry has hops (kPerHop).
  bool has_utilization_ = false;  // Telemetry is kUtilization.
  bool has_cnps_ = false;         // CnpRecords are asked for.
  bool paces_anew_ = false;       // CongestionControl::paces_anew().
  uint32_t header_bytes_ = 0;
  uint32_t ack_bytes_ = 0;
  uint32_t payload_bytes_ = 0;
  int64_t network_rtt_ps_ = 0;
  int64_t network_window_bytes_ = 0;

  int64_t now_ps_ = 0;
  Agenda agenda_;
  uint64_t num_prefetched_ = 0;         // Buckets that were prefetched.
  bool is_large_ = false;               // State exceeds the nearest caches.
  std::vector<Port> ports_;             // By link.
  std::vector<IngressBuffer> ingress_;  // By link, at its target.
  std::vector<Switch> switches_;
  std::vector<MarkingProfile> profiles_;
  std::vector<uint32_t> link_profile_;        // By link.
  std::vector<PortUtilization> utilization_;  // By link; empty: not needed.
  // By queue pair and switch; for look-up only.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, FlowletState> flowlets_;
  std::vector<Nic> nics_;
  std::vector<QueuePair> queue_pairs_;
  std::vector<uint32_t> free_queue_pairs_;
  std::vector<uint32_t> paths_;  // By queue pair: path there, path back.
  uint32_t stride_ = 8;          // Most links of a path, plus 1.
  std::vector<MessageState> messages_;
  std::vector<uint32_t> free_messages_;
  std::vector<TelemetrySlot> telemetry_;
  std::vector<uint32_t> free_telemetry_;
  // Queue pair by source and target and by channel; for look-up only.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> connections_;
  uint64_t num_connections_ = 0;
  std::vector<Order> orders_;
  // Index into orders_ by source and target and by channel; for look-up only.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> order_of_;
  // Messages sent so far by source and target, for SimAI's hash; for look-up
  // only.
  absl::flat_hash_map<uint64_t, uint32_t> num_sent_;
  std::vector<LinkId> scratch_hops_;
  uint64_t num_in_flight_ = 0;  // Messages, without background.
  std::vector<MessageId> arrived_;
  std::vector<LinkId> scratch_path_;
  // Incoming links to be paused or resumed at the end of the event, because
  // ports must not be changed while another port is being changed.
  std::vector<std::pair<uint32_t, bool>> pauses_;

  NetworkStatistics statistics_;
  std::vector<double> link_bytes_;
  int64_t next_sample_ps_ = kNever;
  std::vector<int64_t> paused_since_ps_;  // By link; kNever: not paused.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_NETWORK_H_
