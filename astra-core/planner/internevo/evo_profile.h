// The profile that InternEvo's simulator prices with: measured times of square
// products and of collectives, each a table over its size.
//
//   products.csv     rows, hidden, complexity, time_us
//   collectives.csv  op, intra, inter, bytes, time_us
//
// A product of `rows` x hidden by hidden x hidden has the complexity 2 x rows x
// hidden x hidden: its FLOPs. rows and hidden may be left out; where they are,
// they must agree with the complexity. A collective has `intra` ranks on each
// of `inter` servers, and all groups that lie alike run at once, as InternEvo
// measures them. bytes are those of the buffer as nccl-tests counts them.
// Several rows of one size count with their mean time.
//
// Between two sizes the time is linear. Below the first size it is that of the
// first, since starting a kernel takes most of it; beyond the last size the
// speed is that of the last.
//
// InternEvo interpolates the speed instead. Between its 1 KiB and 512 KiB,
// where most of the time is the start, that makes nearly every size take as
// long as 512 KiB. InternEvo's own file, data.pt, is a pickle of Python
// objects, and none is published.
//
// Source: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// internlm/simulator/profiler (perf_comm.py, profiler.py, benchmark/linear.py)
// and common.py: names, grids, keys.

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

enum class EvoOp : uint8_t {
  kAllToAll,
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kP2p,  // A message each way between two ranks.
};
inline constexpr std::string_view kEvoOpNames[] = {
    "all2all",    "all_reduce", "reduce_scatter",
    "all_gather", "broadcast",  "p2p"};
inline std::string_view Name(EvoOp op) {
  return kEvoOpNames[static_cast<size_t>(op)];
}

// How a group lies: `intra` of its ranks on each of `inter` servers.
struct EvoGroup {
  int64_t intra = 1;
  int64_t inter = 1;

  int64_t size() const { return intra * inter; }
  friend auto operator<=>(const EvoGroup&, const EvoGroup&) = default;
};

// Returns how `size` ranks that are `stride` apart lie on servers; none if they
// lie unevenly, and no table holds for them.
std::optional<EvoGroup> GroupOnServers(int64_t size, int64_t stride,
                                       int64_t gpus_per_server);

struct EvoKey {
  EvoOp op = EvoOp::kAllToAll;
  EvoGroup group;

  friend auto operator<=>(const EvoKey&, const EvoKey&) = default;
};
std::string Name(const EvoKey& key);  // Returns "all2all_intra_8_inter_2", ...

// Sizes at which InternEvo measures: bytes of a collective, and rows and hidden
// sizes of products.
// NOLINTBEGIN(readability-identifier-naming): they are constants.
extern const std::vector<int64_t> kEvoBytes;
extern const std::vector<int64_t> kEvoRows;
extern const std::vector<int64_t> kEvoHidden;
// NOLINTEND(readability-identifier-naming)

struct EvoPoint {
  double size = 0;     // Bytes, or complexity of a product.
  double seconds = 0;  // Above 0.
};

// A table of times over sizes.
class EvoCurve {
 public:
  // Requires at least one point.
  explicit EvoCurve(std::vector<EvoPoint> points);

  double Seconds(double size) const;
  const std::vector<EvoPoint>& points() const { return points_; }

 private:
  std::vector<EvoPoint> points_;  // By growing size, no size twice.
};

struct EvoProfile {
  EvoCurve products;
  std::map<EvoKey, EvoCurve> collectives;

  double ProductSeconds(double complexity) const {
    return complexity > 0 ? products.Seconds(complexity) : 0;
  }
  // Returns 0 for a group of one rank. The profile must have any other group.
  double Seconds(EvoOp op, const EvoGroup& group, double bytes) const;
};

// The linear model of a table: time = start + size / rate. It is the one with
// the least squares of relative errors, and a start of 0 or more.
struct EvoLine {
  double start = 0;        // Seconds.
  double rate = 0;         // Bytes or FLOPs per second.
  double mean_error = 0;   // Mean of the relative errors: 0.1 is 10 %.
  double worst_error = 0;  // The largest of them.

  double Seconds(double size) const { return start + size / rate; }
};
EvoLine FitLine(const EvoCurve& curve);

// Read the two files. `file` is the name in messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is no such table, a
// group of one rank, and a table without rows.
absl::StatusOr<EvoCurve> ReadEvoProducts(std::string_view file,
                                         std::string_view contents);
absl::StatusOr<std::map<EvoKey, EvoCurve>> ReadEvoCollectives(
    std::string_view file, std::string_view contents);

// A measured product of `rows` x hidden by hidden x hidden.
struct EvoProduct {
  int64_t rows = 1;
  int64_t hidden = 1;
  double seconds = 0;

  double complexity() const {
    return 2 * static_cast<double>(rows) * static_cast<double>(hidden) *
           static_cast<double>(hidden);
  }
};

// Write the two files.
std::string FormatEvoProducts(absl::Span<const EvoProduct> products);
std::string FormatEvoCollectives(const std::map<EvoKey, EvoCurve>& collectives);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_H_
