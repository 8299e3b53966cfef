// AlibabaHPN template: rail-optimised with dual ToR, 200 Gbps to each ToR. With
// --dp the two ToRs of a rail belong to two planes that meet nowhere.
//
// Source: the template of the same name in SimAI 1.6. The design is from K.
// Qian et al., "Alibaba HPN: A Data Center Network for Large Language Model
// Training", SIGCOMM 2024.

#include <string>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

absl::StatusOr<ClusterParameters> Defaults(const TemplateChoice& choice) {
  ClusterParameters parameters;
  parameters.rail_optimised = true;
  parameters.dual_tor = true;
  parameters.dual_plane = choice.dual_plane;
  parameters.num_gpus = 15360;
  parameters.bandwidth = "200Gbps";
  parameters.nics_per_asw = 128;
  parameters.num_psws = 120;
  parameters.asws_per_psw = choice.dual_plane ? 120 : 240;
  return parameters;
}

std::string FileName(const ClusterParameters& p) {
  return fmt::format("AlibabaHPN_{}g_{}gps_DualToR_{}Plane_{}_{}", p.num_gpus,
                     p.gpus_per_server, p.dual_plane ? "Dual" : "Single",
                     p.bandwidth, p.gpu_type);
}

}  // namespace

TopologyTemplate AlibabaHpnTemplate() {
  return {"AlibabaHPN",
          "rail-optimised, dual ToR, 2 x 200 Gbps; --dp: 2 planes", &Defaults,
          &FileName};
}

}  // namespace astra
