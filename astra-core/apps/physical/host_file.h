// Reads the hosts on which ranks run, in the form of Open MPI's host files.
//
//   node1 slots=8
//   node2 slots=8 address=10.0.0.2   # Where others reach its ranks.
//
// Ranks are counted in this order: node1 has 0 to 7.

#ifndef ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_
#define ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// The place of one rank.
struct RankPlace {
  std::string host;     // Name that the remote shell knows.
  std::string address;  // Of the host; empty: the one it joins from.

  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

// Returns the places of `num_ranks` ranks. `file` names the contents in
// messages. A line without slots has one.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not of this
// form, and
// "FILE: ..." for fewer slots than ranks.
absl::StatusOr<std::vector<RankPlace>> ParseHostFile(std::string_view file,
                                                     std::string_view contents,
                                                     uint32_t num_ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_HOST_FILE_H_
