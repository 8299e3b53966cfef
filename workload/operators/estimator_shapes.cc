#include "workload/operators/estimator_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace astra {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return '0' <= c && c <= '9';
  });
}

// Removes and returns the last part of `text`, behind its last "_".
std::string_view TakeLastPart(std::string_view& text) {
  const size_t at = text.rfind('_');
  if (at == std::string_view::npos) return {};
  const std::string_view last = text.substr(at + 1);
  text = text.substr(0, at);
  return last;
}

}  // namespace

double EstimatorSizes::local_vocabulary() const {
  constexpr double kVocabulary = 50257, kMultiple = 128;
  return kMultiple * std::ceil(kVocabulary / (kMultiple * tensor));
}

std::optional<EstimatorProduct> EstimatorProductOf(
    std::string_view name, const EstimatorSizes& sizes) {
  const double hidden = sizes.hidden;
  const double local = sizes.hidden / sizes.tensor;
  const auto product = [&sizes](double in, double out) {
    return EstimatorProduct{.rows = sizes.rows(), .in = in, .out = out};
  };
  if (name == "linear1") return product(hidden, 3 * hidden / sizes.tensor);
  if (name == "linear2") return product(local, hidden);
  if (name == "linear3") return product(hidden, sizes.expanded());
  if (name == "linear4") return product(sizes.expanded(), hidden);
  if (name == "linear_final") return product(hidden, sizes.local_vocabulary());
  return std::nullopt;
}

std::optional<EstimatorFileName> SplitEstimatorFileName(std::string_view path) {
  constexpr std::string_view kSuffix = ".csv";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.size() < kSuffix.size()) return std::nullopt;
  const size_t end = name.size() - kSuffix.size();
  if (name.substr(end) != kSuffix) return std::nullopt;
  name = name.substr(0, end);
  std::string_view precision = TakeLastPart(name);
  std::string_view before = name;
  if (IsNumber(precision) && IsNumber(TakeLastPart(before))) {
    precision = TakeLastPart(before);
    name = before;
  }
  const size_t gpu_end = name.find('_');
  if (precision.empty() || gpu_end == std::string_view::npos) {
    return std::nullopt;
  }
  return EstimatorFileName{.op = name.substr(gpu_end + 1),
                           .precision = precision};
}

}  // namespace astra
