// A train: the packets that a host's kernel hands over in one piece.
//
// A TUN device with IFF_VNET_HDR passes up to 64 KiB of one TCP connection as
// one IPv4 packet, with the size of the segments that it stands for. This class
// says which packets those are, and forms a piece again out of a run of them,
// as a NIC that receives several at once does.
//
// Usage:
//   ASTRA_ASSIGN_OR_RETURN(const TcpTrain train, TcpTrain::Parse(piece));
//   train.WireBytes(3);                 // Size of the fourth packet.
//   train.Cut(2, 3, &headers);          // Headers of packets 2 to 4.
//
// A piece that is no such TCP packet is a train of one packet.
//
// Sources: virtio 1.2, 5.1.6 (the header of a piece); RFC 9293 (TCP); Linux,
// net/ipv4/tcp_offload.c (fields of segments).

#ifndef ASTRA_CORE_APPS_TESTBED_TCP_TRAIN_H_
#define ASTRA_CORE_APPS_TESTBED_TCP_TRAIN_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {

class TcpTrain {
 public:
  // Size of the virtio header before each piece.
  static constexpr size_t kPrefix = 10;
  // The largest piece with its virtio header.
  static constexpr size_t kMaxPiece = kPrefix + 65535;
  // What Ethernet adds to an IP packet on the wire: header 14, FCS 4, preamble
  // 8, gap 12. Source: IEEE 802.3.
  static constexpr Bytes kEthernet{38};

  // Reads the headers of `piece`, which starts with a virtio header.
  //
  // Errors: InvalidArgument for anything that is not a whole IPv4 packet, or
  // whose headers contradict one another.
  static absl::StatusOr<TcpTrain> Parse(absl::Span<const uint8_t> piece);

  // Returns the IPv4 address of the receiver as a number.
  uint32_t target() const { return target_; }

  uint32_t num_packets() const { return num_packets_; }

  // Returns the size on the wire of packet `index`.
  Bytes WireBytes(uint32_t index) const {
    return kEthernet + Bytes(static_cast<int64_t>(headers_ + PayloadOf(index)));
  }

  // Headers of a run of packets, virtio header included.
  struct Run {
    std::array<uint8_t, kPrefix + 120> headers;
    size_t headers_size = 0;
    size_t payload_begin = 0;  // Begin of the run's payload in the piece.
    size_t payload_size = 0;
  };

  // Returns the run of `count` packets from packet `first` on. `piece` is that
  // of Parse().
  Run Cut(absl::Span<const uint8_t> piece, uint32_t first,
          uint32_t count) const;

 private:
  TcpTrain() = default;

  size_t PayloadOf(uint32_t index) const {
    return index + 1 < num_packets_ ? segment_
                                    : payload_ - size_t{index} * segment_;
  }

  uint32_t target_ = 0;
  uint32_t num_packets_ = 1;
  size_t ip_header_ = 0;  // Size of the IP header.
  size_t headers_ = 0;    // Size of the IP and TCP headers.
  size_t payload_ = 0;    // Bytes behind the headers.
  size_t segment_ = 0;    // Payload of each packet but the last.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_TCP_TRAIN_H_
