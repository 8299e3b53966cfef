// How exactly a run models the time of collectives and messages.
//
// All programs have the same fidelities. A fidelity is either the closed form,
// in which a collective is one delay, or a network of network-frontends, on
// which a collective is its messages.

#ifndef ASTRA_CORE_RUN_FIDELITY_H_
#define ASTRA_CORE_RUN_FIDELITY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "network-frontends/registry/registry.h"

namespace astra {

// From the fastest to the most exact.
enum class Fidelity : uint8_t { kClosedForm, kAnalytical, kFlow, kPacket };
inline constexpr Fidelity kFidelities[] = {Fidelity::kClosedForm,
                                           Fidelity::kAnalytical,
                                           Fidelity::kFlow, Fidelity::kPacket};

// Returns the spelling in options and results: "closed-form", or the name of
// the network.
std::string_view Name(Fidelity fidelity);

// Returns one line for help and completions.
std::string_view Describe(Fidelity fidelity);

// Returns the fidelity that an option names.
//
// Errors: InvalidArgument, with the names there are, for any other name.
absl::StatusOr<Fidelity> FindFidelity(std::string_view name);

// Returns the network that carries the messages; null for the closed form.
const BackendEntry* NetworkOf(Fidelity fidelity);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_FIDELITY_H_
