// The sizes that nccl-tests measures, the elements that it counts, and what it
// calls both.
//
// Source: nccl-tests 2.17, src/common.cu, src/all_gather.cu and its siblings.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_NCCL_TESTS_SIZES_H_
#define ASTRA_CORE_APPS_COLLECTIVE_NCCL_TESTS_SIZES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"

namespace astra {

struct ElementType {
  std::string_view name;  // "float", of option -d.
  int64_t bytes;
};

// Errors: InvalidArgument, with the names there are.
absl::StatusOr<ElementType> ParseElementType(std::string_view option,
                                             std::string_view text);

// "1024", "1K", "1.5M", "8G", "8GB", "8GiB": powers of 1024 however they are
// written, from 1 byte to kMaxNcclTestsBytes.
//
// Errors: InvalidArgument "OPTION is TEXT: ...".
absl::StatusOr<Bytes> ParseNcclTestsSize(std::string_view option,
                                         std::string_view text);
inline constexpr Bytes kMaxNcclTestsBytes(int64_t{1} << 44);

// From `min` to `max`, each `factor` times the one before or, where `step` is
// not 0, that much larger.
struct SizeSweep {
  Bytes min = KiB(1);
  Bytes max = MiB(8 << 10);
  int64_t factor = 2;
  Bytes step;
};
inline constexpr int64_t kMaxSweepSizes = 100'000;

// Errors: InvalidArgument beyond kMaxSweepSizes.
absl::StatusOr<std::vector<Bytes>> SizesOf(const SizeSweep& sweep);

// What nccl-tests makes of a size: whole elements and, where each rank has a
// part of the buffer, parts of equal length, a multiple of 16 bytes. May be 0.
struct NcclTestsBuffer {
  Bytes bytes;        // "size"
  int64_t count = 0;  // "count": of a rank's part, where it has one.
};
NcclTestsBuffer BufferOf(CollectiveKind kind, Bytes size,
                         const ElementType& type, uint32_t num_ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_NCCL_TESTS_SIZES_H_
