#include "workload/regressors/tree_model.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

absl::Status StatusOf(int code) {
  if (code == 0) return absl::OkStatus();
  return absl::InternalError(fmt::format("XGBoost: {}", XGBGetLastError()));
}

// A matrix of XGBoost with one row for each sample.
class Matrix {
 public:
  static absl::StatusOr<Matrix> Create(absl::Span<const double> values,
                                       size_t columns) {
    const std::vector<float> cells(values.begin(), values.end());
    Matrix matrix;
    ASTRA_RETURN_IF_ERROR(StatusOf(XGDMatrixCreateFromMat(
        cells.data(), cells.size() / columns, columns,
        std::numeric_limits<float>::quiet_NaN(), &matrix.handle_)));
    return matrix;
  }
  Matrix(Matrix&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Matrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }

  DMatrixHandle handle() const { return handle_; }

 private:
  Matrix() = default;

  DMatrixHandle handle_ = nullptr;
};

using Parameters = std::vector<std::pair<std::string, std::string>>;

Parameters ParametersOf(TreeKind kind, double mean_log) {
  Parameters all = {{"verbosity", "0"},
                    {"nthread", "1"},
                    {"seed", "42"},
                    {"tree_method", "exact"},
                    {"objective", "reg:squarederror"},
                    {"base_score", fmt::format("{:.17g}", mean_log)}};
  const Parameters forest = {{"num_parallel_tree", "100"},
                             {"max_depth", "20"},
                             {"subsample", "0.632"},
                             {"lambda", "0"},
                             {"learning_rate", "1"}};
  const Parameters boosted = {
      {"max_depth", "6"}, {"subsample", "0.8"}, {"learning_rate", "0.1"}};
  const Parameters& own = kind == TreeKind::kForest ? forest : boosted;
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

TrainingSet Without(const TrainingSet& samples, size_t fold, size_t folds,
                    absl::Span<const size_t> order) {
  TrainingSet rest;
  rest.features = samples.features;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % folds == fold) continue;
    const absl::Span<const double> sample = samples.sample(order[i]);
    rest.values.insert(rest.values.end(), sample.begin(), sample.end());
    rest.times_us.push_back(samples.times_us[order[i]]);
  }
  return rest;
}

// Returns 0 to count - 1 in an order that depends only on `count`.
std::vector<size_t> Shuffled(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(1);
  for (size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random() % i]);
  }
  return order;
}

// Appends `node` of a dump and all below it to `tree`. Returns its position.
int32_t AppendNode(const nlohmann::json& node, Tree& tree) {
  const size_t at = tree.size();
  tree.emplace_back();
  if (node.contains("leaf")) {
    tree[at].value = node.at("leaf").get<float>();
    return static_cast<int32_t>(at);
  }
  // Features without names are called f0, f1, ...
  const auto name = node.at("split").get<std::string>();
  TreeNode split = {.feature = std::stoi(name.substr(1)),
                    .value = node.at("split_condition").get<float>()};
  const int64_t below = node.at("yes").get<int64_t>();
  for (const nlohmann::json& child : node.at("children")) {
    const int32_t position = AppendNode(child, tree);
    const bool is_below = child.at("nodeid").get<int64_t>() == below;
    (is_below ? split.below : split.other) = position;
  }
  tree[at] = split;
  return static_cast<int32_t>(at);
}

// Returns a tree that XGBoost wrote as JSON.
absl::StatusOr<Tree> TreeOfDump(std::string_view text) {
  Tree tree;
  try {
    AppendNode(nlohmann::json::parse(text), tree);
  } catch (const std::exception& error) {
    return absl::InternalError(
        fmt::format("a tree of XGBoost: {}", error.what()));
  }
  return tree;
}

}  // namespace

void TreeModel::Deleter::operator()(void* booster) const {
  XGBoosterFree(booster);
}

absl::StatusOr<TreeModel> TreeModel::Train(const TrainingSet& samples,
                                           TreeKind kind) {
  if (samples.size() < 2) {
    return absl::InvalidArgumentError(
        fmt::format("{} samples: expected two or more", samples.size()));
  }
  std::vector<float> logs;
  double sum = 0;
  for (const double time : samples.times_us) {
    sum += std::log(time);
    logs.push_back(static_cast<float>(std::log(time)));
  }
  const double mean = sum / static_cast<double>(logs.size());
  ASTRA_ASSIGN_OR_RETURN(
      const Matrix matrix,
      Matrix::Create(samples.values, samples.features.size()));
  const DMatrixHandle handle = matrix.handle();
  ASTRA_RETURN_IF_ERROR(StatusOf(
      XGDMatrixSetFloatInfo(handle, "label", logs.data(), logs.size())));
  BoosterHandle made = nullptr;
  ASTRA_RETURN_IF_ERROR(StatusOf(XGBoosterCreate(&handle, 1, &made)));
  Booster booster(made);
  for (const auto& [name, value] : ParametersOf(kind, mean)) {
    ASTRA_RETURN_IF_ERROR(
        StatusOf(XGBoosterSetParam(made, name.c_str(), value.c_str())));
  }
  constexpr int kBoostedTrees = 300;
  const int rounds = kind == TreeKind::kForest ? 1 : kBoostedTrees;
  for (int round = 0; round < rounds; ++round) {
    ASTRA_RETURN_IF_ERROR(
        StatusOf(XGBoosterUpdateOneIter(made, round, handle)));
  }
  return TreeModel(std::move(booster), static_cast<float>(mean),
                   samples.features.size());
}

absl::StatusOr<double> TreeModel::PredictUs(
    absl::Span<const double> features) const {
  ASTRA_ASSIGN_OR_RETURN(const Matrix matrix,
                         Matrix::Create(features, features.size()));
  bst_ulong count = 0;
  const float* logs = nullptr;
  ASTRA_RETURN_IF_ERROR(StatusOf(XGBoosterPredict(
      booster_.get(), matrix.handle(), 0, 0, 0, &count, &logs)));
  return std::exp(static_cast<double>(logs[0]));
}

absl::StatusOr<TreeEnsemble> TreeModel::Trees() const {
  bst_ulong count = 0;
  const char** texts = nullptr;
  ASTRA_RETURN_IF_ERROR(StatusOf(
      XGBoosterDumpModelEx(booster_.get(), "", 0, "json", &count, &texts)));
  std::vector<Tree> trees;
  for (bst_ulong i = 0; i < count; ++i) {
    ASTRA_ASSIGN_OR_RETURN(Tree tree, TreeOfDump(texts[i]));
    trees.push_back(std::move(tree));
  }
  return TreeEnsemble::Create(start_, std::move(trees), num_features_);
}

absl::StatusOr<HeldOutErrors> CrossValidate(const TrainingSet& samples,
                                            TreeKind kind, size_t folds) {
  if (folds < 2 || folds > samples.size()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} folds of {} samples: expected 2 folds or more, and no more than "
        "samples",
        folds, samples.size()));
  }
  const std::vector<size_t> order = Shuffled(samples.size());
  std::vector<double> errors;
  for (size_t fold = 0; fold < folds; ++fold) {
    ASTRA_ASSIGN_OR_RETURN(
        const TreeModel model,
        TreeModel::Train(Without(samples, fold, folds, order), kind));
    for (size_t i = fold; i < order.size(); i += folds) {
      ASTRA_ASSIGN_OR_RETURN(const double time,
                             model.PredictUs(samples.sample(order[i])));
      errors.push_back(kPercent *
                       std::abs(time / samples.times_us[order[i]] - 1));
    }
  }
  std::sort(errors.begin(), errors.end());
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return HeldOutErrors{.samples = errors.size(),
                       .mean = sum / static_cast<double>(errors.size()),
                       .median = errors[errors.size() / 2],
                       .p90 = errors[errors.size() * 9 / 10]};
}

}  // namespace astra
