#include "astra-core/jobs/checkpoint_state.h"

#include <cmath>

namespace astra {

std::vector<std::string_view> CheckpointStateNames() {
  std::vector<std::string_view> names;
  for (const CheckpointState& state : kCheckpointStates) {
    names.push_back(state.name);
  }
  return names;
}

Bytes CheckpointBytes(const CheckpointState& state, double parameters) {
  return Bytes(std::llround(static_cast<double>(state.bytes_per_parameter) *
                            parameters));
}

}  // namespace astra
