#include "astra-core/base/append_format.h"

#include <iterator>
#include <string>

#include "fmt/format.h"

namespace astra::internal {

void AppendFormatted(std::string* text, fmt::string_view format,
                     fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(*text), format, args);
}

}  // namespace astra::internal
