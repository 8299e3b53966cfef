// DCN+ template: neighbouring servers share a ToR, or two ToRs with --dt.
//
// Source: the template of the same name in SimAI 1.6.

#include <string>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

absl::StatusOr<ClusterParameters> Defaults(const TemplateChoice& choice) {
  if (choice.rail_optimised || choice.dual_plane) {
    return absl::InvalidArgumentError(
        "DCN+ has no rails and one plane: --ro and --dp contradict it; use "
        "-topo Spectrum-X or AlibabaHPN");
  }
  ClusterParameters parameters;
  parameters.dual_tor = choice.dual_tor;
  parameters.num_gpus = 512;
  parameters.bandwidth = choice.dual_tor ? "200Gbps" : "400Gbps";
  parameters.nics_per_asw = choice.dual_tor ? 128 : 64;
  parameters.num_psws = 8;
  parameters.asws_per_psw = 8;
  return parameters;
}

std::string FileName(const ClusterParameters& p) {
  return fmt::format("DCN+{}ToR_{}g_{}gps_{}_{}",
                     p.dual_tor ? "Dual" : "Single", p.num_gpus,
                     p.gpus_per_server, p.bandwidth, p.gpu_type);
}

}  // namespace

TopologyTemplate DcnPlusTemplate() {
  return {"DCN+",
          "no rails, single ToR, 400 Gbps; --dt: dual ToR, 2 x 200 Gbps",
          &Defaults, &FileName};
}

}  // namespace astra
