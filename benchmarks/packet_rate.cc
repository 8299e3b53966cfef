// How many packet-hops a second the packet network does, and what memory it
// needs. A packet-hop is a packet, data or acknowledgement, that crosses a
// link.
//
// The network is a three-tier fat tree of k-port switches at 400 Gbps and 1 us
// a link, one GPU a server; every packet is acknowledged; DCQCN, ECN and PFC
// are on. Patterns, each GPU with one message to
//
//   ring         the next one
//   permutation  another one, at random: ECMP makes queues
//   all-to-all   every other one
//   incast       GPU 0
//
// Usage: packet_rate [PATTERN GPUS [BYTES [CONTROL [ZONES]]]]
//
// With ZONES, each zone of the network is simulated by a thread. Times are then
// of the wall clock. A second line says how much can go on at once: the
// packet-hops of a zone in a window, how many times faster the run would be if
// they were all that takes time, and what it would take with a core for each
// zone: the processor time of the slowest zone in each window.
//
// Without arguments: the cases of kCases, each in a process of its own, since
// the peak memory is that of a process.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/zones/zoned_packet_network.h"
#include "network-frontends/packet/zones/zoning.h"
#include "network-frontends/zoned_network.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

struct Case {
  std::string pattern;
  uint32_t num_gpus;
  Bytes bytes;
  std::string control = "dcqcn";
  uint32_t num_zones = 1;
};

// By GPUs: ports of a switch, pods.
struct Shape {
  uint32_t num_gpus;
  uint32_t ports;
  uint32_t pods;
};
constexpr Shape kShapes[] = {
    {16, 4, 4}, {128, 8, 8}, {1024, 16, 16}, {4096, 32, 16}};

// Source: M. Al-Fares et al., "A scalable, commodity data center network
// architecture", SIGCOMM 2008.
absl::StatusOr<Topology> FatTree(const Shape& shape) {
  const uint32_t half = shape.ports / 2;
  TopologyBuilder builder(shape.num_gpus, 1, "H100");
  ASTRA_ASSIGN_OR_RETURN(const LinkTypeId type,
                         builder.AddLinkType("400Gbps", "1us", "0"));
  std::vector<NodeId> cores(size_t{half} * half);
  for (NodeId& core : cores) core = builder.AddSwitch(NodeKind::kSwitch);
  uint32_t gpu = 0;
  for (uint32_t pod = 0; pod < shape.pods; ++pod) {
    std::vector<NodeId> above(half);
    for (NodeId& node : above) node = builder.AddSwitch(NodeKind::kSwitch);
    for (uint32_t i = 0; i < half * half; ++i) {
      ASTRA_RETURN_IF_ERROR(builder.AddCable(above[i / half], cores[i], type));
    }
    for (uint32_t i = 0; i < half; ++i) {
      const NodeId edge = builder.AddSwitch(NodeKind::kSwitch);
      for (const NodeId node : above) {
        ASTRA_RETURN_IF_ERROR(builder.AddCable(edge, node, type));
      }
      for (uint32_t j = 0; j < half; ++j) {
        ASTRA_RETURN_IF_ERROR(builder.AddCable(NodeId(gpu++), edge, type));
      }
    }
  }
  return std::move(builder).Build();
}

std::vector<Message> MessagesOf(const Case& what) {
  const uint32_t n = what.num_gpus;
  std::vector<Message> messages;
  const auto add = [&](uint32_t source, uint32_t target) {
    messages.push_back({MessageId(static_cast<uint32_t>(messages.size())),
                        NodeId(source), NodeId(target), what.bytes});
  };
  if (what.pattern == "ring") {
    for (uint32_t i = 0; i < n; ++i) add(i, (i + 1) % n);
  } else if (what.pattern == "permutation") {
    std::vector<uint32_t> order(n);
    for (uint32_t i = 0; i < n; ++i) order[i] = i;
    // Sattolo's shuffle: one cycle, so nobody sends to himself.
    for (uint32_t i = n - 1; i > 0; --i) {
      std::swap(order[i], order[HashOf(1, uint64_t{i}) % i]);
    }
    for (uint32_t i = 0; i < n; ++i) add(i, order[i]);
  } else if (what.pattern == "all-to-all") {
    for (uint32_t shift = 1; shift < n; ++shift) {
      for (uint32_t i = 0; i < n; ++i) add(i, (i + shift) % n);
    }
  } else {
    for (uint32_t i = 1; i < n; ++i) add(i, 0);
  }
  return messages;
}

absl::StatusOr<Topology> TopologyOf(const Case& what) {
  for (const Shape& known : kShapes) {
    if (known.num_gpus == what.num_gpus) return FatTree(known);
  }
  return absl::InvalidArgumentError(
      fmt::format("GPUS is {}: expected 16, 128, 1024 or 4096", what.num_gpus));
}

// What a run took. The seconds are of the processor or of the wall clock.
struct Taken {
  double seconds = 0;
  uint64_t num_packet_hops = 0;
  uint64_t num_events = 0;
  TimePs simulated;
};

void Print(const Case& what, const Taken& taken) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto hops = static_cast<double>(taken.num_packet_hops);
  fmt::print(
      "{:<12}{:>6} GPUs  {:<9}{:>12} hops  {:>5.2f} events/hop  {:>6.1f} ns/hop"
      "  {:>6.2f} Mhop/s  simulated {:>9.3f} us  {:>5} MiB\n",
      what.pattern, what.num_gpus, what.control, taken.num_packet_hops,
      static_cast<double>(taken.num_events) / hops, taken.seconds * 1e9 / hops,
      hops / taken.seconds * 1e-6, ToMicroseconds(taken.simulated),
      usage.ru_maxrss / 1024);
}

absl::StatusOr<Taken> RunAlone(const Topology& topology,
                               const PacketOptions& options,
                               const std::vector<Message>& messages) {
  PacketBackend network(topology, options);
  const std::clock_t begin = std::clock();
  for (const Message& message : messages) network.Send(message);
  std::vector<MessageId> arrived;
  size_t num_arrived = 0;
  while (num_arrived < messages.size()) {
    arrived.clear();
    network.AdvanceTo(TimePs(INT64_MAX), &arrived);
    if (arrived.empty()) {
      return absl::InternalError("the network fell silent: " +
                                 network.WhyStuck());
    }
    num_arrived += arrived.size();
  }
  // Of the processor: others may use it, too.
  const double took_s =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const NetworkStatistics& statistics = network.statistics();
  return Taken{took_s, statistics.num_packet_hops, statistics.num_events,
               network.now()};
}

// Returns the processor time of the calling thread.
double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

// Sends the messages of one zone at once, and counts what arrives there.
class SendingDriver final : public ZoneDriver {
 public:
  SendingDriver(const std::vector<Message>& messages, ZonedNetwork& zones,
                ZoneId id)
      : network_(zones.zone(id)) {
    for (const Message& message : messages) {
      if (zones.ZoneOf(message.source) == id) network_.Send(message);
    }
  }

  void AdvanceTo(TimePs limit) override {
    starts_s_.push_back(ThreadSeconds());
    while (network_.now() < limit) {
      arrived_.clear();
      network_.AdvanceTo(limit, &arrived_);
      num_done_ += arrived_.size();
      if (!arrived_.empty()) last_ = network_.now();
    }
  }
  TimePs next() const override { return TimePs(INT64_MAX); }
  uint64_t num_done() const override { return num_done_; }
  bool needs_other_zone() const override { return false; }

  TimePs last() const { return last_; }  // When the last message arrived.

  // Returns the processor time of a window, up to the start of the next one.
  double SecondsOf(size_t window) const {
    return starts_s_[window + 1] - starts_s_[window];
  }

 private:
  NetworkBackend& network_;
  uint64_t num_done_ = 0;
  TimePs last_;
  std::vector<double> starts_s_;  // Processor time at the start of windows.
  std::vector<MessageId> arrived_;
};

using SendingDrivers = std::vector<std::unique_ptr<SendingDriver>>;

void Print(const ZonedNetwork& zones, const SendingDrivers& drivers) {
  const ZoneStatistics& statistics = zones.statistics();
  const auto hops = static_cast<double>(statistics.num_packet_hops);
  double critical_s = 0;
  for (size_t i = 0; i + 1 < statistics.num_windows; ++i) {
    double slowest_s = 0;
    for (const std::unique_ptr<SendingDriver>& driver : drivers) {
      slowest_s = std::max(slowest_s, driver->SecondsOf(i));
    }
    critical_s += slowest_s;
  }
  fmt::print(
      "{:<12}{:>6} zones {} windows of {} ns  {:.0f} hops of a zone in "
      "each  {:.2f} times as fast at best  {:.1f} ns/hop on {} cores\n",
      "", zones.num_zones(), statistics.num_windows,
      ToMicroseconds(zones.lookahead()) * 1000,
      hops / static_cast<double>(statistics.num_windows) / zones.num_zones(),
      hops / static_cast<double>(statistics.num_critical_hops),
      critical_s * 1e9 / hops, zones.num_zones());
}

absl::StatusOr<Taken> RunInZones(const Topology& topology,
                                 const PacketOptions& options,
                                 uint32_t num_zones,
                                 const std::vector<Message>& messages) {
  ASTRA_ASSIGN_OR_RETURN(Zoning zoning,
                         FindZones(PacketSetup(topology, options), num_zones));
  ZonedPacketNetwork network(topology, options, std::move(zoning));
  const auto begin = std::chrono::steady_clock::now();
  SendingDrivers drivers;
  std::vector<ZoneDriver*> pointers;
  for (uint32_t i = 0; i < network.num_zones(); ++i) {
    drivers.push_back(
        std::make_unique<SendingDriver>(messages, network, ZoneId(i)));
    pointers.push_back(drivers.back().get());
  }
  ASTRA_RETURN_IF_ERROR(network.Run(pointers, messages.size()));
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  Taken taken{took.count(), network.statistics().num_packet_hops, 0, {}};
  for (uint32_t i = 0; i < network.num_zones(); ++i) {
    taken.num_events += network.zone(ZoneId(i)).statistics().num_events;
    taken.simulated = std::max(taken.simulated, drivers[i]->last());
  }
  Print(network, drivers);
  return taken;
}

absl::Status Run(const Case& what) {
  ASTRA_ASSIGN_OR_RETURN(const Topology topology, TopologyOf(what));
  PacketOptions options;
  options.congestion.name = what.control;
  const std::vector<Message> messages = MessagesOf(what);
  ASTRA_ASSIGN_OR_RETURN(
      const Taken taken,
      what.num_zones > 1
          ? RunInZones(topology, options, what.num_zones, messages)
          : RunAlone(topology, options, messages));
  Print(what, taken);
  return absl::OkStatus();
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Shape& shape : kShapes) {
    const Bytes large(shape.num_gpus <= 128 ? 10'000'000 : 2'000'000);
    const Bytes small(80'000'000 / shape.num_gpus / shape.num_gpus);
    cases.push_back({"ring", shape.num_gpus, large});
    cases.push_back({"permutation", shape.num_gpus, large});
    if (shape.num_gpus <= 1024) {
      cases.push_back(
          {"all-to-all", shape.num_gpus, std::max(small, Bytes(8192))});
    }
    cases.push_back({"incast", shape.num_gpus, Bytes(65'536)});
  }
  return cases;
}

absl::Status RunEachApart(const std::vector<Case>& cases) {
  for (const Case& what : cases) {
    const pid_t child = fork();
    if (child == 0) {
      const absl::Status status = Run(what);
      if (!status.ok()) fmt::print("{}\n", status.ToString());
      std::fflush(stdout);
      _exit(status.ok() ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
      return absl::InternalError("a case failed");
    }
  }
  return absl::OkStatus();
}

absl::Status RunAll(int argc, char** argv) {
  if (argc < 3) return RunEachApart(AllCases());
  ASTRA_ASSIGN_OR_RETURN(const int64_t num_gpus, ParseInteger("GPUS", argv[2]));
  Case what{argv[1], static_cast<uint32_t>(num_gpus), Bytes(2'000'000)};
  if (argc > 3) {
    ASTRA_ASSIGN_OR_RETURN(const int64_t bytes,
                           ParseInteger("BYTES", argv[3], 1, int64_t{1} << 40));
    what.bytes = Bytes(bytes);
  }
  if (argc > 4) what.control = argv[4];
  if (argc > 5) {
    ASTRA_ASSIGN_OR_RETURN(const int64_t num_zones,
                           ParseInteger("ZONES", argv[5], 1, 1024));
    what.num_zones = static_cast<uint32_t>(num_zones);
  }
  return Run(what);
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const absl::Status status = astra::RunAll(argc, argv);
  if (status.ok()) return 0;
  fmt::print(stderr, "packet_rate: {}\n", std::string(status.message()));
  return 1;
}
