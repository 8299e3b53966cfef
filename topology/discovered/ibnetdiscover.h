// Reads what `ibnetdiscover` of infiniband-diags prints: the switches, channel
// adapters and routers of an InfiniBand fabric, and the cables between them.
//
// clang-format off
//   vendid=0x2c9
//   switchguid=0xfc6a1c0300a1b200(fc6a1c0300a1b200)
//   Switch 65 "S-fc6a1c0300a1b200"  # "leaf1" enhanced port 0 lid 3 lmc 0
//   [1]  "H-a088c20300000100"[1](a088c20300000100)  # "node1 mlx5_0" lid 21 4xNDR
//   [33] "S-fc6a1c0300a1c300"[1]    # "spine1" lid 5 4xNDR
//
//   caguid=0xa088c20300000100
//   Ca 1 "H-a088c20300000100"       # "node1 mlx5_0"
//   [1](a088c20300000100) "S-fc6a1c0300a1b200"[1]  # lid 21 lmc 0 "leaf1" lid 3 4xNDR
// clang-format on
//
// A block begins with a line `Switch`, `Ca` or `Rt`: ports, id, and the
// description in quotes. A line follows for each port that has a cable: its
// number, the id and port of the peer, and behind the last quote the lid of the
// peer, then width and speed. Lines of ids, of chassis (-g), comments and blank
// lines have no effect, nor has what stands behind width and speed (-f).
//
// The rate of a cable is width times the nominal rate of a lane: SDR 2.5, DDR
// 5, QDR and FDR10 10, FDR 14, EDR 25, HDR 50, NDR 100, XDR 200 Gbps.
//
// Sources: rdma-core 50, infiniband-diags/ibnetdiscover.c and its manual page
// (form); InfiniBand Trade Association, InfiniBand Roadmap (rates).

#ifndef TOPOLOGY_DISCOVERED_IBNETDISCOVER_H_
#define TOPOLOGY_DISCOVERED_IBNETDISCOVER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

enum class IbNodeKind : uint8_t { kSwitch, kAdapter, kRouter };

// A port that has a cable.
struct IbPort {
  uint32_t number = 0;
  uint32_t line = 0;       // Line of the file.
  uint32_t peer = 0;       // Index of the node at the other end.
  uint32_t peer_port = 0;  // Number of the port at the other end.
  Bandwidth rate;
  std::string speed;  // Width and speed, as in the file: "4xNDR".
};

struct IbNode {
  IbNodeKind kind = IbNodeKind::kSwitch;
  uint32_t line = 0;        // Line of the file.
  std::string id;           // Such as "S-fc6a1c0300a1b200".
  std::string description;  // Such as "node1 mlx5_0"; may be empty.
  std::vector<IbPort> ports;
};

struct IbFabric {
  std::vector<IbNode> nodes;  // In the order of the file.
};

// Parses `contents`; `file` names it in messages. Every cable of the result is
// listed at both of its ends.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line of another form,
// an unknown width or speed, a node or port that is there twice, a peer without
// a block, and a cable that its ends list differently.
absl::StatusOr<IbFabric> ParseIbnetdiscover(std::string_view file,
                                            std::string_view contents);

// Returns the description of a node in quotes, or its id if there is none.
std::string IbNodeName(const IbNode& node);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_IBNETDISCOVER_H_
