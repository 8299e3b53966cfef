// Decision trees that were fitted to measured operators of one GPU, and the
// file that holds them. simai_fit --train writes such a file, and gen_workload
// takes it like a table of operators.
//
// Trees predict the share of the bound that an operator takes:
//
//   time = bound x exp(trees)
//   bound = max(FLOPs / peak_tflops, bytes / memory_gb_per_s)
//
// The trees know the Dimensions of an operator, its FLOPs and its bytes. Each
// OperatorClass has trees of its own. Beyond the sizes that were sampled, trees
// answer with the share at the boundary, so that the time still grows with the
// bound; FittedModel names such times as extrapolated.
//
// The file has a line for each of these, with words separated by blanks:
//
// clang-format off
//   simai-operator-trees 1
//   gpu NAME
//   peak_tflops NUMBER
//   memory_gb_per_s NUMBER
//   class SHAPE PRECISION [grouped] [backward] [bias] [window=N] [name=NAME]
//     samples N error NUMBER       mean error on held-out samples: 0.05 is 5 %
//     sizes LEAST..MOST ...        one for each of the Dimensions
//     start NUMBER
//     tree N                       N nodes follow, the root first
//     FEATURE THRESHOLD BELOW OTHER, or leaf NUMBER: see TreeNode
// clang-format on

#ifndef WORKLOAD_OPERATORS_FITTED_OPERATORS_H_
#define WORKLOAD_OPERATORS_FITTED_OPERATORS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/operators/measured_operators.h"
#include "workload/operators/operator.h"
#include "workload/operators/tree_ensemble.h"

namespace astra {

// Dimensions of an operator, its FLOPs, and its bytes.
constexpr size_t kNumFittedFeatures = std::tuple_size_v<Dimensions> + 2;
using FittedFeatures = std::array<double, kNumFittedFeatures>;
FittedFeatures FittedFeaturesOf(const Operator& op);

struct SizeRange {
  int64_t least = 1;
  int64_t most = 1;

  bool contains(int64_t size) const { return least <= size && size <= most; }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

struct FittedClass {
  OperatorClass kind;
  int64_t num_samples = 0;
  double error = 0;  // Mean relative error on samples that were held out.
  std::array<SizeRange, std::tuple_size_v<Dimensions>> sizes;  // Sampled sizes.
  TreeEnsemble trees;

  friend bool operator==(const FittedClass&, const FittedClass&) = default;
};

struct FittedOperators {
  std::string gpu;                   // Name in the library of GPUs.
  double peak_tflops = 0;            // Rates of the bound, above 0.
  double memory_gb_per_s = 0;        // In units of 10^9 bytes.
  std::vector<FittedClass> classes;  // Ordered by kind; no two are equal.

  // Returns the trees of the operator's class, or none.
  const FittedClass* Find(const OperatorClass& kind) const;

  // Returns the least seconds that the operator could take. Above 0.
  double BoundOf(const Operator& op) const;
};

// Returns a class in the words of the file, such as "product bf16 grouped".
std::string FormatClass(const OperatorClass& kind);

// Returns whether `contents` begins as such a file.
bool IsFittedOperators(std::string_view contents);

std::string FormatFittedOperators(const FittedOperators& operators);

// Parses a file. Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line
// that is missing, unknown or incomplete, for a number out of its range, for
// trees that TreeEnsemble refuses, and for a class that stands twice.
absl::StatusOr<FittedOperators> ParseFittedOperators(std::string_view file,
                                                     std::string_view contents);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_FITTED_OPERATORS_H_
