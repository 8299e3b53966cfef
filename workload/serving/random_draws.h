// Random numbers of distributions, the same bits on every machine.
//
//   RandomDraws draws(seed, kPurpose, index);
//   const double gap = draws.Exponential();
//
// A sequence of draws belongs to a seed, a purpose and an index, and does not
// depend on any other. The standard library's distributions and logarithm
// differ between machines, so neither is used: the logarithm and the power here
// are sums, products and roots, which IEEE 754 defines exactly.
//
// Source of Gamma(): G. Marsaglia and W. Tsang, "A simple method for generating
// gamma variables", ACM TOMS 26(3), 2000; of the normal distribution:
// Marsaglia's polar method.

#ifndef WORKLOAD_SERVING_RANDOM_DRAWS_H_
#define WORKLOAD_SERVING_RANDOM_DRAWS_H_

#include <cstdint>

namespace astra {

// Returns the natural logarithm. Requires a finite x > 0.
double ExactLog(double x);

// Returns base to the power of `exponent`; 0 where it is too small for a
// double. Requires base > 0, and a result that is finite.
double ExactPower(double base, double exponent);

class RandomDraws {
 public:
  RandomDraws(uint64_t seed, uint64_t purpose, uint64_t index)
      : seed_(seed), purpose_(purpose), index_(index) {}

  double Uniform();      // In [0, 1).
  double Exponential();  // Of mean 1.
  double Normal();       // Of mean 0 and deviation 1.

  // Of mean `shape` and deviation sqrt(shape). Requires shape >= 0.001.
  double Gamma(double shape);

  // Of mean 1 and coefficient of variation `cv`, which is gamma's; 1 if cv is
  // 0. Requires 0 <= cv <= 30.
  double Spread(double cv);

 private:
  uint64_t seed_;
  uint64_t purpose_;
  uint64_t index_;
  uint64_t drawn_ = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_RANDOM_DRAWS_H_
