// Spectrum-X template: rail-optimised, single ToR, 64 ASWs and 64 PSWs per pod
// of 4,096 GPUs.
//
// Source: the template of the same name in SimAI 1.6.

#include <string>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

absl::StatusOr<ClusterParameters> Defaults(const TemplateChoice& choice) {
  if (choice.dual_tor || choice.dual_plane) {
    return absl::InvalidArgumentError(
        "Spectrum-X has one ToR and one plane: --dt and --dp contradict it; "
        "use -topo AlibabaHPN, or --ro --dt without -topo");
  }
  ClusterParameters parameters;
  parameters.rail_optimised = true;
  parameters.num_gpus = 4096;
  return parameters;
}

std::string FileName(const ClusterParameters& p) {
  return fmt::format("Spectrum-X_{}g_{}gps_{}_{}", p.num_gpus,
                     p.gpus_per_server, p.bandwidth, p.gpu_type);
}

}  // namespace

TopologyTemplate SpectrumXTemplate() {
  return {"Spectrum-X", "rail-optimised, single ToR, 400 Gbps", &Defaults,
          &FileName};
}

}  // namespace astra
