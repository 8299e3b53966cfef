// Reads and writes systems, and the interconnects and transports that they
// share, as YAML files such as those of inputs/systems.
//
// clang-format off
//   name: dgx-h100
//   aliases: [H100-server]            # Case does not matter; _ equals -.
//   source: [where the facts come from]
//   gpu: h100-sxm                     # A name in inputs/gpus.
//   architecture: hopper              # Or volta, ampere, blackwell.
//   cpu: intel                        # Or amd, arm.
//   gpus_per_server: 8                # GPUs of an NVLink domain.
//   nv_switches_per_server: 4
//   interconnect: nvlink4             # By its name.
//   interconnect_calibration:         # May be absent.
//     origin: what it was fitted to
//     launch_us: 22                   # Constants that differ from nvlink4's.
//     ring: {efficiency: 0.8}
//   transport: infiniband             # Absent: there is no fabric.
//   transport_calibration: ...        # As interconnect_calibration.
//   nics_per_server: 8                # This and the next go with a transport.
//   nic_Gbps: 400
//   max_servers: 128
//   sharp: true                       # Absent: false.
//
// An interconnect:
//
//   name: nvlink4
//   source: [where the facts come from]
//   kind: nvlink                      # Or pcie.
//   GBps: 450                         # One direction, by the data sheet.
//   nccl_GBps: 370.8
//   nvls: true
//   latency_ns: 250
//   peers: 3                          # Only where no switch joins GPUs.
//   calibration:
//     origin: what it was fitted to
//     launch_us: 24
//     graph_launch_us: 16
//     ll_GBps: 147
//     symmetric_us: 8
//     copy_GBps: 1676
//     ring: {efficiency: 0.82, ramp_us: 190, ramp_MiB: 240}
//     tree: {efficiency: 0.7}         # Absent keys are those of ring, as are
//                                     # absent patterns: nvls, nvls_tree,
//                                     # collnet_direct, collnet_chain, pat,
//                                     # direct and symmetric; those of
//                                     # send_recv are those of direct.
// clang-format on
//
// A transport has name, source, fabric_latency_ns, nccl (NCCL's variables as
// its guide sets them; may be absent), and a calibration with origin,
// latency_us, launch_us, one_queue_pair and the patterns. system_spec.h says
// what the keys mean, and inputs/systems/README.md which values they may have.

#ifndef COLLECTIVES_SYSTEMS_SYSTEM_FILE_H_
#define COLLECTIVES_SYSTEMS_SYSTEM_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// Interconnects and transports that a system may name.
struct SystemParts {
  std::vector<Interconnect> interconnects;
  std::vector<Transport> transports;
};

// Reads an interconnect or a transport.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that does not have
// the format above, and for a field that is missing or unknown.
absl::StatusOr<Interconnect> ParseInterconnect(std::string_view file,
                                               std::string_view contents);
absl::StatusOr<Transport> ParseTransport(std::string_view file,
                                         std::string_view contents);

// Reads a system. Errors: those of ParseInterconnect; also InvalidArgument for
// an interconnect or a transport that is not one of `parts`.
absl::StatusOr<SystemSpec> ParseSystem(std::string_view file,
                                       std::string_view contents,
                                       const SystemParts& parts);

// Returns text from which ParseSystem reads the same system. The constants in
// which it differs from `parts` become its own calibration.
//
// Requires that the interconnect, and the transport if any, are of `parts`,
// except for their calibration.
std::string FormatSystem(const SystemSpec& system, const SystemParts& parts);

}  // namespace astra

#endif  // COLLECTIVES_SYSTEMS_SYSTEM_FILE_H_
