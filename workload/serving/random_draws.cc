#include "workload/serving/random_draws.h"

#include <cmath>

#include "astra-core/base/random.h"

namespace astra {
namespace {

constexpr double kLn2 = 0.693147180559945309417;

double Exp(double x) {
  if (x < -700) return 0;
  const double twos = std::floor(x / kLn2 + 0.5);
  const double rest = x - twos * kLn2;  // At most ln(2) / 2.
  double sum = 1;
  for (int i = 18; i > 0; --i) sum = 1 + sum * rest / i;
  return std::ldexp(sum, static_cast<int>(twos));
}

}  // namespace

// ln(m) = 2 artanh(z) with z = (m - 1) / (m + 1), for m near 1.
double ExactLog(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);  // At most 0.172.
  double sum = 0;
  for (int i = 25; i > 0; i -= 2) sum = sum * z * z + 1.0 / i;
  return exponent * kLn2 + 2 * z * sum;
}

double ExactPower(double base, double exponent) {
  return Exp(exponent * ExactLog(base));
}

double RandomDraws::Uniform() {
  return UnitInterval(HashOf(seed_, purpose_, index_, drawn_++));
}

double RandomDraws::Exponential() { return -ExactLog(1 - Uniform()); }

double RandomDraws::Normal() {
  while (true) {
    const double x = 2 * Uniform() - 1;
    const double y = 2 * Uniform() - 1;
    const double square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    return x * std::sqrt(-2 * ExactLog(square) / square);
  }
}

double RandomDraws::Gamma(double shape) {
  if (shape < 1) {
    const double factor = ExactPower(1 - Uniform(), 1 / shape);
    return factor * Gamma(shape + 1);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double log_u = ExactLog(1 - Uniform());
    if (log_u < 0.5 * x * x + d - d * v + d * ExactLog(v)) return d * v;
  }
}

double RandomDraws::Spread(double cv) {
  if (cv == 0) return 1;
  const double shape = 1 / (cv * cv);
  return Gamma(shape) / shape;
}

}  // namespace astra
