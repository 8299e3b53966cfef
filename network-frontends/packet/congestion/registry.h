// Registry of the congestion controls.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/congestion_options.h"

namespace astra {

struct CongestionControlEntry {
  std::string_view name;         // Spelling in files and options.
  std::string_view description;  // One line.
  std::unique_ptr<CongestionControl> (*make)(const CongestionOptions& options);
};

// Returns all congestion controls, ordered by name.
absl::Span<const CongestionControlEntry> CongestionControls();

// Errors: InvalidArgument, with the nearest name, if no control has the name.
absl::StatusOr<const CongestionControlEntry*> FindCongestionControl(
    std::string_view name);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_REGISTRY_H_
