#include "astra-core/run/fidelity.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"

namespace astra {

std::string_view Name(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::kClosedForm:
      return "closed-form";
    case Fidelity::kAnalytical:
      return "analytical";
    case Fidelity::kFlow:
      return "flow";
    case Fidelity::kPacket:
      return "packet";
  }
  ASTRA_CHECK(false, "fidelity {}", static_cast<int>(fidelity));
}

std::string_view Describe(Fidelity fidelity) {
  const BackendEntry* network = NetworkOf(fidelity);
  return network == nullptr ? "a formula for each collective, without messages"
                            : network->description;
}

absl::StatusOr<Fidelity> FindFidelity(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Fidelity fidelity : kFidelities) {
    if (Name(fidelity) == name) return fidelity;
    names.push_back(Name(fidelity));
  }
  return absl::InvalidArgumentError(UnknownName("--fidelity", name, names));
}

const BackendEntry* NetworkOf(Fidelity fidelity) {
  if (fidelity == Fidelity::kClosedForm) return nullptr;
  const absl::StatusOr<const BackendEntry*> network =
      FindBackend(Name(fidelity));
  ASTRA_CHECK(network.ok(), "{}", network.status().ToString());
  return *network;
}

}  // namespace astra
