#include "astra-core/apps/collective/nccl_tests_sizes.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr ElementType kTypes[] = {
    {"int8", 1},   {"uint8", 1},    {"int32", 4},  {"uint32", 4},
    {"int64", 8},  {"uint64", 8},   {"half", 2},   {"float", 4},
    {"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1},
};

// Returns the power of 1024 that a unit stands for; -1 for another text.
int PowerOf(std::string_view unit) {
  if (unit.empty()) return 0;
  constexpr std::string_view kPrefixes = "kmgt";
  const auto letter =
      static_cast<char>(std::tolower(static_cast<unsigned char>(unit[0])));
  const size_t place = kPrefixes.find(letter);
  const std::string_view rest = unit.substr(1);
  if (place == std::string_view::npos) return -1;
  if (!rest.empty() && rest != "B" && rest != "iB") return -1;
  return static_cast<int>(place) + 1;
}

bool HasParts(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<ElementType> ParseElementType(std::string_view option,
                                             std::string_view text) {
  std::vector<std::string_view> names;
  for (const ElementType& type : kTypes) {
    if (type.name == text) return type;
    names.push_back(type.name);
  }
  return absl::InvalidArgumentError(UnknownName(option, text, names));
}

absl::StatusOr<Bytes> ParseNcclTestsSize(std::string_view option,
                                         std::string_view text) {
  const size_t digits =
      std::min(text.find_first_not_of("0123456789."), text.size());
  const absl::StatusOr<double> number =
      ParseNumber(option, text.substr(0, digits));
  const int power = PowerOf(text.substr(digits));
  if (number.ok() && power >= 0) {
    const double bytes = std::ldexp(*number, 10 * power);
    const auto max = static_cast<double>(kMaxNcclTestsBytes.count());
    if (bytes >= 1 && bytes <= max && bytes == std::floor(bytes)) {
      return Bytes(static_cast<int64_t>(bytes));
    }
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} is {}: expected a size from 1 byte to 16T, such as 1024, 64K, 8M or "
      "1G (powers of 1024)",
      option, Quoted(text)));
}

absl::StatusOr<std::vector<Bytes>> SizesOf(const SizeSweep& sweep) {
  std::vector<Bytes> sizes;
  Bytes size = sweep.min;
  while (size <= sweep.max) {
    if (static_cast<int64_t>(sizes.size()) == kMaxSweepSizes) {
      return absl::InvalidArgumentError(
          fmt::format("more than the limit of {} sizes: give a larger step",
                      kMaxSweepSizes));
    }
    sizes.push_back(size);
    size = sweep.step > Bytes(0) ? size + sweep.step : sweep.factor * size;
  }
  return sizes;
}

NcclTestsBuffer BufferOf(CollectiveKind kind, Bytes size,
                         const ElementType& type, uint32_t num_ranks) {
  constexpr int64_t kAlignment = 16;
  const int64_t elements = size.count() / type.bytes;
  if (!HasParts(kind)) return {Bytes(elements * type.bytes), elements};
  const int64_t multiple = kAlignment / type.bytes;
  const int64_t part = elements / num_ranks / multiple * multiple;
  return {Bytes(part * type.bytes * num_ranks), part};
}

}  // namespace astra
