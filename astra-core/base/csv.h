// Writes comma-separated values in the form of RFC 4180.

#ifndef ASTRA_CORE_BASE_CSV_H_
#define ASTRA_CORE_BASE_CSV_H_

#include <string>
#include <string_view>

namespace astra {

// Returns `text` as one field, in quotes if it holds a comma, a quote or a line
// break.
inline std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_CSV_H_
