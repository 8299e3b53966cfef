#include "astra-core/apps/simai_network_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"

namespace astra {
namespace {

constexpr uint32_t kFirstPort = 10'000;
constexpr uint32_t kTargetPort = 100;
constexpr int64_t kPsPerNs = 1'000;

uint32_t AddressOf(NodeId node) {
  constexpr uint32_t kFirst = 0x0b000001;
  return kFirst + ((node.index() / 256) << 16) + ((node.index() % 256) << 8);
}

int64_t Ns(TimePs time) { return time.count() / kPsPerNs; }

// Returns the source port of each flow, by position in `flows`.
std::vector<uint32_t> SourcePorts(absl::Span<const FlowRecord> flows) {
  std::vector<size_t> by_start(flows.size());
  std::iota(by_start.begin(), by_start.end(), size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(), [&](size_t a, size_t b) {
    return flows[a].start < flows[b].start;
  });
  std::map<std::pair<NodeId, NodeId>, uint32_t> num_sent;
  std::vector<uint32_t> ports(flows.size());
  for (const size_t i : by_start) {
    ports[i] = kFirstPort + num_sent[{flows[i].source, flows[i].target}]++;
  }
  return ports;
}

int TypeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kGpu:
    case NodeKind::kStorage:  // SimAI's hosts.
      return 0;
    case NodeKind::kSwitch:
      return 1;
    case NodeKind::kNvSwitch:
      return 2;
  }
  return -1;
}

}  // namespace

std::string SimaiFctText(const NetworkStatistics& network) {
  const std::vector<uint32_t> ports = SourcePorts(network.flows);
  std::string text;
  for (size_t i = 0; i < network.flows.size(); ++i) {
    const FlowRecord& flow = network.flows[i];
    AppendFormat(&text, "{:08x} {:08x} {} {} {} {} {} {}\n",
                 AddressOf(flow.source), AddressOf(flow.target), ports[i],
                 kTargetPort, flow.bytes.count(), Ns(flow.start),
                 Ns(flow.finish - flow.start), Ns(flow.ideal));
  }
  return text;
}

std::string SimaiPfcText(const Topology& topology,
                         const NetworkStatistics& network) {
  std::string text;
  for (const PfcRecord& record : network.pfc) {
    const NodeId node = topology.link(record.link).source;
    const absl::Span<const LinkId> links = topology.links_from(node);
    const auto port = std::find(links.begin(), links.end(), record.link);
    AppendFormat(&text, "{} {} {} {} {}\n", Ns(record.time), node.index(),
                 TypeOf(topology.kind(node)),
                 std::distance(links.begin(), port) + 1,
                 record.is_pause ? 1 : 0);
  }
  return text;
}

}  // namespace astra
