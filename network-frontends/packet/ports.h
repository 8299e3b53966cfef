// The ports of all links, by link, with their properties and rates. Departures
// decides which packets leave them.

#ifndef NETWORK_FRONTENDS_PACKET_PORTS_H_
#define NETWORK_FRONTENDS_PACKET_PORTS_H_

#include <cstddef>
#include <memory_resource>
#include <vector>

#include "astra-core/base/ids.h"
#include "network-frontends/packet/huge_pages.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/port.h"

namespace astra {

// The ports by link, as the parts of the network hold them. The array belongs
// to Ports and never moves.
class PortArray {
 public:
  PortArray(Port* begin, std::pmr::memory_resource* memory)
      : begin_(begin), memory_(memory) {}
  Port& operator[](LinkId link) const { return begin_[link.index()]; }
  // Memory for the packets of ports.
  std::pmr::memory_resource& memory() const { return *memory_; }

 private:
  Port* begin_;
  std::pmr::memory_resource* memory_;
};

class Ports {
 public:
  // `setup` must outlive the ports.
  explicit Ports(const PacketSetup& setup);

  Port& operator[](LinkId link) { return ports_[link.index()]; }
  const Port& operator[](LinkId link) const { return ports_[link.index()]; }
  size_t size() const { return ports_.size(); }
  LinkId LinkOf(const Port& port) const {
    return LinkId(static_cast<uint32_t>(&port - ports_.data()));
  }
  PortArray array() { return PortArray(ports_.data(), &rings_); }

  // Sets the rate of the link to `factor` times the rate of the topology. With
  // 0 the link is down.
  void SetRate(LinkId link, double factor);

  // Sets the probability that a packet is lost on the link.
  void SetErrorRate(LinkId link, double rate) {
    (*this)[link].has_errors = rate > 0;
    (*this)[link].error_rate = rate;
  }

 private:
  const PacketSetup& setup_;
  std::pmr::vector<Port> ports_;  // Port of each link; the array never moves.
  // Rings of packets lie side by side in few pages. What one has outgrown
  // serves another.
  std::pmr::monotonic_buffer_resource pages_{HugePages()};
  std::pmr::unsynchronized_pool_resource rings_{{.max_blocks_per_chunk = 64},
                                                &pages_};
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PORTS_H_
