#include "astra-core/results/table.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/base/csv.h"

namespace astra {

// Six decimals of a microsecond are picoseconds, so integers are exact.
void AppendUs(TimePs time, std::string* text) {
  constexpr size_t kDecimals = 6;
  ASTRA_CHECK(time >= TimePs(0), "a time is {} ps", time.count());
  AppendInteger(time.count() / kPsPerUs, text);
  int64_t rest = time.count() % kPsPerUs;
  char decimals[kDecimals + 1] = ".";
  for (size_t i = kDecimals; i > 0; --i, rest /= 10) {
    decimals[i] = static_cast<char>('0' + rest % 10);
  }
  text->append(decimals, sizeof(decimals));
}

void AppendNumber(double value, int decimals, std::string* text) {
  ASTRA_CHECK(std::isfinite(value) && value >= 0, "a result is {}", value);
  AppendFormat(text, "{:.{}f}", value, decimals);
}

void AppendInteger(int64_t value, std::string* text) {
  ASTRA_CHECK(value >= 0, "a result is {}", value);
  absl::StrAppend(text, value);
}

void AppendField(std::string_view value, std::string* text) {
  *text += CsvField(value);
}

}  // namespace astra
