// The buffer sizes that nccl-tests measures, the numbers of elements that it
// counts, and its names for both.
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
  std::string_view name;  // Name that option -d takes, such as "float".
  int64_t bytes;
};

// Returns the element type `text`. Errors: InvalidArgument for an unknown name,
// with the known names.
absl::StatusOr<ElementType> ParseElementType(std::string_view option,
                                             std::string_view text);

// Parses "1024", "1K", "1.5M", "8G", "8GB" or "8GiB": units are powers of 1024
// however they are spelt. Sizes go from 1 byte to kMaxNcclTestsBytes.
//
// Errors: InvalidArgument "OPTION is TEXT: ...".
absl::StatusOr<Bytes> ParseNcclTestsSize(std::string_view option,
                                         std::string_view text);
inline constexpr Bytes kMaxNcclTestsBytes(int64_t{1} << 44);

// Sizes from `min` to `max`. Each size is the one before plus `step` or, where
// `step` is 0, times `factor`.
struct SizeSweep {
  Bytes min = KiB(1);
  Bytes max = MiB(8 << 10);
  int64_t factor = 2;
  Bytes step;
};
inline constexpr int64_t kMaxSweepSizes = 100'000;

// Returns the sizes of `sweep`. Errors: InvalidArgument for more than
// kMaxSweepSizes sizes.
absl::StatusOr<std::vector<Bytes>> SizesOf(const SizeSweep& sweep);

// Buffer that nccl-tests makes for a size: whole elements and, where each rank
// has a part of the buffer, parts of equal length, a multiple of 16 bytes. It
// may be empty.
struct NcclTestsBuffer {
  Bytes bytes;  // Bytes in the column "size".
  // Elements in the column "count", of a rank's part if it has one.
  int64_t count = 0;
};
NcclTestsBuffer BufferOf(CollectiveKind kind, Bytes size,
                         const ElementType& type, uint32_t num_ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_NCCL_TESTS_SIZES_H_
