#include "workload/phase.h"

namespace astra {

std::string_view Name(Phase phase) {
  constexpr std::string_view kNames[] = {"fwd", "ig", "wg"};
  return kNames[IndexOf(phase)];
}

}  // namespace astra
