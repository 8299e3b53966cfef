// The packet buffers of all switches, and the pauses that they call for.
//
//   if (!buffers.AddIfEasy(port, ingress, size)) {  // The packet must wait.
//     ... bring all ports of the switch up to now ...
//     buffers.Add(port, ingress, size);
//   }
//   buffers.Release(port, packet);              // It begins to leave.
//
// A packet gives its memory back when it begins to leave, which is worked out
// late, so the count of a switch may be too high. AddIfEasy accepts packets
// that certainly fit all the same; before Add, the count must be exact.
//
// Changes of pauses are queued here, because ports must not be changed while
// another port is being changed; Forwarding sends their frames. shared_buffer.h
// has the rules for one switch.

#ifndef NETWORK_FRONTENDS_PACKET_SWITCH_BUFFERS_H_
#define NETWORK_FRONTENDS_PACKET_SWITCH_BUFFERS_H_

#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/shared_buffer.h"

namespace astra {

// A frame to be sent against the direction of `ingress`.
struct PauseChange {
  LinkId ingress;
  bool is_pause = false;  // False: resume.
};

// What became of a packet that asked for memory.
enum class Added : uint8_t {
  kNoRoom,
  kFits,
  kPauses,       // It fits, and its incoming link is to be paused.
  kPausesFirst,  // Likewise, and no other link of the switch is paused.
};

class SwitchBuffers {
 public:
  // Tells each port of `ports` its switch. Both must outlive the buffers.
  SwitchBuffers(const PacketSetup& setup, Ports& ports);

  // Takes memory at the switch of `port` for a packet that came on `ingress`
  // and must wait. Returns false if it might not fit or might cause a pause.
  bool AddIfEasy(const Port& port, LinkId ingress, Bytes size) {
    SharedBuffer& buffer = switches_[port.at.index()].buffer;
    IngressBuffer& from = ingress_[ingress.index()];
    if (!buffer.IsEasy(from, port.queued.count(), size.count())) return false;
    buffer.AddWithin(from, size.count());
    return true;
  }

  // Does the same with an exact count. On kPausesFirst, the ports of the switch
  // become watched: each departure may end a pause, so it must be an event.
  Added Add(const Port& port, LinkId ingress, Bytes size);

  // Frees the memory of a packet that begins to leave `port`.
  void Release(const Port& port, Packet& packet);

  // Queues a frame.
  void Tell(PauseChange change) { changes_.push_back(change); }
  bool has_changes() const { return !changes_.empty(); }
  std::vector<PauseChange> TakeChanges() { return std::exchange(changes_, {}); }

  // Returns whether the switch at the end of `link` requires a pause.
  bool HasPaused(LinkId link) const {
    return ingress_[link.index()].has_paused;
  }

  size_t size() const { return switches_.size(); }
  const SharedBuffer& BufferAt(SwitchId id) const {
    return switches_[id.index()].buffer;
  }
  // Sets memory of a switch aside; see SharedBuffer.
  void SetAside(SwitchId id, int64_t bytes, int64_t largest_bytes) {
    SharedBuffer& buffer = switches_[id.index()].buffer;
    buffer.aside_bytes = bytes;
    buffer.largest_aside_bytes = largest_bytes;
  }
  // Returns the most bytes that were in use since the last call.
  int64_t TakePeak(SwitchId id) {
    SharedBuffer& buffer = switches_[id.index()].buffer;
    return std::exchange(buffer.max_used_bytes, buffer.used_bytes);
  }

 private:
  // A switch of the fabric or an NVSwitch.
  struct Switch {
    SharedBuffer buffer;
    NodeId node;
  };

  void SetUp(NodeId node);
  Bytes HeadroomOf(LinkId link, const SwitchOptions& options) const;
  void SetWatched(NodeId node, bool is_watched);

  const PacketSetup& setup_;
  Ports& ports_;
  std::vector<Switch> switches_;
  std::pmr::vector<IngressBuffer> ingress_;  // Buffer of each link's target.
  std::vector<PauseChange> changes_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SWITCH_BUFFERS_H_
