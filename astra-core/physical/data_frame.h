// The header in front of the bytes of a message between two ranks.

#ifndef ASTRA_CORE_PHYSICAL_DATA_FRAME_H_
#define ASTRA_CORE_PHYSICAL_DATA_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// Identifies a flow of a collective, and says how many bytes follow.
struct DataFrame {
  static constexpr size_t kBytes = 32;  // Length of an encoded frame.

  uint32_t iteration = 0;
  uint32_t communicator = 0;
  uint32_t number = 0;  // Number of the collective in its communicator.
  FlowId flow;          // Flow of the collective's graph.
  Bytes bytes;          // Bytes that follow the frame.

  friend bool operator==(const DataFrame&, const DataFrame&) = default;
};

// Returns the kBytes bytes of a frame.
std::string Encode(const DataFrame& frame);

// Errors: InvalidArgument for bytes that are no frame.
absl::StatusOr<DataFrame> ParseDataFrame(std::string_view bytes);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_DATA_FRAME_H_
