#include "network-frontends/packet/paths.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {

Paths::Paths(const PacketSetup& setup, const Ports& ports)
    : setup_(setup),
      ports_(ports),
      are_kept_(setup.options.load_balancing == LoadBalancing::kEcmp &&
                setup.options.link_events.empty()),
      next_hops_(setup.topology) {
  SetUpWindow();
}

// Finds the largest round trip and bandwidth-delay product, from the first and
// the last GPU to all others. Clusters are symmetric enough for these two.
void Paths::SetUpWindow() {
  const Topology& topology = setup_.topology;
  for (const uint32_t source : {0U, topology.num_gpus() - 1}) {
    for (uint32_t target = 0; target < topology.num_gpus(); ++target) {
      if (target == source) continue;
      scratch_path_.clear();
      if (!next_hops_.AppendEcmpPath(NodeId(source), NodeId(target),
                                     setup_.options.seed, &scratch_path_)) {
        continue;
      }
      TimePs rtt;
      Bandwidth rate(INT64_MAX);
      for (const LinkId link : scratch_path_) {
        const LinkType& type = topology.type(link);
        rtt += 2 * type.latency + TransferTime(setup_.payload, type.bandwidth);
        rate = std::min(rate, type.bandwidth);
      }
      network_rtt_ = std::max(network_rtt_, rtt);
      network_window_ =
          std::max(network_window_,
                   Bytes(std::llround(static_cast<double>(rtt.count()) * 1e-12 *
                                      static_cast<double>(rate.count()) / 8)));
    }
  }
}

bool Paths::Choose(QueuePairId id, const QueuePair& qp) {
  return ChooseOne(id, qp, Way::kThere) && ChooseOne(id, qp, Way::kBack);
}

bool Paths::Append(const QueuePair& qp, Way way, std::vector<LinkId>* path) {
  const bool is_back = way == Way::kBack;
  if (setup_.options.ecmp_hash == EcmpHash::kSimai) {
    const SimaiFlow flow{qp.source.index(), qp.target.index(),
                         static_cast<uint16_t>(qp.key)};
    return AppendSimaiPath(is_back ? flow.Reversed() : flow, path);
  }
  return next_hops_.AppendEcmpPath(is_back ? qp.target : qp.source,
                                   is_back ? qp.source : qp.target,
                                   is_back ? Mix64(qp.key) : qp.key, path);
}

bool Paths::ChooseOne(QueuePairId id, const QueuePair& qp, Way way) {
  scratch_path_.clear();
  if (!Append(qp, way, &scratch_path_)) return false;
  const size_t length = scratch_path_.size();
  ASTRA_CHECK(length < 255, "a path of {} links", length);
  if (length + 1 > stride_) Restride(length + 1);
  const auto begin = links_.begin() + (Find(id, way) - links_.data());
  *std::copy(scratch_path_.begin(), scratch_path_.end(), begin) = kNoId<LinkId>;
  return true;
}

// Appends the links that SimAI's hash chooses. Returns false if no path leads
// to the target.
bool Paths::AppendSimaiPath(const SimaiFlow& flow, std::vector<LinkId>* path) {
  const Topology& topology = setup_.topology;
  const NodeId target(flow.target);
  for (NodeId at(flow.source); at != target;) {
    const absl::Span<const LinkId> hops = next_hops_.Find(at, target);
    if (hops.empty()) return false;
    scratch_hops_.assign(hops.begin(), hops.end());
    // SimAI numbers next hops from the highest node down.
    std::stable_sort(scratch_hops_.begin(), scratch_hops_.end(),
                     [&](LinkId a, LinkId b) {
                       return topology.link(a).target > topology.link(b).target;
                     });
    const uint32_t hash =
        SimaiHash(flow, topology.IsHost(at) ? kSimaiHostSeed : at.index());
    const LinkId link = scratch_hops_[hash % scratch_hops_.size()];
    path->push_back(link);
    at = topology.link(link).target;
  }
  return true;
}

// Makes room for paths of `stride` entries.
void Paths::Restride(size_t stride) {
  std::vector<LinkId> links(links_.size() / stride_ * stride, kNoId<LinkId>);
  for (size_t i = 0; i < links_.size() / stride_; ++i) {
    std::copy_n(links_.begin() + static_cast<std::ptrdiff_t>(i * stride_),
                stride_,
                links.begin() + static_cast<std::ptrdiff_t>(i * stride));
  }
  links_ = std::move(links);
  stride_ = stride;
}

absl::Span<const LinkId> Paths::LinksOf(QueuePairId id, Way way) const {
  const LinkId* begin = Find(id, way);
  const LinkId* end = begin;
  while (*end != kNoId<LinkId>) ++end;
  return absl::MakeConstSpan(begin, end);
}

PathProperties Paths::PropertiesOf(absl::Span<const LinkId> there,
                                   absl::Span<const LinkId> back) const {
  PathProperties path;
  path.line_rate = ports_[there.front()].nominal_rate;
  path.bottleneck = path.line_rate;
  path.packet_bytes = setup_.full.count();
  path.base_rtt = AckTime(back);
  for (size_t i = 0; i < there.size(); ++i) {
    const Port& port = ports_[there[i]];
    path.base_rtt += port.propagation + UntilForwarded(there, i, setup_.full);
    path.bottleneck = std::min(path.bottleneck, port.nominal_rate);
    ++path.num_hops;
  }
  path.network_rtt = std::max(path.base_rtt, network_rtt_);
  path.network_window_bytes = network_window_.count();
  return path;
}

// Returns the time of an acknowledgement on the path back.
TimePs Paths::AckTime(absl::Span<const LinkId> back) const {
  TimePs time;
  for (size_t i = 0; i < back.size(); ++i) {
    time += ports_[back[i]].propagation + UntilForwarded(back, i, setup_.ack);
  }
  return time;
}

TimePs Paths::UntilForwarded(absl::Span<const LinkId> path, size_t i,
                             Bytes size) const {
  const Port& port = ports_[path[i]];
  const TimePs whole = TransferTime(size, port.nominal_rate);
  if (!port.cuts_through || size <= kCutThroughHead || i + 1 == path.size()) {
    return whole;
  }
  return CutThroughTime(TransferTime(kCutThroughHead, port.nominal_rate), whole,
                        TransferTime(size, ports_[path[i + 1]].nominal_rate));
}

Bytes Paths::WindowCapOf(const PathProperties& path) const {
  const NicOptions& nic = setup_.options.nic;
  double bytes = 0;
  switch (nic.window) {
    case WindowScope::kNone:
      return Bytes(INT64_MAX);
    case WindowScope::kPath:
      bytes = static_cast<double>(path.base_rtt.count()) * 1e-12 *
              static_cast<double>(path.bottleneck.count()) / 8;
      break;
    case WindowScope::kNetwork:
      bytes = static_cast<double>(network_window_.count());
      break;
  }
  return std::max(setup_.payload,
                  Bytes(std::llround(bytes * nic.window_factor)));
}

// The window may be passed by one packet. Headers count as well.
Bytes Paths::MostUnderWay(Bytes window_cap) const {
  if (window_cap == Bytes(INT64_MAX)) return window_cap;
  return (window_cap.count() / setup_.payload.count() + 2) * setup_.full;
}

// The last packet but one and the last, which may be short, are followed from
// link to link. The packets before keep the distance of the slowest link.
TimePs Paths::IdealOf(QueuePairId id, const MessageState& message) const {
  const int64_t num_full = int64_t{message.num_packets} - 1;
  const Bytes last = Bytes(message.last_payload) + setup_.header;
  const absl::Span<const LinkId> there = LinksOf(id, Way::kThere);
  TimePs first_start;  // When the first packet begins to leave this link.
  TimePs last_ready;   // When the last packet may begin.
  TimePs slowest;      // Time of a full packet on the slowest link.
  for (size_t i = 0; i < there.size(); ++i) {
    const Port& port = ports_[there[i]];
    const TimePs full = TransferTime(setup_.full, port.nominal_rate);
    slowest = std::max(slowest, full);
    const TimePs before_last_left =
        num_full == 0 ? TimePs()
                      : first_start + (num_full - 1) * slowest + full;
    last_ready = std::max(before_last_left, last_ready) + port.propagation +
                 UntilForwarded(there, i, last);
    first_start += port.propagation + UntilForwarded(there, i, setup_.full);
  }
  TimePs ideal = last_ready;
  if (setup_.options.nic.completion == Completion::kAcknowledged) {
    ideal += AckTime(LinksOf(id, Way::kBack));
  }
  return std::max(TimePs(1), ideal);
}

}  // namespace astra
