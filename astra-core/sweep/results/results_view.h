// Creates the view "results" of the results store: one row for each point, one
// column for each variable and each metric.

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

// A list of distinct names, in the order in which they were first seen.
class NameList {
 public:
  // Returns the position of `name` and adds it if it is new. `expected` is a
  // guess that avoids the look-up where it is right, as it usually is.
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

// Creates the view again from the variables and runs that the store holds now,
// and stores its "metrics": as many as SQLite allows columns. Variables that
// are numbers in all points become numbers in the view. DistinctColumns()
// resolves columns of the same name. Requires a transaction.
absl::Status MakeResultsView(const Database& database);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_RESULTS_VIEW_H_
