// custom template, the same as no -topo: --ro, --dt and --dp choose the layout.
//
// Source: the behaviour of SimAI 1.6 without a template.

#include <string>

#include "absl/status/statusor.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

absl::StatusOr<ClusterParameters> Defaults(const TemplateChoice& choice) {
  ClusterParameters parameters;
  parameters.rail_optimised = choice.rail_optimised;
  parameters.dual_tor = choice.dual_tor;
  parameters.dual_plane = choice.dual_plane;
  return parameters;
}

std::string FileName(const ClusterParameters& p) {
  const std::string size =
      fmt::format("{}g_{}gps", p.num_gpus, p.gpus_per_server);
  const std::string make = fmt::format("{}_{}", p.bandwidth, p.gpu_type);
  if (!p.rail_optimised) {
    return fmt::format("No_Rail_Opti_{}_{}ToR_{}", size,
                       p.dual_tor ? "Dual" : "Single", make);
  }
  if (!p.dual_tor) {
    return fmt::format("Rail_Opti_SingleToR_{}_{}", size, make);
  }
  return fmt::format("Rail_Opti_{}_DualToR_{}Plane_{}", size,
                     p.dual_plane ? "Dual" : "Single", make);
}

}  // namespace

TopologyTemplate CustomTemplate() {
  return {"custom", "the layout that --ro, --dt and --dp say; the default",
          &Defaults, &FileName};
}

}  // namespace astra
