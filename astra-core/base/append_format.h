// AppendFormat adds formatted text to the end of a string:
//
//   AppendFormat(&text, "{},{}\n", rank, bytes);
//
// Use it instead of fmt::format_to(std::back_inserter(text), ...). That
// template compiles most of {fmt} again in every source that calls it, about
// three seconds each. AppendFormat compiles once.

#ifndef ASTRA_CORE_BASE_APPEND_FORMAT_H_
#define ASTRA_CORE_BASE_APPEND_FORMAT_H_

#include <string>
#include <utility>

#include "fmt/core.h"

namespace astra {
namespace internal {

void AppendFormatted(std::string* text, fmt::string_view format,
                     fmt::format_args args);

}  // namespace internal

template <class... Args>
void AppendFormat(std::string* text, fmt::format_string<Args...> format,
                  Args&&... args) {
  internal::AppendFormatted(text, format, fmt::make_format_args(args...));
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_APPEND_FORMAT_H_
