#include "tests/network-frontends/packet/random_network.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "network-frontends/packet/congestion/registry.h"
#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/replay_support.h"
#include "topology/topology_builder.h"

namespace astra::testing {
namespace {

constexpr TimePs kForever(std::numeric_limits<int64_t>::max());

uint32_t Small(uint64_t number) { return static_cast<uint32_t>(number); }
int64_t Signed(uint64_t number) { return static_cast<int64_t>(number); }

// Lays cables of rates and latencies that it draws.
class Cabling {
 public:
  Cabling(Choices& choices, TopologyBuilder& builder)
      : choices_(choices),
        builder_(builder),
        error_rate_(choices.Of({"0", "0", "0", "0.0001", "0.01"})),
        is_even_(choices.OneIn(3)) {}

  void Lay(NodeId a, NodeId b) {
    const auto rate =
        is_even_ ? 400
                 : choices_.Of<uint64_t>({1, 10, 100, 200, 400, 800, 2880, 3200,
                                          choices_.Below(3200) + 1});
    const uint64_t latency_ns = is_even_ ? 500 : choices_.Below(2001);
    const auto type =
        builder_.AddLinkType(fmt::format("{}Gbps", rate),
                             fmt::format("{}ns", latency_ns), error_rate_);
    ASTRA_CHECK(type.ok(), "{}", type.status().ToString());
    const absl::Status status = builder_.AddCable(a, b, *type);
    ASTRA_CHECK(status.ok(), "{}", status.ToString());
  }

 private:
  Choices& choices_;
  TopologyBuilder& builder_;
  std::string error_rate_;
  bool is_even_;
};

Topology Finish(TopologyBuilder builder) {
  absl::StatusOr<Topology> topology = std::move(builder).Build();
  ASTRA_CHECK(topology.ok(), "{}", topology.status().ToString());
  return *std::move(topology);
}

std::vector<NodeId> AddSwitches(uint64_t count, NodeKind kind,
                                TopologyBuilder& builder) {
  std::vector<NodeId> switches(count);
  for (NodeId& node : switches) node = builder.AddSwitch(kind);
  return switches;
}

Topology DrawMesh(Choices& choices) {
  const uint32_t num_gpus = 2 + Small(choices.Below(7));
  TopologyBuilder builder(num_gpus, num_gpus, "H100");
  Cabling cabling(choices, builder);
  for (uint32_t a = 0; a < num_gpus; ++a) {
    for (uint32_t b = a + 1; b < num_gpus; ++b) {
      cabling.Lay(NodeId(a), NodeId(b));
    }
  }
  return Finish(std::move(builder));
}

Topology DrawTree(Choices& choices) {
  const uint32_t num_gpus = 2 + Small(choices.Below(7));
  TopologyBuilder builder(num_gpus, 1, "H100");
  const std::vector<NodeId> switches =
      AddSwitches(1 + choices.Below(6), NodeKind::kSwitch, builder);
  Cabling cabling(choices, builder);
  for (size_t i = 1; i < switches.size(); ++i) {
    cabling.Lay(switches[i], switches[choices.Below(i)]);
  }
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    // Each switch has a GPU or more, where there are enough.
    const size_t place =
        gpu < switches.size() ? gpu : choices.Below(switches.size());
    cabling.Lay(NodeId(gpu), switches[place]);
  }
  return Finish(std::move(builder));
}

// Each GPU at one leaf or two.
Topology DrawLeavesAndSpines(Choices& choices) {
  const uint32_t num_gpus = 2 + Small(choices.Below(7));
  TopologyBuilder builder(num_gpus, 1, "H100");
  const std::vector<NodeId> leaves =
      AddSwitches(2 + choices.Below(2), NodeKind::kSwitch, builder);
  const std::vector<NodeId> spines =
      AddSwitches(1 + choices.Below(3), NodeKind::kSwitch, builder);
  Cabling cabling(choices, builder);
  for (const NodeId leaf : leaves) {
    for (const NodeId spine : spines) cabling.Lay(leaf, spine);
  }
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    cabling.Lay(NodeId(gpu), leaves[gpu % leaves.size()]);
    if (choices.OneIn(3)) {
      cabling.Lay(NodeId(gpu), leaves[(gpu + 1) % leaves.size()]);
    }
  }
  return Finish(std::move(builder));
}

Topology DrawServers(Choices& choices) {
  const uint32_t per_server = 1 + Small(choices.Below(4));
  TopologyBuilder builder(2 * per_server, per_server, "H100");
  const std::vector<NodeId> inside =
      AddSwitches(2, NodeKind::kNvSwitch, builder);
  const NodeId outside = builder.AddSwitch(NodeKind::kSwitch);
  Cabling cabling(choices, builder);
  for (uint32_t gpu = 0; gpu < 2 * per_server; ++gpu) {
    cabling.Lay(NodeId(gpu), inside[gpu / per_server]);
    cabling.Lay(NodeId(gpu), outside);
  }
  return Finish(std::move(builder));
}

Topology DrawTopology(Choices& choices) {
  const auto draw =
      choices.Of({&DrawMesh, &DrawTree, &DrawServers, &DrawLeavesAndSpines});
  return draw(choices);
}

NicOptions DrawNic(Choices& choices) {
  NicOptions nic;
  nic.payload = Bytes(choices.Of<int64_t>({4096, 256, 1000, 9000}));
  nic.header = Bytes(choices.Of<int64_t>({82, 0}));
  nic.ack = Bytes(choices.Of<int64_t>({86, 1, 64}));
  nic.packets_per_ack = choices.Of({1U, 2U, 8U});
  nic.ack_has_priority = !choices.OneIn(4);
  nic.window = choices.Of(
      {WindowScope::kPath, WindowScope::kNone, WindowScope::kNetwork});
  nic.window_factor = choices.Of({1.5, 0.1, 10.0});
  nic.window_follows_rate = choices.OneIn(4);
  nic.queue_pairs =
      choices.Of({QueuePairs::kPerConnection, QueuePairs::kPerMessage});
  nic.completion =
      choices.Of({Completion::kDelivered, Completion::kAcknowledged});
  nic.loss_recovery =
      choices.Of({LossRecovery::kGoBackN, LossRecovery::kSelectiveRepeat});
  nic.retransmission_timeout = Microseconds(choices.Of<int64_t>({500, 2000}));
  nic.nack_interval = Microseconds(choices.Of<int64_t>({5, 1, 50}));
  nic.reorder_packets = choices.Of({128U, 8U, 1U});
  return nic;
}

SwitchOptions DrawSwitch(Choices& choices) {
  SwitchOptions options;
  options.switching =
      choices.Of({Switching::kStoreAndForward, Switching::kCutThrough});
  options.latency = Nanoseconds(choices.Of<int64_t>({0, 300, 2000}));
  options.pfc = !choices.OneIn(3);
  options.ecn = choices.OneIn(2);
  // With PFC the buffer must hold the headroom of all ports, and small shares
  // make switches pause. Without, small ones let nothing pass.
  if (options.pfc) {
    options.buffer_share = choices.Of({0.125, 1.0, 0.001, 0.0001});
  } else {
    options.buffer = KiB(choices.Of<int64_t>({65536, 1024, 128}));
    options.buffer_share = choices.Of({1.0, 0.25});
  }
  options.reserve = KiB(choices.Of<int64_t>({4, 0, 16}));
  options.resume_offset = KiB(choices.Of<int64_t>({3, 0, 100}));
  if (choices.OneIn(2)) {
    options.ecn_thresholds = {{Gbps(400), Bytes(10'000), Bytes(100'000), 0.5}};
  }
  return options;
}

// A quarter of the networks have links that change, most of which come back.
std::vector<LinkEvent> DrawLinkEvents(const Topology& topology,
                                      Choices& choices) {
  std::vector<LinkEvent> events;
  if (!choices.OneIn(4)) return events;
  const uint64_t count = 1 + choices.Below(3);
  for (uint64_t i = 0; i < count; ++i) {
    const Link& link = topology.links()[choices.Below(topology.links().size())];
    const auto at = Nanoseconds(Signed(choices.Below(30'000)));
    events.push_back(
        {at, link.source, link.target, choices.Of({0.0, 0.0, 0.1, 0.5})});
    if (choices.OneIn(4)) continue;
    events.push_back({at + Nanoseconds(Signed(choices.Below(100'000))),
                      link.source, link.target, 1});
  }
  return events;
}

PacketOptions DrawOptions(const Topology& topology, Choices& choices) {
  PacketOptions options;
  options.nic = DrawNic(choices);
  options.fabric = DrawSwitch(choices);
  options.nv_switch = DrawSwitch(choices);
  options.load_balancing =
      choices.Of({LoadBalancing::kEcmp, LoadBalancing::kFlowlet,
                  LoadBalancing::kSpray, LoadBalancing::kAdaptive});
  if (options.load_balancing == LoadBalancing::kSpray ||
      options.load_balancing == LoadBalancing::kAdaptive) {
    options.nic.loss_recovery = LossRecovery::kSelectiveRepeat;
  }
  options.flowlet_gap = Microseconds(choices.Of<int64_t>({50, 1}));
  const auto controls = CongestionControls();
  options.congestion.name = controls[choices.Below(controls.size())].name;
  options.link_events = DrawLinkEvents(topology, choices);
  if (choices.OneIn(4)) {
    options.background.push_back({NodeId(0), NodeId(1), KiB(20),
                                  Microseconds(3), Microseconds(1),
                                  Microseconds(40)});
  }
  options.seed = choices.Below(1000);
  options.record.flows = true;
  if (choices.OneIn(2)) {
    options.record.pfc = true;
    options.record.cnp = true;
    options.record.sample_interval = Microseconds(1);
    options.record.captured_link =
        LinkId(Small(choices.Below(topology.links().size())));
  }
  return options;
}

// One in eight is between a switch and what it is linked to.
Message DrawMessage(const Topology& topology, uint32_t id, Choices& choices) {
  Message message;
  message.id = MessageId(id);
  if (choices.OneIn(8)) {
    const Link& link = topology.links()[choices.Below(topology.links().size())];
    message.source = link.source;
    message.target = link.target;
  } else {
    const uint32_t num_gpus = topology.num_gpus();
    const auto source = Small(choices.Below(num_gpus));
    message.source = NodeId(source);
    message.target =
        NodeId((source + 1 + Small(choices.Below(num_gpus - 1))) % num_gpus);
  }
  message.bytes = Bytes(Signed(choices.Of<uint64_t>(
      {4096, 0, 1, 4097, choices.Below(10'000), choices.Below(200'000)})));
  message.channel = Small(choices.Below(3));
  return message;
}

// What one run has shown.
struct Outcome {
  std::vector<std::pair<TimePs, MessageId>> arrivals;
  NetworkStatistics statistics;
  std::vector<double> link_bytes;
  std::string why_stuck;
  TimePs end;
  bool is_over = false;

  bool operator==(const Outcome& other) const {
    return arrivals == other.arrivals && link_bytes == other.link_bytes &&
           statistics.num_events == other.statistics.num_events &&
           statistics.num_packet_hops == other.statistics.num_packet_hops;
  }
};

absl::Status Wrong(const std::string& what) {
  return absl::InternalError(what);
}

// Simulates up to `limit`, and no further than the last of all messages.
absl::Status AdvanceTo(TimePs limit, size_t num_messages,
                       PacketBackend& backend, Outcome& outcome) {
  while (outcome.arrivals.size() < num_messages && backend.now() < limit) {
    const TimePs before = backend.now();
    std::vector<MessageId> arrived;
    backend.AdvanceTo(limit, &arrived);
    if (backend.now() < before) {
      return Wrong(fmt::format("{} comes after {}", backend.now(), before));
    }
    if (!std::is_sorted(arrived.begin(), arrived.end())) {
      return Wrong(fmt::format("unsorted arrivals at {}", backend.now()));
    }
    for (const MessageId id : arrived) {
      outcome.arrivals.emplace_back(backend.now(), id);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Outcome> RunOnce(const RandomNetwork& network,
                                bool skips = false) {
  PacketBackend backend(network.topology, network.options);
  if (skips) backend.replay()->SkipPackets(0);
  Outcome outcome;
  const size_t num_messages = network.messages.size();
  for (const TimedMessage& timed : network.messages) {
    // All before may have arrived: the network may then stand still.
    ASTRA_RETURN_IF_ERROR(
        AdvanceTo(timed.time, num_messages, backend, outcome));
    backend.Send(timed.message);
  }
  // Far beyond any number of timeouts; not endless, so that time stays sane.
  const TimePs end = Microseconds(20'000'000);
  ASTRA_RETURN_IF_ERROR(AdvanceTo(end, num_messages, backend, outcome));
  outcome.is_over = outcome.arrivals.size() == num_messages;
  outcome.why_stuck = backend.WhyStuck();
  if (outcome.is_over) {
    // The last acknowledgements, and what was sent twice.
    std::vector<MessageId> late;
    backend.AdvanceTo(end, &late);
    if (!late.empty()) {
      return Wrong(fmt::format("message {} arrives again", late.front()));
    }
  }
  outcome.end = backend.now();
  outcome.statistics = backend.statistics();
  const auto bytes = backend.link_bytes();
  outcome.link_bytes.assign(bytes.begin(), bytes.end());
  return outcome;
}

absl::Status CheckArrivals(const RandomNetwork& network,
                           const Outcome& outcome) {
  const Topology& topology = network.topology;
  std::vector<bool> has_arrived(network.messages.size());
  for (const auto& [time, id] : outcome.arrivals) {
    if (has_arrived[id.index()]) {
      return Wrong(fmt::format("message {} arrives twice", id));
    }
    has_arrived[id.index()] = true;
    const auto& [start, message] = network.messages[id.index()];
    TimePs least = kForever;
    for (const LinkId link : topology.links_from(message.source)) {
      const LinkType& type = topology.type(link);
      least = std::min(
          least, type.latency + TransferTime(message.bytes, type.bandwidth));
    }
    if (time < start + least) {
      return Wrong(fmt::format("message {} arrives after {}, less than {}", id,
                               time - start, least));
    }
  }
  if (outcome.is_over) {
    const std::vector<FlowRecord>& flows = outcome.statistics.flows;
    const auto num_own = static_cast<size_t>(
        std::count_if(flows.begin(), flows.end(), [](const FlowRecord& flow) {
          return flow.channel != kBackgroundChannel;
        }));
    if (num_own == network.messages.size()) return absl::OkStatus();
    return Wrong(fmt::format("{} flows are recorded of {} messages", num_own,
                             network.messages.size()));
  }
  std::map<std::pair<NodeId, NodeId>, double> factors;
  std::vector<LinkEvent> events = network.options.link_events;
  std::stable_sort(
      events.begin(), events.end(),
      [](const LinkEvent& a, const LinkEvent& b) { return a.time < b.time; });
  for (const LinkEvent& event : events) {
    factors[std::minmax(event.a, event.b)] = event.rate_factor;
  }
  const bool has_down =
      std::any_of(factors.begin(), factors.end(),
                  [](const auto& entry) { return entry.second == 0; });
  if (has_down && !outcome.why_stuck.empty()) return absl::OkStatus();
  // Timers that run out together, burst after burst, into a small buffer, or
  // sooner than a long queue moves on.
  const NetworkStatistics& statistics = outcome.statistics;
  if (statistics.num_drops + statistics.num_losses > 0 &&
      outcome.why_stuck.find("given up") != std::string::npos) {
    return absl::OkStatus();
  }
  return Wrong(fmt::format("{} of {} messages arrive: '{}'",
                           outcome.arrivals.size(), network.messages.size(),
                           outcome.why_stuck));
}

absl::Status CheckBytes(const RandomNetwork& network, const Outcome& outcome) {
  const Topology& topology = network.topology;
  const NetworkStatistics& statistics = outcome.statistics;
  const bool is_whole = statistics.num_drops == 0 && statistics.num_losses == 0;
  if (network.options.link_events.empty() && statistics.num_drops > 0 &&
      network.options.fabric.pfc && network.options.nv_switch.pfc) {
    return Wrong(fmt::format("{} packets are dropped in spite of PFC",
                             statistics.num_drops));
  }
  std::vector<double> in(topology.num_nodes());  // On links, and ...
  std::vector<double> out(topology.num_nodes());
  std::vector<double> taken(topology.num_nodes());  // ... by messages.
  std::vector<double> given(topology.num_nodes());
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.link(LinkId(i));
    out[link.source.index()] += outcome.link_bytes[i];
    in[link.target.index()] += outcome.link_bytes[i];
  }
  for (const TimedMessage& timed : network.messages) {
    const auto bytes = static_cast<double>(timed.message.bytes.count());
    given[timed.message.source.index()] += bytes;
    taken[timed.message.target.index()] += bytes;
  }
  if (!network.options.background.empty() || !outcome.is_over) {
    return absl::OkStatus();
  }
  for (uint32_t n = 0; n < topology.num_nodes(); ++n) {
    const double missing = in[n] + given[n] - out[n] - taken[n];
    const bool is_sent_again = statistics.num_retransmissions > 0;
    if (is_whole && !is_sent_again ? missing != 0
                                   : in[n] < taken[n] || out[n] < given[n]) {
      return Wrong(fmt::format(
          "{}: {} B come in, {} B go out, {} B are for it, {} B from it",
          topology.NodeName(NodeId(n)), in[n], out[n], taken[n], given[n]));
    }
  }
  return absl::OkStatus();
}

template <class Record>
bool IsByTime(const std::vector<Record>& records) {
  return std::is_sorted(
      records.begin(), records.end(),
      [](const Record& a, const Record& b) { return a.time < b.time; });
}

absl::Status CheckRecords(const RandomNetwork& network,
                          const Outcome& outcome) {
  const NetworkStatistics& statistics = outcome.statistics;
  if (!IsByTime(statistics.pfc) || !IsByTime(statistics.cnps) ||
      !IsByTime(statistics.captured) || !IsByTime(statistics.queues) ||
      !IsByTime(statistics.rates)) {
    return Wrong("records are not in order of time");
  }
  for (uint32_t i = 0; i < statistics.links.size(); ++i) {
    const LinkRecord& record = statistics.links[i];
    const Bandwidth rate = network.topology.type(LinkId(i)).bandwidth;
    const TimePs wire =
        TransferTime(Bytes(static_cast<int64_t>(record.bytes)), rate);
    // A packet may be on its way.
    if (record.busy > outcome.end ||
        record.busy + TransferTime(KiB(10), rate) < wire) {
      return Wrong(fmt::format("{} is busy for {} of {} with {} of packets",
                               network.topology.LinkName(LinkId(i)),
                               record.busy, outcome.end, wire));
    }
  }
  // Packets that it takes without loss, each over up to 10 links and back,
  // again with each of some timeouts, and the timers of congestion controls.
  const uint64_t num_sent =
      statistics.num_data_packets + network.messages.size();
  if (statistics.num_events > 100'000 + 100 * num_sent) {
    return Wrong(fmt::format("{} events for {} packets", statistics.num_events,
                             num_sent));
  }
  return absl::OkStatus();
}

// What a run has shown, but for how it was simulated.
std::string TextOf(const Outcome& outcome) {
  std::string text;
  for (const auto& [time, id] : outcome.arrivals) {
    text += fmt::format("message {} at {}\n", id, time);
  }
  const NetworkStatistics& all = outcome.statistics;
  text += fmt::format(
      "ends {}, flows {}, data {}, hops {}, drops {}, again {}, {} {} {}\n",
      outcome.end, all.num_flows, all.num_data_packets, all.num_packet_hops,
      all.num_drops, all.num_retransmissions, all.sending, all.sending_slowly,
      outcome.why_stuck);
  for (size_t i = 0; i < all.links.size(); ++i) {
    const LinkRecord& link = all.links[i];
    text +=
        fmt::format("link {}: {} {} {} {} {} {} {} {}\n", i,
                    outcome.link_bytes[i], link.bytes, link.packets, link.busy,
                    link.paused, link.max_queue, link.marked, link.pauses);
  }
  return text;
}

// Returns the first line that two texts do not share.
std::string DifferenceOf(const std::string& a, const std::string& b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  const auto line = a.rfind('\n', static_cast<size_t>(at - a.begin()));
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  const auto line_at = [begin](const std::string& text) {
    return begin < text.size()
               ? text.substr(begin, text.find('\n', begin) - begin)
               : std::string("nothing");
  };
  return fmt::format("'{}' and '{}'", line_at(a), line_at(b));
}

}  // namespace

uint64_t Choices::Below(uint64_t n) {
  ASTRA_CHECK(n > 0, "nothing to choose from");
  if (is_endless_) return HashOf(seed_, num_drawn_++) % n;
  uint64_t word = 0;
  for (uint64_t most = n - 1; most > 0; most >>= 8) {
    if (bytes_.empty()) break;
    word = word << 8 | bytes_.front();
    bytes_.remove_prefix(1);
  }
  return word % n;
}

RandomNetwork DrawNetwork(Choices& choices) {
  Topology topology = DrawTopology(choices);
  PacketOptions options = DrawOptions(topology, choices);
  const absl::Status status = CheckPacketOptions(options, topology);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  std::vector<TimedMessage> messages;
  const auto count = 1 + Small(choices.Below(24));
  TimePs time;
  for (uint32_t i = 0; i < count; ++i) {
    if (choices.OneIn(4)) time += Nanoseconds(Signed(choices.Below(10'000)));
    messages.push_back({time, DrawMessage(topology, i, choices)});
  }
  return {std::move(topology), std::move(options), std::move(messages)};
}

absl::Status CheckNetwork(const RandomNetwork& network) {
  ASTRA_ASSIGN_OR_RETURN(const Outcome outcome, RunOnce(network));
  ASTRA_RETURN_IF_ERROR(CheckArrivals(network, outcome));
  ASTRA_RETURN_IF_ERROR(CheckBytes(network, outcome));
  ASTRA_RETURN_IF_ERROR(CheckRecords(network, outcome));
  ASTRA_ASSIGN_OR_RETURN(const Outcome again, RunOnce(network));
  if (!(outcome == again)) return Wrong("the second run differs");
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> CheckSkipping(RandomNetwork network) {
  constexpr int64_t kLonger = 256;
  constexpr size_t kFewMessages = 6;
  PacketOptions& options = network.options;
  options.nic.payload = std::max(options.nic.payload, KiB(4));
  options.nic.loss_recovery = LossRecovery::kGoBackN;
  // Packets are skipped while congestion control is at rest.
  if (options.seed % 2 == 0) {
    options.congestion.name = "none";
    options.fabric.ecn = false;
    options.nv_switch.ecn = false;
  }
  options.nic.queue_pairs = QueuePairs::kPerConnection;
  options.load_balancing = LoadBalancing::kEcmp;
  options.link_events.clear();
  options.background.clear();
  options.record = RecordOptions();
  if (network.messages.size() > kFewMessages) {
    network.messages.resize(kFewMessages);
  }
  for (TimedMessage& timed : network.messages) {
    timed.message.bytes = kLonger * timed.message.bytes;
  }
  if (PacketBackend(network.topology, options).replay() == nullptr) return 0;
  ASTRA_ASSIGN_OR_RETURN(const Outcome whole, RunOnce(network));
  ASTRA_ASSIGN_OR_RETURN(const Outcome skipped, RunOnce(network, true));
  const std::string expected = TextOf(whole);
  const std::string got = TextOf(skipped);
  if (got == expected) return skipped.statistics.num_replayed_hops;
  return Wrong(fmt::format("with and without skipping: {}",
                           DifferenceOf(got, expected)));
}

}  // namespace astra::testing
