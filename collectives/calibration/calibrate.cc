#include "collectives/calibration/calibrate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "collectives/calibration/calibrated_constants.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Vector = std::vector<double>;

constexpr double kHuber = 0.1;
constexpr double kProbe = 0.09531018;   // log(1.1)
constexpr double kEffect = 0.00995033;  // log(1.01)

// How long a search goes on.
struct Effort {
  int max_rounds;
  // Least share by which a round must lessen the loss to be worth another one.
  double worthwhile;
};
constexpr Effort kForConstants = {60, 1e-7};
// The fits that leave out rows are only asked for errors, which hardly change
// in later rounds.
constexpr Effort kForErrors = {15, 1e-3};

double HuberLoss(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? size * size / 2 : kHuber * (size - kHuber / 2);
}

// Returns the weight that makes a squared error pull like its Huber loss.
double HuberWeight(double error) {
  return std::min(1.0, kHuber / std::max(std::abs(error), kHuber));
}

double MedianError(const std::vector<Prediction>& predictions) {
  Vector sizes;
  for (const Prediction& p : predictions)
    sizes.push_back(std::abs(p.log_error));
  const auto middle = sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

// Solves `a` x = `b` by Gaussian elimination, for a symmetric positive definite
// `a`.
Vector Solve(std::vector<Vector> a, Vector b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (size_t k = i; k < n; ++k) a[row][k] -= factor * a[i][k];
      b[row] -= factor * b[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

// Effect of one constant on the errors.
struct Column {
  size_t constant;
  double effect;  // Largest change of an error.
  Vector slopes;  // Change of each error, by observation.
};

class Search {
 public:
  Search(const SystemSpec& system, Predictor& predictor, Effort effort)
      : start_(system), predictor_(predictor), effort_(effort) {
    for (const CalibratedConstant& c : CalibratedConstantsOf(start_)) {
      point_.x.push_back(c.coordinate(*c.value));
      goes_with_previous_.push_back(c.goes_with_previous);
    }
    prior_ = point_.x;
    matters_.resize(prior_.size());
  }

  absl::Status Run();

  // Returns the system at the point that was found, with fitted constants
  // rounded.
  SystemSpec Found() const;

 private:
  struct Point {
    Vector x;  // Coordinates of the constants.
    std::vector<Prediction> predictions;
  };

  SystemSpec SystemAt(const Vector& x) const;
  absl::Status Evaluate(Point* point);
  double LossOf(const Point& point) const;
  absl::StatusOr<Column> Probe(const SystemSpec& system, size_t j,
                               double probe);
  absl::StatusOr<std::vector<Column>> Columns();
  double PullOf(size_t j) const;
  double GradientOf(const Column& column) const;
  Vector StepOf(const std::vector<Column>& columns) const;
  absl::StatusOr<bool> Improve();

  SystemSpec start_;
  Predictor& predictor_;
  Effort effort_;
  Vector prior_;
  Point point_;
  // CalibratedConstant::goes_with_previous, by constant.
  std::vector<bool> goes_with_previous_;
  std::vector<bool> matters_;  // Whether the constant matters.
  double noise_ = 0;           // Median size of the errors.
  double damping_ = 1e-3;
};

// Returns the system at a point. Constants that the search has not moved keep
// their exact value.
SystemSpec Search::SystemAt(const Vector& x) const {
  SystemSpec system = start_;
  const std::vector<CalibratedConstant> constants =
      CalibratedConstantsOf(system);
  for (size_t i = 0; i < constants.size(); ++i) {
    const CalibratedConstant& c = constants[i];
    if (x[i] == prior_[i]) continue;
    *c.value = c.ValueAt(x[i]);
  }
  return system;
}

absl::Status Search::Evaluate(Point* point) {
  ASTRA_ASSIGN_OR_RETURN(point->predictions,
                         predictor_.Predict(SystemAt(point->x)));
  return absl::OkStatus();
}

double Search::LossOf(const Point& point) const {
  double loss = 0;
  for (const Prediction& p : point.predictions) loss += HuberLoss(p.log_error);
  for (size_t i = 0; i < prior_.size(); ++i) {
    loss += HuberLoss(noise_ * (point.x[i] - prior_[i]));
  }
  return loss;
}

// Returns how the errors change with a change of constant `j` by `probe`, in
// its coordinate.
absl::StatusOr<Column> Search::Probe(const SystemSpec& system, size_t j,
                                     double probe) {
  SystemSpec changed = system;
  const CalibratedConstant c = CalibratedConstantsOf(changed)[j];
  *c.value = c.ValueAt(c.coordinate(*c.value) + probe);
  std::vector<Prediction> predictions = point_.predictions;
  ASTRA_RETURN_IF_ERROR(predictor_.PredictAgain(changed, c, &predictions));
  Column column{j, 0, {}};
  for (size_t i = 0; i < predictions.size(); ++i) {
    const double change =
        predictions[i].log_error - point_.predictions[i].log_error;
    column.effect = std::max(column.effect, std::abs(change));
    column.slopes.push_back(change / probe);
  }
  return column;
}

// Returns the columns of the constants that matter now or have mattered, so
// that no constant is left halfway.
absl::StatusOr<std::vector<Column>> Search::Columns() {
  const SystemSpec system = SystemAt(point_.x);
  std::vector<Column> columns;
  for (size_t j = 0; j < prior_.size(); ++j) {
    ASTRA_ASSIGN_OR_RETURN(Column column, Probe(system, j, kProbe));
    if (column.effect <= kEffect) {
      // A part that is not the slowest may become it in the other direction.
      ASTRA_ASSIGN_OR_RETURN(column, Probe(system, j, -kProbe));
    }
    matters_[j] = matters_[j] || column.effect > kEffect ||
                  (goes_with_previous_[j] && matters_[j - 1]);
    if (matters_[j]) columns.push_back(std::move(column));
  }
  return columns;
}

// Returns how strongly constant `j` is pulled to its former value, relative to
// the distance.
double Search::PullOf(size_t j) const {
  return noise_ * noise_ * HuberWeight(noise_ * (point_.x[j] - prior_[j]));
}

double Search::GradientOf(const Column& column) const {
  const size_t j = column.constant;
  double gradient = PullOf(j) * (point_.x[j] - prior_[j]);
  for (size_t i = 0; i < column.slopes.size(); ++i) {
    const double error = point_.predictions[i].log_error;
    gradient += HuberWeight(error) * error * column.slopes[i];
  }
  return gradient;
}

// Returns the damped Gauss-Newton step, by column.
Vector Search::StepOf(const std::vector<Column>& columns) const {
  std::vector<Vector> a(columns.size(), Vector(columns.size()));
  Vector b;
  for (size_t j = 0; j < columns.size(); ++j) {
    for (size_t k = 0; k < columns.size(); ++k) {
      for (size_t i = 0; i < point_.predictions.size(); ++i) {
        a[j][k] += HuberWeight(point_.predictions[i].log_error) *
                   columns[j].slopes[i] * columns[k].slopes[i];
      }
    }
    a[j][j] += PullOf(columns[j].constant);
    a[j][j] *= 1 + damping_;
    b.push_back(-GradientOf(columns[j]));
  }
  return Solve(std::move(a), std::move(b));
}

// Takes a step; returns false if no step is worth a further round.
absl::StatusOr<bool> Search::Improve() {
  constexpr double kMaxDamping = 1e6;
  constexpr double kFactor = 10;
  SystemSpec system = SystemAt(point_.x);
  const std::vector<CalibratedConstant> constants =
      CalibratedConstantsOf(system);
  ASTRA_ASSIGN_OR_RETURN(std::vector<Column> columns, Columns());
  // A constant at its bound that would go beyond stays there.
  columns.erase(
      std::remove_if(columns.begin(), columns.end(),
                     [&](const Column& column) {
                       const CalibratedConstant& c = constants[column.constant];
                       return GradientOf(column) > 0 ? *c.value <= c.min
                                                     : *c.value >= c.max;
                     }),
      columns.end());
  const double loss = LossOf(point_);
  for (; damping_ <= kMaxDamping; damping_ *= kFactor) {
    const Vector step = StepOf(columns);
    Point next;
    next.x = point_.x;
    for (size_t j = 0; j < columns.size(); ++j) {
      const CalibratedConstant& c = constants[columns[j].constant];
      double& x = next.x[columns[j].constant];
      x = std::clamp(x + step[j], c.coordinate(c.min), c.coordinate(c.max));
    }
    ASTRA_RETURN_IF_ERROR(Evaluate(&next));
    const double next_loss = LossOf(next);
    if (next_loss >= loss) continue;
    const bool is_worthwhile = next_loss < loss * (1 - effort_.worthwhile);
    point_ = std::move(next);
    damping_ /= kFactor;
    return is_worthwhile;
  }
  return false;
}

absl::Status Search::Run() {
  ASTRA_RETURN_IF_ERROR(Evaluate(&point_));
  for (int round = 0; round < effort_.max_rounds; ++round) {
    // An error of 0, possible with few observations, says nothing of the noise.
    constexpr double kLeastNoise = 1e-3;
    noise_ = std::max(kLeastNoise, MedianError(point_.predictions));
    ASTRA_ASSIGN_OR_RETURN(const bool has_improved, Improve());
    if (!has_improved) break;
  }
  return absl::OkStatus();
}

// Rounds to four significant digits, the most that measurements justify.
double Rounded(double value) {
  const std::string text = fmt::format("{:.4g}", value);
  double rounded = value;
  const auto end =
      std::from_chars(text.data(), text.data() + text.size(), rounded);
  ASTRA_CHECK(end.ec == std::errc(), "{}", text);
  return rounded;
}

SystemSpec Search::Found() const {
  SystemSpec system = SystemAt(point_.x);
  const std::vector<CalibratedConstant> constants =
      CalibratedConstantsOf(system);
  for (size_t i = 0; i < constants.size(); ++i) {
    if (point_.x[i] != prior_[i]) {
      *constants[i].value = Rounded(*constants[i].value);
    }
  }
  return system;
}

// Gives ramps of 0, whose size has no meaning, a usual size. From there the
// search can find a ramp if there is one.
SystemSpec WithRampSizes(SystemSpec system) {
  constexpr double kUsualMiB = 32;
  for (Pace* pace : PacesOf(system)) {
    if (pace->ramp_us == 0) pace->ramp_MiB = kUsualMiB;
  }
  return system;
}

// Restores the sizes of ramps that are still 0.
void RestoreRampSizes(SystemSpec old, SystemSpec* system) {
  const std::vector<Pace*> old_paces = PacesOf(old);
  const std::vector<Pace*> paces = PacesOf(*system);
  for (size_t i = 0; i < paces.size(); ++i) {
    if (paces[i]->ramp_us == 0) paces[i]->ramp_MiB = old_paces[i]->ramp_MiB;
  }
}

double ErrorPercentOf(const Prediction& prediction) {
  return kPercent * std::expm1(prediction.log_error);
}

absl::StatusOr<Residuals> ResidualsOf(Predictor& predictor,
                                      const SystemSpec& system) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Prediction> predictions,
                         predictor.Predict(system));
  Residuals residuals;
  for (const Prediction& prediction : predictions) {
    residuals.errors.push_back(ErrorPercentOf(prediction));
  }
  residuals.summary = SummarizeErrors(residuals.errors);
  return residuals;
}

// Returns `system` with its constants fitted to what `predictor` predicts.
absl::StatusOr<SystemSpec> Fit(const SystemSpec& system, Predictor& predictor,
                               Effort effort) {
  Search search(WithRampSizes(system), predictor, effort);
  ASTRA_RETURN_IF_ERROR(search.Run());
  SystemSpec fitted = search.Found();
  RestoreRampSizes(system, &fitted);
  return fitted;
}

// Returns the error of each observation, predicted by a fit without its fold.
// `ids` are the MeasurementIds, of which there are `num_measurements`.
absl::StatusOr<Residuals> CrossValidate(
    const SystemSpec& system, absl::Span<const Observation> observations,
    const std::vector<size_t>& ids, size_t num_measurements) {
  Residuals residuals;
  if (num_measurements < 2) return residuals;
  residuals.errors.resize(observations.size());
  const size_t num_folds =
      num_measurements <= kMaxSingles ? num_measurements : kFolds;
  for (size_t fold = 0; fold < num_folds; ++fold) {
    std::vector<Observation> seen;
    std::vector<Observation> unseen;
    std::vector<size_t> rows;  // Rows of `unseen`.
    for (size_t i = 0; i < observations.size(); ++i) {
      const bool is_seen = ids[i] % num_folds != fold;
      (is_seen ? seen : unseen).push_back(observations[i]);
      if (!is_seen) rows.push_back(i);
    }
    ASTRA_ASSIGN_OR_RETURN(Predictor known, Predictor::Create(system, seen));
    ASTRA_ASSIGN_OR_RETURN(const SystemSpec fitted,
                           Fit(system, known, kForErrors));
    ASTRA_ASSIGN_OR_RETURN(Predictor asked, Predictor::Create(system, unseen));
    ASTRA_ASSIGN_OR_RETURN(const std::vector<Prediction> predictions,
                           asked.Predict(fitted));
    for (size_t i = 0; i < rows.size(); ++i) {
      residuals.errors[rows[i]] = ErrorPercentOf(predictions[i]);
    }
  }
  residuals.summary = SummarizeErrors(residuals.errors);
  return residuals;
}

// Lists the constants in which the systems differ.
std::vector<FittedConstant> ChangedConstants(SystemSpec before,
                                             SystemSpec after) {
  const std::vector<CalibratedConstant> olds = CalibratedConstantsOf(before);
  const std::vector<CalibratedConstant> news = CalibratedConstantsOf(after);
  std::vector<FittedConstant> changed;
  for (size_t i = 0; i < olds.size(); ++i) {
    if (*olds[i].value == *news[i].value) continue;
    changed.push_back(
        {olds[i].name, *olds[i].value, *news[i].value, olds[i].of_transport});
  }
  return changed;
}

std::string_view PluralOf(size_t number) { return number == 1 ? "" : "s"; }

// Says what the constants were fitted to and how far they are off.
std::string OriginOf(const SystemCalibration& calibration) {
  const size_t num_rows = calibration.after.errors.size();
  const auto errors_of = [](const Residuals& residuals) {
    return fmt::format("median {:.1f} %, 90th percentile {:.1f} %",
                       residuals.summary.median_abs, residuals.summary.p90_abs);
  };
  std::string origin =
      fmt::format("fitted to {} measurement{}; error on them: {}", num_rows,
                  PluralOf(num_rows), errors_of(calibration.after));
  if (!calibration.left_out.errors.empty()) {
    origin += fmt::format("; on rows left out of the fit: {}",
                          errors_of(calibration.left_out));
  }
  return origin;
}

}  // namespace

absl::StatusOr<SystemCalibration> Calibrate(
    const SystemSpec& system, absl::Span<const Observation> observations) {
  if (observations.empty()) {
    return absl::InvalidArgumentError("no observations to calibrate with");
  }
  ASTRA_ASSIGN_OR_RETURN(Predictor predictor,
                         Predictor::Create(system, observations));
  SystemCalibration calibration;
  ASTRA_ASSIGN_OR_RETURN(calibration.before, ResidualsOf(predictor, system));
  ASTRA_ASSIGN_OR_RETURN(calibration.system,
                         Fit(system, predictor, kForConstants));
  calibration.constants = ChangedConstants(system, calibration.system);
  const std::vector<size_t> ids = MeasurementIds(observations);
  const size_t num_measurements = 1 + *std::max_element(ids.begin(), ids.end());
  calibration.num_measurements = num_measurements;
  const size_t num_constants = calibration.constants.size();
  if (num_constants > num_measurements) {
    return absl::InvalidArgumentError(fmt::format(
        "{} constants cannot be fitted to {} different measurement{}: measure "
        "more sizes, at least {}",
        num_constants, num_measurements, PluralOf(num_measurements),
        num_constants));
  }
  ASTRA_ASSIGN_OR_RETURN(calibration.after,
                         ResidualsOf(predictor, calibration.system));
  ASTRA_ASSIGN_OR_RETURN(
      calibration.left_out,
      CrossValidate(system, observations, ids, num_measurements));
  for (const FittedConstant& constant : calibration.constants) {
    (constant.of_transport ? calibration.system.transport.origin
                           : calibration.system.interconnect.origin) =
        OriginOf(calibration);
  }
  return calibration;
}

bool IsDetermined(const SystemCalibration& calibration) {
  return calibration.num_measurements >=
         kRowsPerConstant * calibration.constants.size();
}

std::string CalibrationText(const SystemCalibration& calibration) {
  const size_t num_constants = calibration.constants.size();
  const size_t num_rows = calibration.after.errors.size();
  std::string text =
      fmt::format("{} constant{} fitted to {} measurement{}\n\n", num_constants,
                  PluralOf(num_constants), num_rows, PluralOf(num_rows));
  const bool has_left_out = !calibration.left_out.errors.empty();
  text += fmt::format("{:<32} {:>10} {:>10} {:>10}\n", "error", "before",
                      "after", "left out");
  const auto add = [&](std::string_view name, double ErrorSummary::*size) {
    text += fmt::format("{:<32} {:>8.1f} % {:>8.1f} %", name,
                        calibration.before.summary.*size,
                        calibration.after.summary.*size);
    text += has_left_out ? fmt::format(" {:>8.1f} %\n",
                                       calibration.left_out.summary.*size)
                         : fmt::format(" {:>10}\n", "-");
  };
  add("median", &ErrorSummary::median_abs);
  add("90th percentile", &ErrorSummary::p90_abs);
  text += has_left_out
              ? "left out: errors on rows that the fit did not see, which was "
                "repeated without them\n"
              : "left out: none, since there is only one measurement\n";
  if (calibration.constants.empty()) return text;
  text +=
      fmt::format("\n{:<32} {:>10} {:>10}\n", "constant", "before", "after");
  for (const FittedConstant& constant : calibration.constants) {
    text += fmt::format("{:<32} {:>10.4g} {:>10.4g}\n", constant.name,
                        constant.before, constant.after);
  }
  return text;
}

}  // namespace astra
