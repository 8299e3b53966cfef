// Sets the collectives of a simulated run beside those that were measured.

#ifndef ASTRA_CORE_APPS_PHYSICAL_RUN_BESIDE_H_
#define ASTRA_CORE_APPS_PHYSICAL_RUN_BESIDE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {

// Collectives that are alike: kind, group, ranks and bytes.
using LikeCollectives = std::tuple<std::string, std::string, int64_t, int64_t>;

struct MeanTime {
  int64_t count = 0;
  double us = 0;  // Mean of time_us, from the last start to the last result.
};
using MeanTimes = std::map<LikeCollectives, MeanTime>;

// Reads collectives.csv, as any of the programs writes it. `file` names it in
// messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
absl::StatusOr<MeanTimes> ParseMeanTimes(std::string_view file,
                                         std::string_view contents);

// Collectives that both runs have.
struct BesideRow {
  LikeCollectives like;
  MeanTime measured;
  MeanTime simulated;

  // How much longer the simulation takes them, in percent; negative: shorter.
  double error_percent() const {
    return 100 * (simulated.us - measured.us) / measured.us;
  }
};

struct Beside {
  std::vector<BesideRow> rows;  // By kind, group, ranks and bytes.
  size_t only_measured = 0;     // Kinds of collectives of one run alone.
  size_t only_simulated = 0;
};

// Errors: InvalidArgument if no collective is in both.
absl::StatusOr<Beside> SetBeside(const MeanTimes& measured,
                                 const MeanTimes& simulated);

// Returns the median of the absolute errors of collectives of at least
// `least`, in percent; negative if there are none.
double MedianError(const Beside& beside, Bytes least);

// Returns comparison.csv, and a table for people.
std::string BesideCsv(const Beside& beside);
std::string DescribeBeside(const Beside& beside);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_RUN_BESIDE_H_
