// How a collective gets to the GPU, which decides the least time that it takes.

#ifndef COLLECTIVES_LAUNCH_H_
#define COLLECTIVES_LAUNCH_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

enum class Launch : uint8_t {
  kQueued,  // Behind other work of its stream: the launch is hidden.
  kGraph,   // From a CUDA graph.
  kHost,  // From the host, one collective after the other, as nccl-tests does.
};

// Returns the spelling in options and results: "queued", "graph" or "host".
std::string_view Name(Launch launch);

// Returns the launch that an option names.
//
// Errors: InvalidArgument, with the names there are, for any other name.
absl::StatusOr<Launch> FindLaunch(std::string_view name);

}  // namespace astra

#endif  // COLLECTIVES_LAUNCH_H_
