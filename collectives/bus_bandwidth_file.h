// Reads bus bandwidths that a user has measured. They replace the bandwidths
// that follow from the topology.
//
// The format is that of SimAI's busbw.yaml: a name in the first line, then for
// each dimension a line with its keys below it, in GB/s (10^9 bytes per
// second).
//
//   test
//   TP:
//     allreduce,: 300
//     alltoall,: null
//   PP:
//     busbw: 47.5
//
// The comma of the keys may be left out; "null" leaves the value to the
// topology; "#" begins a comment. (This is not quite YAML: the name is no key.)
// The value of "alltoall" also holds for dispatches and combines.

#ifndef COLLECTIVES_BUS_BANDWIDTH_FILE_H_
#define COLLECTIVES_BUS_BANDWIDTH_FILE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/parallel_dimension.h"
#include "collectives/closed_form.h"

namespace astra {

// Returns the collective whose bus bandwidth holds for `kind`: an all-to-all
// for a dispatch or a combine, `kind` itself for all others.
constexpr CollectiveKind BandwidthKindOf(CollectiveKind kind) {
  return IsAllToAll(kind) ? CollectiveKind::kAllToAll : kind;
}

class BusBandwidths {
 public:
  // Returns the bus bandwidth in GB/s of BandwidthKindOf(kind), or nullopt
  // where the topology decides.
  std::optional<double> Find(ParallelDimension dimension,
                             CollectiveKind kind) const;

  void Set(ParallelDimension dimension, CollectiveKind kind, double gb_per_s) {
    gb_per_s_[{dimension, BandwidthKindOf(kind)}] = gb_per_s;
  }

  bool empty() const { return gb_per_s_.empty(); }

  // All bandwidths that were set, in GB/s.
  using Entries =
      std::map<std::pair<ParallelDimension, CollectiveKind>, double>;
  const Entries& entries() const { return gb_per_s_; }

 private:
  Entries gb_per_s_;
};

// Returns the time of a collective that runs at a bus bandwidth of `gb_per_s`,
// whatever its size.
ClosedForm AtBusBandwidth(CollectiveKind kind, uint32_t num_ranks,
                          double gb_per_s);

// Reads bus bandwidths from `contents`.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for an unknown dimension or
// key, a repeated one, or a value that is neither null nor a number from 1e-6
// to 1e6.
absl::StatusOr<BusBandwidths> ParseBusBandwidths(std::string_view file,
                                                 std::string_view contents);

// Applies ParseBusBandwidths to the file `path`. Errors: also those of
// ReadFile.
absl::StatusOr<BusBandwidths> ReadBusBandwidths(const std::string& path);

}  // namespace astra

#endif  // COLLECTIVES_BUS_BANDWIDTH_FILE_H_
