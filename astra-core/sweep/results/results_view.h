// The view "results" of the results store: a row for each point, a column for
// each variable and each metric.

#ifndef ASTRA_CORE_SWEEP_RESULTS_RESULTS_VIEW_H_
#define ASTRA_CORE_SWEEP_RESULTS_RESULTS_VIEW_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/sweep/results/database.h"

namespace astra {

// Names in the order in which they are first seen.
class NameList {
 public:
  // The position of `name`, which most often is the expected one.
  size_t PositionOf(const std::string& name, size_t expected) {
    if (expected < names_.size() && names_[expected] == name) return expected;
    const auto [found, is_new] = positions_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, size_t, std::less<>> positions_;
};

// Makes the view anew, with the variables and the runs that the store now has,
// and stores the "metrics" that it has: as many as SQLite has columns for.
// Variables that are numbers in all points are numbers in it. DistinctColumns()
// says what columns of one name are called. Requires a transaction.
absl::Status MakeResultsView(const Database& database);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_RESULTS_VIEW_H_
