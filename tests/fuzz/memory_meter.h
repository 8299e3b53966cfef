// How much memory a piece of code takes, so that a fuzzer can tell when a short
// input makes a reader reserve a lot.

#ifndef TESTS_FUZZ_MEMORY_METER_H_
#define TESTS_FUZZ_MEMORY_METER_H_

#include <cstddef>

namespace astra::testing {

// From its construction on counts what is allocated and not yet freed. One at a
// time; needs AddressSanitizer.
class MemoryMeter {
 public:
  MemoryMeter();
  ~MemoryMeter();
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  // The most that was held at any time, in bytes.
  size_t peak() const;
};

}  // namespace astra::testing

#endif  // TESTS_FUZZ_MEMORY_METER_H_
