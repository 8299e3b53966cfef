// Times collectives of the groups that layouts form, as the closed form of an
// iteration does, fast enough for millions of layouts.
//
// All groups of the cluster that have the same shape run at once, and the
// slowest counts. The time is found for powers of two of the
// bytes, once each, and is linear between them.

#ifndef ASTRA_CORE_PLANNER_GROUP_SECONDS_H_
#define ASTRA_CORE_PLANNER_GROUP_SECONDS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"

namespace astra {

// Ranks `stride` apart, or several such runs of ranks, `run_stride` apart.
struct RankGroup {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t runs = 1;
  int64_t run_stride = 1;

  int64_t num_ranks() const { return size * runs; }

  friend auto operator<=>(const RankGroup&, const RankGroup&) = default;
};

// Returns the group of `inner` ranks in each of `outer` runs. Runs that follow
// one another are one.
RankGroup GroupOf(RankGroup inner, RankGroup outer);

// Returns the ranks of all groups of this shape among `num_ranks` ranks,
// ordered by their first rank.
std::vector<std::vector<RankId>> RanksOfGroups(RankGroup group,
                                               int64_t num_ranks);

// How the messages of a collective leave servers.
struct WireTraffic {
  std::string_view algorithm;  // Name in collectives/registry.h.
  // Bytes between servers for each byte that the algorithm sends there; see
  // NcclMessages.
  double bytes_per_byte = 1;
};

class GroupSeconds {
 public:
  // All must outlive the object, which times groups of the first `num_ranks`
  // GPUs.
  GroupSeconds(const SystemSpec& system, const NcclOptions& options,
               Routes& routes, int64_t num_ranks)
      : system_(system),
        options_(options),
        routes_(routes),
        num_ranks_(num_ranks) {}

  // Returns the seconds of a collective over a buffer of `bytes`; 0 for a group
  // of one rank and for no bytes. After an error it returns 0, and TakeStatus()
  // has the first error: those of CollectiveTimes.
  double Of(CollectiveKind kind, RankGroup group, int64_t bytes);

  // Returns how the first of the groups that span servers sends; none if no
  // group does, and for no bytes. What it says of `bytes` is that of the power
  // of two below. Errors are those of Of().
  std::optional<WireTraffic> TrafficOf(CollectiveKind kind, RankGroup group,
                                       int64_t bytes);

  // Returns the first error since the last call.
  absl::Status TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

 private:
  struct Curve {
    std::optional<CollectiveTimes> times;  // None: `status` is not ok.
    absl::Status status;
    std::vector<size_t> unlike;   // A group of each kind; the slowest counts.
    std::vector<double> seconds;  // By power of two of the bytes; < 0: unknown.
    std::optional<size_t> between;  // The first group that spans servers.
    std::vector<std::optional<WireTraffic>> traffic;  // By power of two.
  };

  Curve& FindCurve(CollectiveKind kind, RankGroup group);
  double AtPower(Curve& curve, uint32_t power);

  const SystemSpec& system_;
  const NcclOptions& options_;
  Routes& routes_;
  const int64_t num_ranks_;
  // By kind and run, and by the runs of a group.
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, std::unique_ptr<Curve>>
      curves_;
  absl::Status status_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_GROUP_SECONDS_H_
