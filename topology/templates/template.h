// A named cluster design, from whose parameters `gen_topo -topo NAME` starts.

#ifndef TOPOLOGY_TEMPLATES_TEMPLATE_H_
#define TOPOLOGY_TEMPLATES_TEMPLATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/cluster.h"

namespace astra {

// Options on which the defaults of a template depend.
struct TemplateChoice {
  bool rail_optimised = false;
  bool dual_tor = false;
  bool dual_plane = false;
  std::optional<int64_t> gpus_per_server;
};

struct TopologyTemplate {
  std::string_view name;         // Spelling after -topo.
  std::string_view description;  // One line for --help.

  // Returns the parameters that hold where the user gives none.
  //
  // Errors: InvalidArgument if `choice` contradicts the design.
  absl::StatusOr<ClusterParameters> (*defaults)(const TemplateChoice& choice);

  // Returns the default name of the file for `parameters`: the name of SimAI's
  // generator, followed by the number of pods if there are several.
  std::string (*file_name)(const ClusterParameters& parameters);
};

}  // namespace astra

#endif  // TOPOLOGY_TEMPLATES_TEMPLATE_H_
