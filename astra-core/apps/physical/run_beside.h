// Compares the collectives of a measured run with those of a simulated one.

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

// What makes collectives comparable: equal kind, group, ranks and bytes.
using LikeCollectives = std::tuple<std::string, std::string, int64_t, int64_t>;

struct MeanTime {
  int64_t count = 0;
  double us = 0;  // Mean of time_us in microseconds.
};
using MeanTimes = std::map<LikeCollectives, MeanTime>;

// Reads the collectives.csv of any program. `file` names it in error messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
absl::StatusOr<MeanTimes> ParseMeanTimes(std::string_view file,
                                         std::string_view contents);

// Comparable collectives that both runs have.
struct BesideRow {
  LikeCollectives like;
  MeanTime measured;
  MeanTime simulated;

  // Returns by how many percent the simulated mean is above the measured one.
  double error_percent() const {
    return 100 * (simulated.us - measured.us) / measured.us;
  }
};

struct Beside {
  std::vector<BesideRow> rows;  // Ordered by kind, group, ranks and bytes.
  size_t only_measured = 0;     // Keys that only the measured run has.
  size_t only_simulated = 0;    // Keys that only the simulated run has.
};

// Returns the comparison of two runs.
//
// Errors: InvalidArgument if they have no comparable collectives.
absl::StatusOr<Beside> SetBeside(const MeanTimes& measured,
                                 const MeanTimes& simulated);

// Returns the median of the absolute errors, in percent, over the rows whose
// collectives have at least `least` bytes; -1 if there are none.
double MedianError(const Beside& beside, Bytes least);

// Returns the contents of comparison.csv.
std::string BesideCsv(const Beside& beside);

// Returns the table of the summary.
std::string DescribeBeside(const Beside& beside);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_RUN_BESIDE_H_
