// Queue pairs as connections: how one opens, its paths to the target and back,
// its largest window, and how it closes.

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "network-frontends/packet/packet_network.h"

namespace astra {

// Returns the queue pair of a message and opens it if necessary.
uint32_t PacketNetwork::ConnectionOf(const Message& message) {
  const uint32_t source = message.source.index();
  const uint32_t target = message.target.index();
  const uint64_t ends = uint64_t{source} << 32 | target;
  if (options_.nic.queue_pairs == QueuePairs::kPerMessage) {
    const uint64_t key = HashOf(options_.seed, ends, num_connections_++);
    return OpenQueuePair(source, target, message.channel, key);
  }
  const auto [found, is_new] =
      connections_.try_emplace({ends, message.channel}, kNone);
  if (is_new) {
    const uint64_t key = HashOf(options_.seed, ends, uint64_t{message.channel});
    const uint32_t qp = OpenQueuePair(source, target, message.channel, key);
    connections_[{ends, message.channel}] = qp;
    return qp;
  }
  return found->second;
}

uint32_t PacketNetwork::OpenQueuePair(uint32_t source, uint32_t target,
                                      uint32_t channel, uint64_t key) {
  if (free_queue_pairs_.empty()) {
    free_queue_pairs_.push_back(static_cast<uint32_t>(queue_pairs_.size()));
    ASTRA_CHECK(queue_pairs_.size() < (uint64_t{1} << kIndexBits),
                "{} queue pairs", queue_pairs_.size());
    queue_pairs_.emplace_back();
    paths_.resize(queue_pairs_.size() * 2 * stride_, kEndOfPath);
  }
  const uint32_t id = free_queue_pairs_.back();
  free_queue_pairs_.pop_back();
  QueuePair& qp = queue_pairs_[id];
  // Pending events of the queue pair that had this slot are stale; they do not
  // match the new one.
  qp = QueuePair();
  qp.is_open = true;
  qp.source = source;
  qp.target = target;
  qp.channel = channel;
  qp.key = key;
  if (options_.ecmp_hash == EcmpHash::kSimai) {
    const uint64_t ends = uint64_t{source} << 32 | target;
    qp.key = SimaiSourcePort(num_sent_[ends]++, options_.seed);
  }
  qp.next_send_ps = now_ps_;
  qp.progress_ps = now_ps_;
  if (options_.nic.loss_recovery == LossRecovery::kSelectiveRepeat) {
    qp.send_window = std::make_unique<SendWindow>();
    qp.receive_window = std::make_unique<ReceiveWindow>();
  }
  FindPaths(id);
  if (qp.link != kNone) StartControl(id);
  return id;
}

// Starts congestion control. Requires that the queue pair has a path.
void PacketNetwork::StartControl(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  const PathProperties path = PropertiesOf(id);
  qp.limits = {.rate = path.line_rate};
  qp.window_cap_bytes = WindowCapOf(path);
  control_->Open(QueuePairId(id), path, now(), &qp.limits);
  AfterControl(id);
}

// Chooses the paths to the target and back, over links that are up, and takes a
// slot at the NIC where the first path begins.
void PacketNetwork::FindPaths(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  const bool has_both = SetPath(id, false) && SetPath(id, true);
  const uint32_t link = has_both ? PathOf(id, false)[0] : kNone;
  if (link == qp.link) return;
  LeaveNic(qp);
  qp.link = link;
  if (!has_both) return;
  Port& port = ports_[link];
  if (port.nic == kNone) {
    port.nic = static_cast<uint32_t>(nics_.size());
    nics_.emplace_back();
  }
  qp.nic_slot =
      nics_[port.nic].turns.Add(id, [this](uint32_t moved, uint32_t slot) {
        queue_pairs_[moved].nic_slot = slot;
      });
}

void PacketNetwork::LeaveNic(QueuePair& qp) {
  if (qp.link == kNone) return;
  nics_[ports_[qp.link].nic].turns.Remove(qp.nic_slot);
  qp.turn = QueuePair::Turn::kNone;
  qp.link = kNone;
}

bool PacketNetwork::SetPath(uint32_t id, bool is_back) {
  const QueuePair& qp = queue_pairs_[id];
  scratch_path_.clear();
  bool is_found = false;
  if (options_.ecmp_hash == EcmpHash::kSimai) {
    const SimaiFlow flow{qp.source, qp.target, static_cast<uint16_t>(qp.key)};
    is_found = AppendSimaiPath(is_back ? flow.Reversed() : flow);
  } else {
    is_found = next_hops_.AppendEcmpPath(
        NodeId(is_back ? qp.target : qp.source),
        NodeId(is_back ? qp.source : qp.target),
        is_back ? Mix64(qp.key) : qp.key, &scratch_path_);
  }
  if (!is_found) return false;
  const auto length = static_cast<uint32_t>(scratch_path_.size());
  ASTRA_CHECK(length < 255, "a path of {} links", length);
  if (length + 1 > stride_) Restride(length + 1);
  uint32_t* path = PathOf(id, is_back);
  for (const LinkId link : scratch_path_) *path++ = link.index();
  *path = kEndOfPath;
  return true;
}

// Appends to scratch_path_ the links that SimAI's hash chooses. Returns false
// if no path leads to the target.
bool PacketNetwork::AppendSimaiPath(const SimaiFlow& flow) {
  const NodeId target(flow.target);
  for (NodeId at(flow.source); at != target;) {
    const absl::Span<const LinkId> hops = next_hops_.Find(at, target);
    if (hops.empty()) return false;
    scratch_hops_.assign(hops.begin(), hops.end());
    // SimAI numbers next hops from the highest node down.
    std::stable_sort(
        scratch_hops_.begin(), scratch_hops_.end(), [this](LinkId a, LinkId b) {
          return topology_.link(a).target > topology_.link(b).target;
        });
    const bool is_gpu = topology_.kind(at) == NodeKind::kGpu;
    const uint32_t hash = SimaiHash(flow, is_gpu ? kSimaiHostSeed : at.index());
    const LinkId link = scratch_hops_[hash % scratch_hops_.size()];
    scratch_path_.push_back(link);
    at = topology_.link(link).target;
  }
  return true;
}

// Makes room for paths of `stride` entries.
void PacketNetwork::Restride(uint32_t stride) {
  std::vector<uint32_t> paths(queue_pairs_.size() * 2 * stride, kEndOfPath);
  for (size_t i = 0; i < queue_pairs_.size() * 2; ++i) {
    std::copy_n(paths_.begin() + static_cast<std::ptrdiff_t>(i * stride_),
                stride_,
                paths.begin() + static_cast<std::ptrdiff_t>(i * stride));
  }
  paths_ = std::move(paths);
  stride_ = stride;
}

PathProperties PacketNetwork::PropertiesOf(uint32_t id) {
  const uint32_t full = payload_bytes_ + header_bytes_;
  PathProperties path;
  path.line_rate = Bandwidth(ports_[PathOf(id, false)[0]].nominal_bps);
  path.bottleneck = path.line_rate;
  path.packet_bytes = full;
  int64_t rtt_ps = 0;
  for (const bool is_back : {false, true}) {
    for (const uint32_t* link = PathOf(id, is_back); *link != kEndOfPath;
         ++link) {
      const Port& port = ports_[*link];
      const Bandwidth rate(port.nominal_bps);
      rtt_ps += port.propagation_ps +
                TransferTime(Bytes(is_back ? ack_bytes_ : full), rate).count();
      if (is_back) continue;
      path.bottleneck = std::min(path.bottleneck, rate);
      ++path.num_hops;
    }
  }
  path.base_rtt = TimePs(rtt_ps);
  path.network_rtt = TimePs(std::max(rtt_ps, network_rtt_ps_));
  path.network_window_bytes = network_window_bytes_;
  return path;
}

int64_t PacketNetwork::WindowCapOf(const PathProperties& path) const {
  double bytes = 0;
  switch (options_.nic.window) {
    case WindowScope::kNone:
      return kNever;
    case WindowScope::kPath:
      bytes = static_cast<double>(path.base_rtt.count()) * 1e-12 *
              static_cast<double>(path.bottleneck.count()) / 8;
      break;
    case WindowScope::kNetwork:
      bytes = static_cast<double>(network_window_bytes_);
      break;
  }
  return std::max<int64_t>(payload_bytes_,
                           std::llround(bytes * options_.nic.window_factor));
}

// Finds the largest round trip and bandwidth-delay product, from the first and
// the last GPU to all others. Clusters are symmetric enough for these two.
void PacketNetwork::SetUpWindow() {
  const uint32_t num_gpus = topology_.num_gpus();
  for (const uint32_t source : {0U, num_gpus - 1}) {
    for (uint32_t target = 0; target < num_gpus; ++target) {
      if (target == source) continue;
      scratch_path_.clear();
      if (!next_hops_.AppendEcmpPath(NodeId(source), NodeId(target),
                                     options_.seed, &scratch_path_)) {
        continue;
      }
      int64_t rtt_ps = 0;
      int64_t rate = kNever;
      for (const LinkId link : scratch_path_) {
        const LinkType& type = topology_.type(link);
        rtt_ps += 2 * type.latency.count() +
                  TransferTime(Bytes(payload_bytes_), type.bandwidth).count();
        rate = std::min(rate, type.bandwidth.count());
      }
      network_rtt_ps_ = std::max(network_rtt_ps_, rtt_ps);
      network_window_bytes_ =
          std::max<int64_t>(network_window_bytes_,
                            std::llround(static_cast<double>(rtt_ps) * 1e-12 *
                                         static_cast<double>(rate) / 8));
    }
  }
}

// Closes a queue pair that is for one message, once no packet of it is left.
void PacketNetwork::MaybeClose(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (options_.nic.queue_pairs != QueuePairs::kPerMessage || !qp.is_open ||
      qp.acked != qp.end || qp.in_network > 0) {
    return;
  }
  LeaveNic(qp);
  qp.is_open = false;
  free_queue_pairs_.push_back(id);
}

}  // namespace astra
