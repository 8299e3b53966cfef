#include "workload/modules/expert_skew.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace astra {
namespace {

// Inverse of the distribution of the power law on [1, most], at `share`.
double Quantile(double exponent, double most, double share) {
  const double power = 1 - exponent;
  if (std::abs(power) < 1e-9) return std::pow(most, share);
  return std::pow(1 + share * (std::pow(most, power) - 1), 1 / power);
}

// Puts the loads into another order; the same for the same generator. (What
// std::shuffle does with a generator differs between libraries.)
void Shuffle(std::mt19937_64& random, std::vector<double>& loads) {
  for (size_t i = loads.size(); i > 1; --i) {
    std::swap(loads[i - 1], loads[random() % i]);
  }
}

}  // namespace

double PowerLawLoad(double exponent, double most, int64_t experts,
                    int64_t ranks) {
  constexpr int kPlacements = 256;
  if (ranks == 1) return 1;
  const auto count = static_cast<size_t>(experts);
  std::vector<double> loads(count);
  for (size_t i = 0; i < count; ++i) {
    const double share =
        (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    loads[i] = Quantile(exponent, most, share);
  }
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) /
                      static_cast<double>(ranks);
  const auto held = static_cast<std::ptrdiff_t>(experts / ranks);
  std::mt19937_64 random(1);
  double sum = 0;
  for (int i = 0; i < kPlacements; ++i) {
    Shuffle(random, loads);
    double busiest = 0;
    for (auto first = loads.begin(); first != loads.end(); first += held) {
      busiest = std::max(busiest, std::accumulate(first, first + held, 0.0));
    }
    sum += busiest;
  }
  return sum / kPlacements / mean;
}

}  // namespace astra
