// Checks of rates, times and names that gen_topo copies into its file as the
// user spells them.

#ifndef ASTRA_CORE_APPS_GEN_TOPO_TEXTS_H_
#define ASTRA_CORE_APPS_GEN_TOPO_TEXTS_H_

#include <string_view>

#include "absl/status/status.h"

namespace astra {

// Checks the value of an option of gen_topo: a rate, or what the names
// "latency", "nv-latency", "error-rate" and "gpu-type" say.
//
// Errors: InvalidArgument "--OPTION: ..." for text of another form.
absl::Status CheckTopologyText(std::string_view option, std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_TOPO_TEXTS_H_
