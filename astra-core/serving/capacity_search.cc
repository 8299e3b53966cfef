#include "astra-core/serving/capacity_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

class Runs {
 public:
  Runs(const CapacityOptions& options, const ShareAtLoad& share_at)
      : options_(options), share_at_(share_at) {}

  bool has_left() const {
    return runs_.size() < static_cast<size_t>(options_.most_runs);
  }

  absl::StatusOr<bool> Passes(double load) {
    ASTRA_ASSIGN_OR_RETURN(const double share, share_at_(load));
    const bool passes = share >= options_.share;
    runs_.push_back({load, share, passes});
    return passes;
  }

  // Tells whether some run that should be easier failed where another passed.
  bool IsMonotone(bool more_is_easier) const {
    for (const CapacityRun& failed : runs_) {
      for (const CapacityRun& passed : runs_) {
        if (failed.passes || !passed.passes) continue;
        if (more_is_easier ? failed.load > passed.load
                           : failed.load < passed.load) {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<CapacityRun> Take() { return std::move(runs_); }

 private:
  const CapacityOptions& options_;
  const ShareAtLoad& share_at_;
  std::vector<CapacityRun> runs_;
};

}  // namespace

absl::StatusOr<Capacity> LargestRate(double guess,
                                     const CapacityOptions& options,
                                     const ShareAtLoad& share_at) {
  ASTRA_CHECK(guess > 0, "a rate of {}", guess);
  Runs runs(options, share_at);
  Capacity capacity;
  double rate = guess;
  const auto is_open = [&] {
    return capacity.largest == 0 || capacity.failed == 0;
  };
  while (runs.has_left() && is_open() && rate >= options.least_rate) {
    ASTRA_ASSIGN_OR_RETURN(const bool passes, runs.Passes(rate));
    (passes ? capacity.largest : capacity.failed) = rate;
    rate *= passes ? 2 : 0.5;
  }
  const auto is_wide = [&] {
    return is_open() ||
           capacity.failed > capacity.largest * (1 + options.precision);
  };
  while (runs.has_left() && !is_open() && is_wide()) {
    rate = std::sqrt(capacity.largest * capacity.failed);
    ASTRA_ASSIGN_OR_RETURN(const bool passes, runs.Passes(rate));
    (passes ? capacity.largest : capacity.failed) = rate;
  }
  capacity.is_precise = !is_wide();
  capacity.is_monotone = runs.IsMonotone(/*more_is_easier=*/false);
  capacity.runs = runs.Take();
  return capacity;
}

absl::StatusOr<Capacity> LeastCount(int64_t guess, int64_t most,
                                    const CapacityOptions& options,
                                    const ShareAtLoad& share_at) {
  Runs runs(options, share_at);
  int64_t failed = 0;
  int64_t passed = 0;  // None yet.
  int64_t count = std::clamp<int64_t>(guess, 1, most);
  while (runs.has_left() && failed < most &&
         (passed == 0 || failed + 1 < passed)) {
    ASTRA_ASSIGN_OR_RETURN(const bool passes,
                           runs.Passes(static_cast<double>(count)));
    (passes ? passed : failed) = count;
    if (passed == 0) {
      count = std::min(most, 2 * count);
    } else {
      count = failed + (passed - failed) / 2;
    }
  }
  Capacity capacity;
  capacity.largest = static_cast<double>(passed);
  capacity.failed = static_cast<double>(failed);
  capacity.is_precise = passed > 0 && failed + 1 == passed;
  capacity.is_monotone = runs.IsMonotone(/*more_is_easier=*/true);
  capacity.runs = runs.Take();
  return capacity;
}

}  // namespace astra
