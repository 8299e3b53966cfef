#include "astra-core/apps/fit/constants_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

// Only the first rows and columns are used where fewer constants are free.
using Vector = std::array<double, kNumJobConstants>;
using Matrix = std::array<Vector, kNumJobConstants>;

// The search runs over the inverse of the load, since times are almost linear
// in it, and over microseconds of the other constants.
struct Range {
  double least;
  double most;
};
constexpr double kLargest = 1e8;
constexpr Range kRanges[kNumJobConstants] = {
    {1, 100}, {0, kLargest}, {0, kLargest}};

double ToSearch(JobConstant constant, double value) {
  return constant == JobConstant::kLoad ? 1 / value : value;
}

// Returns a step that moves times by about a hundredth.
double StepOf(JobConstant constant, double value) {
  constexpr double kShare = 1e-2;
  constexpr double kLeastUs[kNumJobConstants] = {0, 1000, 10};
  return std::max(kShare * value, kLeastUs[static_cast<size_t>(constant)]);
}

constexpr size_t IndexOf(JobConstant constant) {
  return static_cast<size_t>(constant);
}

// Returns the inverse of the first `size` rows and columns of a matrix of
// normal equations, whose pivots are positive unless it has no inverse: then
// none.
std::optional<Matrix> Inverse(Matrix matrix, size_t size) {
  constexpr double kSingular = 1e-12;
  Matrix inverse{};
  for (size_t i = 0; i < size; ++i) inverse[i][i] = 1;
  for (size_t pivot = 0; pivot < size; ++pivot) {
    const double head = matrix[pivot][pivot];
    if (!(head > kSingular)) return std::nullopt;
    for (size_t column = 0; column < size; ++column) {
      matrix[pivot][column] /= head;
      inverse[pivot][column] /= head;
    }
    for (size_t row = 0; row < size; ++row) {
      const double factor = matrix[row][pivot];
      if (row == pivot) continue;
      for (size_t column = 0; column < size; ++column) {
        matrix[row][column] -= factor * matrix[pivot][column];
        inverse[row][column] -= factor * inverse[pivot][column];
      }
    }
  }
  return inverse;
}

// Least squares over the constants `free`; all others stay.
class Search {
 public:
  Search(absl::Span<const MeasuredTime> observations, JobConstants at,
         std::vector<JobConstant> free, const PredictTimes& predict)
      : observations_(observations),
        at_(at),
        free_(std::move(free)),
        predict_(predict) {}

  absl::Status Run() {
    constexpr int kMostSteps = 12;
    constexpr double kSmall = 1e-7;
    ASTRA_ASSIGN_OR_RETURN(predicted_, predict_(at_));
    for (int step = 0; step < kMostSteps && !free_.empty(); ++step) {
      ASTRA_RETURN_IF_ERROR(Differentiate());
      if (!covariance_) return absl::OkStatus();
      const double change = Move();
      ASTRA_ASSIGN_OR_RETURN(predicted_, predict_(at_));
      if (change < kSmall) break;
    }
    return absl::OkStatus();
  }

  const JobConstants& at() const { return at_; }
  const std::vector<double>& predicted() const { return predicted_; }
  const std::vector<JobConstant>& free() const { return free_; }

  // Returns whether the search ended at the end of the range of `constant`.
  bool IsAtEnd(JobConstant constant) const {
    const double value = ToSearch(constant, at_[IndexOf(constant)]);
    const Range& range = kRanges[IndexOf(constant)];
    return value <= range.least || value >= range.most;
  }

  // Returns the deviation of the i-th free constant in its own unit; none if
  // the observations do not determine it.
  std::optional<double> DeviationOf(size_t i) const {
    if (!covariance_) return std::nullopt;
    const double deviation =
        std::sqrt((*covariance_)[i][i]) * scale_[i] * Excess();
    const double value = ToSearch(free_[i], at_[IndexOf(free_[i])]);
    if (free_[i] == JobConstant::kLoad) {
      const double load = 1 / value;
      if (!(deviation <= kMostEffect * value)) return std::nullopt;
      return deviation * load * load;
    }
    for (size_t row = 0; row < observations_.size(); ++row) {
      const double effect = std::abs(slopes_[row][i]) / scale_[i] * deviation *
                            observations_[row].deviation;
      if (!(effect <= kMostEffect * predicted_[row])) return std::nullopt;
    }
    return deviation;
  }

 private:
  // Sets the slopes of all times, relative to the deviations of the
  // observations, over the search values relative to `scale_`.
  absl::Status Differentiate() {
    const size_t rows = observations_.size();
    slopes_.assign(rows, Vector{});
    scale_.assign(free_.size(), 1);
    for (size_t i = 0; i < free_.size(); ++i) {
      const size_t index = IndexOf(free_[i]);
      const double value = ToSearch(free_[i], at_[index]);
      const double step = StepOf(free_[i], value);
      JobConstants moved = at_;
      moved[index] = ToSearch(free_[i], value + step);
      ASTRA_ASSIGN_OR_RETURN(const std::vector<double> times, predict_(moved));
      scale_[i] = step;
      for (size_t row = 0; row < rows; ++row) {
        slopes_[row][i] =
            (times[row] - predicted_[row]) / observations_[row].deviation;
      }
    }
    Matrix normal{};
    for (const Vector& slope : slopes_) {
      for (size_t i = 0; i < free_.size(); ++i) {
        for (size_t j = 0; j < free_.size(); ++j) {
          normal[i][j] += slope[i] * slope[j];
        }
      }
    }
    covariance_ = Inverse(normal, free_.size());
    return absl::OkStatus();
  }

  // Goes to the minimum of the linear model, within the ranges. Returns the
  // largest change of a search value relative to its scale.
  double Move() {
    Vector slope{};
    for (size_t row = 0; row < observations_.size(); ++row) {
      for (size_t i = 0; i < free_.size(); ++i) {
        slope[i] += slopes_[row][i] * RestOf(row);
      }
    }
    double change = 0;
    for (size_t i = 0; i < free_.size(); ++i) {
      double& constant = at_[IndexOf(free_[i])];
      const Range& range = kRanges[IndexOf(free_[i])];
      const double before = ToSearch(free_[i], constant);
      double step = 0;
      for (size_t j = 0; j < free_.size(); ++j) {
        step += (*covariance_)[i][j] * slope[j];
      }
      const double after =
          std::clamp(before + step * scale_[i], range.least, range.most);
      change = std::max(change, std::abs(after - before) / scale_[i]);
      constant = ToSearch(free_[i], after);
    }
    return change;
  }

  // Returns how far an observation is above its prediction, in deviations.
  double RestOf(size_t row) const {
    return (observations_[row].seconds - predicted_[row]) /
           observations_[row].deviation;
  }

  // Returns by how much the observations spread more than their deviations say;
  // at least 1.
  double Excess() const {
    if (observations_.size() <= free_.size()) return 1;
    double sum = 0;
    for (size_t row = 0; row < observations_.size(); ++row) {
      sum += RestOf(row) * RestOf(row);
    }
    const auto freedom =
        static_cast<double>(observations_.size() - free_.size());
    return std::max(1.0, std::sqrt(sum / freedom));
  }

  absl::Span<const MeasuredTime> observations_;
  JobConstants at_;
  const std::vector<JobConstant> free_;
  const PredictTimes& predict_;
  std::vector<double> predicted_;
  std::vector<Vector> slopes_;
  std::vector<double> scale_;
  std::optional<Matrix> covariance_;  // Of search values over `scale_`.
};

}  // namespace

absl::StatusOr<ConstantsFit> FitConstants(
    absl::Span<const MeasuredTime> observations, const JobConstants& start,
    absl::Span<const JobConstant> asked, const PredictTimes& predict) {
  ConstantsFit fit;
  JobConstants from = start;
  std::vector<JobConstant> free(asked.begin(), asked.end());
  const auto drop = [&](JobConstant constant, ConstantState state) {
    fit.constants[IndexOf(constant)].state = state;
    free.erase(std::find(free.begin(), free.end(), constant));
  };
  while (free.size() > observations.size()) {
    drop(free.back(), ConstantState::kTooFew);
  }
  while (true) {
    Search search(observations, from, free, predict);
    ASTRA_RETURN_IF_ERROR(search.Run());
    std::optional<JobConstant> beyond;
    std::optional<JobConstant> unstable;
    for (size_t i = 0; i < free.size(); ++i) {
      if (search.IsAtEnd(free[i])) beyond = free[i];
      if (!search.DeviationOf(i)) unstable = free[i];
    }
    if (unstable) {
      drop(free.back(), ConstantState::kUnstable);
      continue;
    }
    if (beyond) {
      from[IndexOf(*beyond)] = search.at()[IndexOf(*beyond)];
      drop(*beyond, ConstantState::kBeyond);
      continue;
    }
    fit.values = search.at();
    fit.predicted = search.predicted();
    for (size_t i = 0; i < free.size(); ++i) {
      fit.constants[IndexOf(free[i])] = {ConstantState::kDetermined,
                                         *search.DeviationOf(i)};
    }
    return fit;
  }
}

}  // namespace astra
