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
// Usage: packet_rate [PATTERN GPUS [BYTES [CONTROL]]]
//
// Without arguments: the cases of kCases, each in a process of its own, since
// the peak memory is that of a process.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
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
#include "topology/topology_builder.h"

namespace astra {
namespace {

struct Case {
  std::string pattern;
  uint32_t num_gpus;
  Bytes bytes;
  std::string control = "dcqcn";
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

absl::Status Run(const Case& what) {
  const Shape* shape = nullptr;
  for (const Shape& known : kShapes) {
    if (known.num_gpus == what.num_gpus) shape = &known;
  }
  if (shape == nullptr) {
    return absl::InvalidArgumentError(fmt::format(
        "GPUS is {}: expected 16, 128, 1024 or 4096", what.num_gpus));
  }
  ASTRA_ASSIGN_OR_RETURN(const Topology topology, FatTree(*shape));
  PacketOptions options;
  options.congestion.name = what.control;
  PacketBackend network(topology, options);
  const std::vector<Message> messages = MessagesOf(what);
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
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto hops = static_cast<double>(statistics.num_packet_hops);
  fmt::print(
      "{:<12}{:>6} GPUs  {:<9}{:>12} hops  {:>5.2f} events/hop  {:>6.1f} ns/hop"
      "  {:>6.2f} Mhop/s  simulated {:>9.3f} us  {:>5} MiB\n",
      what.pattern, what.num_gpus, what.control, statistics.num_packet_hops,
      static_cast<double>(statistics.num_events) / hops, took_s * 1e9 / hops,
      hops / took_s * 1e-6, ToMicroseconds(network.now()),
      usage.ru_maxrss / 1024);
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
