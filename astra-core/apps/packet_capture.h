// Writes the packets that left on one link to a file for Wireshark.

#ifndef ASTRA_CORE_APPS_PACKET_CAPTURE_H_
#define ASTRA_CORE_APPS_PACKET_CAPTURE_H_

#include <string>

#include "absl/types/span.h"
#include "network-frontends/network_statistics.h"

namespace astra {

// Returns a pcapng file of RoCEv2 and PFC frames. A RoCEv2 frame has only its
// headers, and its length on the wire. Node n has the addresses 10.a.b.c and
// 02:00:00:a:b:c, where n = 65536 a + 256 b + c. A queue pair has the number of
// its channel. Timestamps are in nanoseconds, rounded down.
//
// Source: IETF draft-ietf-opsawg-pcapng (the file); InfiniBand specification
// 1.3, 9.2 (base transport header), 9.5.1 (AETH) and annex A17 (RoCEv2); IEEE
// 802.1Qbb (PFC).
std::string PcapngFile(absl::Span<const CapturedPacket> packets);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PACKET_CAPTURE_H_
