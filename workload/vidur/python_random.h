// The random numbers of Python and NumPy, so that a seed means the same
// requests as in a program written in Python.
//
//   PythonRandom random(42);                 // random.seed(42)
//   const double share = random.Random();    // random.random()
//   const auto order = NumpyPermutation(42, 10);
//
// Both generate with the Mersenne Twister MT19937 and differ in how they make
// its state of a seed: Python by init_by_array, NumPy by init_genrand.
// NumPy's order is that of RandomState(seed).permutation(n), which pandas'
// DataFrame.sample(frac=1, random_state=seed) uses.
//
// Sources: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8(1),
// 1998, with the authors' initializations; the documentation of Python's module
// random and of numpy.random.RandomState.

#ifndef WORKLOAD_VIDUR_PYTHON_RANDOM_H_
#define WORKLOAD_VIDUR_PYTHON_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace astra {

class PythonRandom {
 public:
  explicit PythonRandom(uint32_t seed);

  // Returns the next number in [0, 1), of 53 bits.
  double Random();

 private:
  static constexpr size_t kWords = 624;

  void Refill();
  uint32_t Next();

  std::array<uint32_t, kWords> state_{};
  size_t used_ = kWords;  // Words of the state that were given out.
};

// Returns 0 to count - 1 in the order of NumPy. Requires count < 2^32.
std::vector<size_t> NumpyPermutation(uint32_t seed, size_t count);

}  // namespace astra

#endif  // WORKLOAD_VIDUR_PYTHON_RANDOM_H_
