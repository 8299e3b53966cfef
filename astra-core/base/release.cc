#include "astra-core/base/release.h"

#include <charconv>
#include <system_error>

namespace astra {

Release ReleaseOf(std::string_view text) {
  Release release;
  while (true) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result result =
        std::from_chars(text.data(), end, number);
    if (result.ec != std::errc() || number < 0) return release;
    release.push_back(number);
    text.remove_prefix(static_cast<size_t>(result.ptr - text.data()));
    if (text.empty() || text[0] != '.') return release;
    text.remove_prefix(1);
  }
}

}  // namespace astra
