// NVL template: racks in which one NVLink domain spans 72 GPUs (or 36), joined
// by a rail-optimised scale-out network.
//
// Defaults and their sources:
//   72 GPUs per rack, 18 NVSwitch chips (9 trays of 2), 36 Grace CPUs
//       NVIDIA, "GB200 NVL72" data sheet and product page, 2024. NVL36 has half
//       the GPUs below 9 chips.
//   1.8 TB/s of NVLink 5 per GPU in both directions together: 18 links of 50
//       GB/s each way, hence 7,200 Gbps each way
//       NVIDIA, "Blackwell Architecture Technical Brief", 2024. A chip has 72
//       ports, so a GPU has 1 link to each of 18 chips, or 2 to each of 9.
//   4 rails of 400 Gbps: a compute tray has 4 GPUs and 4 ConnectX-7 NICs
//       NVIDIA, "GB200 NVL72" product page, 2024.
//   576 GPUs: 8 racks, one scalable unit
//       NVIDIA, "DGX SuperPOD with DGX GB200 Reference Architecture", 2024.
//   ASWs and PSWs with 36 ports down: our choice. A segment is then 2 racks,
//       without oversubscription, on 128-port 400 Gbps switches (NVIDIA
//       Spectrum-4 SN5600, 64 x 800 Gbps or 128 x 400 Gbps), whose ports also
//       limit a PSW.

#include <string>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

absl::StatusOr<ClusterParameters> Defaults(const TemplateChoice& choice) {
  if (choice.dual_tor || choice.dual_plane) {
    return absl::InvalidArgumentError(
        "NVL has one ToR and one plane: --dt and --dp contradict it");
  }
  const int64_t gpus_per_rack = choice.gpus_per_server.value_or(72);
  if (gpus_per_rack != 36 && gpus_per_rack != 72) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus-per-server is {}: racks of NVL have 36 or 72 GPUs",
                    gpus_per_rack));
  }
  ClusterParameters parameters;
  parameters.rail_optimised = true;
  parameters.num_rails = 4;
  parameters.num_gpus = 576;
  parameters.gpus_per_server = gpus_per_rack;
  parameters.nv_switches_per_server = gpus_per_rack / 4;
  parameters.nvlink_bandwidth = gpus_per_rack == 72 ? "400Gbps" : "800Gbps";
  parameters.gpu_type = "GB200";
  parameters.nics_per_asw = 36;
  parameters.num_psws = 36;
  parameters.asws_per_psw = 128;
  return parameters;
}

std::string FileName(const ClusterParameters& p) {
  return fmt::format("NVL_{}g_{}gps_{}_{}", p.num_gpus, p.gpus_per_server,
                     p.bandwidth, p.gpu_type);
}

}  // namespace

TopologyTemplate NvlTemplate() {
  return {"NVL", "racks of 72 (or 36) GPUs in one NVLink 5 domain, 4 rails",
          &Defaults, &FileName};
}

}  // namespace astra
