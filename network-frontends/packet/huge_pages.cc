#include "network-frontends/packet/huge_pages.h"

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace astra {
namespace {

constexpr size_t kPageBytes = size_t{2} << 20;

class Source final : public std::pmr::memory_resource {
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes < kPageBytes) {
      return ::operator new(bytes, std::align_val_t(alignment));
    }
    void* const memory = ::operator new(bytes, std::align_val_t(kPageBytes));
    // A hint: without huge pages nothing but the time differs.
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    const size_t used = bytes < kPageBytes ? alignment : kPageBytes;
    ::operator delete(memory, std::align_val_t(used));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

}  // namespace

std::pmr::memory_resource* HugePages() {
  static Source source;
  return &source;
}

}  // namespace astra
