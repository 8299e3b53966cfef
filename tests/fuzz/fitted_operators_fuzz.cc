// Any bytes are trees of operators or an error of one line; what is written of
// trees reads back as the same text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/operators/fitted_operators.h"

namespace astra {
namespace {

void Check(std::string_view input) {
  const absl::StatusOr<FittedOperators> read = ParseFittedOperators("f", input);
  if (!read.ok()) {
    ASTRA_CHECK(
        std::string(read.status().message()).find('\n') == std::string::npos,
        "a message of several lines");
    return;
  }
  const std::string text = FormatFittedOperators(*read);
  const absl::StatusOr<FittedOperators> again = ParseFittedOperators("f", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(FormatFittedOperators(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
