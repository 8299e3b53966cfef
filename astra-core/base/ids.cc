#include "astra-core/base/ids.h"

#include <cstdint>

#include "fmt/format.h"

namespace astra::internal {

fmt::format_context::iterator FormatIndex(uint64_t index,
                                          fmt::format_context& context) {
  return fmt::format_to(context.out(), "{}", index);
}

}  // namespace astra::internal
