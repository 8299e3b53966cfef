#include "astra-core/planner/internevo/evo_model.h"

#include "fmt/core.h"

namespace astra {
namespace {

struct SizedModel {
  int64_t billions;
  int64_t hidden;
  int64_t heads;
  int64_t layers;
};
constexpr SizedModel kModels[] = {{7, 4096, 32, 32},  {13, 5120, 40, 40},
                                  {20, 5120, 40, 60}, {30, 6144, 48, 60},
                                  {65, 8192, 64, 80}, {104, 10240, 80, 82}};

}  // namespace

int64_t EvoFfn(int64_t hidden, double ratio, int64_t multiple_of) {
  const auto width = static_cast<int64_t>(static_cast<double>(hidden) * ratio);
  return (width + multiple_of - 1) / multiple_of * multiple_of;
}

std::array<double, 5> BlockWeights(const EvoModel& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const double square = hidden * hidden;
  const double wide = hidden * static_cast<double>(model.ffn);
  return {square * (1 + 2 * model.kv_share()), square, wide, wide, wide};
}

double BlockParameters(const EvoModel& model) {
  double sum = 2 * static_cast<double>(model.hidden);
  for (const double weight : BlockWeights(model)) sum += weight;
  return sum;
}

double EmbeddingParameters(const EvoModel& model) {
  return static_cast<double>(model.vocabulary) *
         static_cast<double>(model.hidden);
}

double ModelParameters(const EvoModel& model) {
  return static_cast<double>(model.layers) * BlockParameters(model) +
         2 * EmbeddingParameters(model) + static_cast<double>(model.hidden);
}

std::optional<EvoModel> EvoModelOfSize(int64_t billions) {
  constexpr int64_t kVocabulary = 103168;
  constexpr double kRatio = 8.0 / 3;
  constexpr int64_t kMultipleOf = 256;
  for (const SizedModel& model : kModels) {
    if (model.billions != billions) continue;
    return EvoModel{.hidden = model.hidden,
                    .layers = model.layers,
                    .heads = model.heads,
                    .kv_heads = model.heads,
                    .vocabulary = kVocabulary,
                    .ffn = EvoFfn(model.hidden, kRatio, kMultipleOf)};
  }
  return std::nullopt;
}

std::string EvoModelSizes() {
  std::string sizes;
  for (const SizedModel& model : kModels) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", model.billions);
  }
  return sizes;
}

}  // namespace astra
