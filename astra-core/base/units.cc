#include "astra-core/base/units.h"

#include <cstdint>
#include <string_view>

#include "fmt/format.h"

namespace astra::internal {

fmt::format_context::iterator FormatQuantity(int64_t count,
                                             std::string_view suffix,
                                             fmt::format_context& context) {
  return fmt::format_to(context.out(), "{}{}", count, suffix);
}

}  // namespace astra::internal
