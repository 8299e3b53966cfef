#include "network-frontends/packet/switch_buffers.h"

#include <algorithm>
#include <cmath>

#include "network-frontends/packet/huge_pages.h"

namespace astra {

SwitchBuffers::SwitchBuffers(const PacketSetup& setup, Ports& ports)
    : setup_(setup), ports_(ports), ingress_(ports.size(), HugePages()) {
  const Topology& topology = setup.topology;
  for (uint32_t n = topology.num_gpus(); n < topology.first_storage(); ++n) {
    SetUp(NodeId(n));
  }
}

// Sets up the buffer of one switch: reserves and headrooms come out of it, and
// the rest is shared.
void SwitchBuffers::SetUp(NodeId node) {
  const SwitchOptions& options = setup_.SwitchOf(node);
  Switch made;
  made.node = node;
  SharedBuffer& buffer = made.buffer;
  buffer.is_lossless = options.pfc;
  buffer.share = options.buffer_share;
  buffer.resume_offset_bytes = options.resume_offset.count();
  buffer.buffer_bytes = options.buffer.count();
  buffer.shared_bytes = buffer.buffer_bytes;
  if (options.pfc) buffer.reserve_bytes = options.reserve.count();
  for (const LinkId out : setup_.topology.links_from(node)) {
    Port& port = ports_[out];
    port.at = SwitchId(static_cast<uint32_t>(switches_.size()));
    port.marks = options.ecn;
    if (!options.pfc) continue;
    IngressBuffer& in = ingress_[Reverse(out).index()];
    in.headroom_bytes = HeadroomOf(Reverse(out), options).count();
    buffer.shared_bytes -= in.headroom_bytes + buffer.reserve_bytes;
  }
  // If headrooms use up the whole buffer, ports have only their reserve and
  // headroom, as long as the buffer has memory for them.
  buffer.shared_bytes = std::max<int64_t>(buffer.shared_bytes, 0);
  switches_.push_back(made);
}

// Returns the bytes that may still arrive on a link after its target has told
// the source to pause: bytes that are on the way while the frame is, a packet
// that has begun, and one that the frame waits for.
Bytes SwitchBuffers::HeadroomOf(LinkId link,
                                const SwitchOptions& options) const {
  const TimePs both_ways =
      ports_[link].propagation + ports_[Reverse(link)].propagation;
  const double bytes_per_ps =
      static_cast<double>(ports_[link].nominal_rate.count()) / 8e12;
  return Bytes(std::llround(options.headroom_factor / 2 *
                            static_cast<double>(both_ways.count()) *
                            bytes_per_ps)) +
         2 * setup_.full + options.headroom_extra;
}

Added SwitchBuffers::Add(const Port& port, LinkId ingress, Bytes size) {
  Switch& at = switches_[port.at.index()];
  IngressBuffer& from = ingress_[ingress.index()];
  if (!at.buffer.HasRoom(from, port.queued.count(), size.count())) {
    return Added::kNoRoom;
  }
  at.buffer.Add(from, size.count());
  if (!at.buffer.ShouldPause(from)) return Added::kFits;
  from.has_paused = true;
  if (at.buffer.num_paused++ > 0) return Added::kPauses;
  SetWatched(at.node, true);
  return Added::kPausesFirst;
}

void SwitchBuffers::Release(const Port& port, Packet& packet) {
  packet.Clear(Packet::kBuffered);
  Switch& at = switches_[port.at.index()];
  IngressBuffer& from = ingress_[packet.ingress.index()];
  at.buffer.Remove(from, packet.bytes);
  if (!at.buffer.ShouldResume(from)) return;
  from.has_paused = false;
  if (--at.buffer.num_paused == 0) SetWatched(at.node, false);
  Tell({packet.ingress, false});
}

void SwitchBuffers::SetWatched(NodeId node, bool is_watched) {
  for (const LinkId link : setup_.topology.links_from(node)) {
    ports_[link].is_watched = is_watched;
  }
}

}  // namespace astra
