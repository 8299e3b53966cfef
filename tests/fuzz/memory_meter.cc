#include "tests/fuzz/memory_meter.h"

#include <sanitizer/allocator_interface.h>

#include <algorithm>

#include "astra-core/base/check.h"

namespace astra::testing {
namespace {

// Fuzzers run in one thread.
bool is_counting = false;
ptrdiff_t held = 0;
ptrdiff_t most_held = 0;

void Allocated(const volatile void*, size_t size) {
  if (!is_counting) return;
  held += static_cast<ptrdiff_t>(size);
  most_held = std::max(most_held, held);
}

void Freed(const volatile void* memory) {
  if (!is_counting || memory == nullptr) return;
  held -= static_cast<ptrdiff_t>(
      __sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}

}  // namespace

MemoryMeter::MemoryMeter() {
  static const int kHooks =
      __sanitizer_install_malloc_and_free_hooks(&Allocated, &Freed);
  ASTRA_CHECK(kHooks > 0, "no room for another hook");
  held = most_held = 0;
  is_counting = true;
}

MemoryMeter::~MemoryMeter() { is_counting = false; }

size_t MemoryMeter::peak() const { return static_cast<size_t>(most_held); }

}  // namespace astra::testing
