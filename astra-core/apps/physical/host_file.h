// Reads a host file: the hosts on which ranks run, in the form of Open MPI's
// host files. A line has the name of a host, the number of ranks that it can
// hold, the address at which ranks of other hosts reach them, and the devices
// over which they send, of which each rank gets one, in turn.
//
// clang-format off
//   node1 slots=8
//   node2 slots=8 address=10.0.0.2   # A comment.
//   node3 slots=2 device=mlx5_0,mlx5_1
// clang-format on
//
// Ranks are numbered in the order of the lines: node1 has the ranks 0 to 7.

#ifndef ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_
#define ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// Tells where a launcher starts one rank, and how other ranks reach it.
struct RankPlace {
  std::string host;     // Name of the host for the remote shell.
  std::string address;  // Address of the rank for others; see RankSetting.
  std::string devices;  // Devices of the line, with commas; "" if it has none.
  uint32_t local_rank = 0;  // Place of the rank on its line.

  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

// Returns the places of `num_ranks` ranks. A host without slots holds one rank.
// `file` names the file in error messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line of another form,
// and "FILE: ..." if there are fewer slots than ranks.
absl::StatusOr<std::vector<RankPlace>> ParseHostFile(std::string_view file,
                                                     std::string_view contents,
                                                     uint32_t num_ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_
