// Reads the topology file that NCCL writes with NCCL_TOPO_DUMP_FILE as a type
// of server.
//
// clang-format off
//   <system version="1">
//     <cpu host_hash="0x1f" numaid="0" arch="x86_64" vendor="GenuineIntel">
//       <pci busid="0000:15:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
//         <pci busid="0000:18:00.0" class="0x030200" device="0x2330" ...>
//           <gpu dev="0" sm="90" rank="0" gdr="1">
//             <nvlink target="0000:06:00.0" count="5" tclass="0x068000"/>
//           </gpu>
//         </pci>
//         <pci busid="0000:19:00.0" class="0x020700" ...>
//           <nic>
//             <net name="mlx5_0" dev="0" speed="400000" port="1" gdr="1"/>
//           </nic>
//         </pci>
//       </pci>
//     </cpu>
//   </system>
// clang-format on
//
// The model:
//
//   order of GPUs   by `rank` if all have one, else by `dev`
//   NVSwitches      one switch. A GPU has the rate of its links to NVSwitches,
//                   which have a `tclass` of 0x0680.., or a target that ends in
//                   ff:ff.0 or ff:ff where the driver hides it
//   NVLink          a link to another GPU is a cable; several are one cable of
//                   their whole rate. `sm` tells the rate of a link
//   PCIe            one switch with the PCIe rate of a GPU, only if NVLink
//                   does not join all GPUs
//   NICs            those nearest to a GPU: the fewest PCI bridges between
//                   them, else on the same CPU, else on the same host. GPUs
//                   to which the same NICs are nearest divide these evenly:
//                   each has its own, or neighbours share one
//
// Delays are not in the file and are those of the systems of inputs/systems.
// NICs that are nearest to no GPU are left out. What has no effect here is a
// warning: C2C links, NICs without GPUDirect (gdr="0"), latencies of NICs.
//
// Sources: NVIDIA NCCL 2.27, src/graph/xml.cc and src/graph/topo.cc (elements,
// attributes, classes); NVIDIA's white papers of P100, V100, A100, H100 and
// Blackwell (rate of a link); pci.ids (device numbers of GPUs); PCI Express
// Base Specification (transfers of one bit a lane).

#ifndef TOPOLOGY_DISCOVERED_NCCL_TOPOLOGY_H_
#define TOPOLOGY_DISCOVERED_NCCL_TOPOLOGY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "topology/fabrics/server.h"

namespace astra {

// Parses `contents`; `file` names it in messages and is the name of the type.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that does not have
// this form, for what is missing, for two GPUs of one rank, or of one bus id on
// a host, for links of a GPU to itself, and for servers that are not modelled:
// GPUs with NVSwitches beside GPUs without, NICs of different rates.
absl::StatusOr<ServerType> ParseNcclTopology(std::string_view file,
                                             std::string_view contents,
                                             Warnings* warnings);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_NCCL_TOPOLOGY_H_
