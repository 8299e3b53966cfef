// Finds which thread block of MSCCL receives what another one sends.

#ifndef COLLECTIVES_SCHEDULES_MSCCL_CONNECTIONS_H_
#define COLLECTIVES_SCHEDULES_MSCCL_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/schedules/msccl_algorithm.h"

namespace astra {

// Connections of thread blocks, which are numbered through all GPUs.
struct MscclConnections {
  // A connection goes from one GPU to another on one channel. It has both
  // blocks if anything is sent.
  struct Ends {
    std::optional<size_t> sender;
    std::optional<size_t> receiver;
  };
  std::vector<Ends> ends;

  // By block: index into `ends`.
  std::vector<std::optional<size_t>> sends_to;
  std::vector<std::optional<size_t>> receives_from;
};

// Returns the connections of `algorithm`.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." if two blocks are at the same
// end of a connection, or one end sends other messages than the other receives.
absl::StatusOr<MscclConnections> ConnectMsccl(std::string_view file,
                                              const MscclAlgorithm& algorithm);

// Returns a name such as "thread block 3 of gpu 1".
std::string NameOfBlock(uint32_t gpu, const MscclBlock& block);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_CONNECTIONS_H_
