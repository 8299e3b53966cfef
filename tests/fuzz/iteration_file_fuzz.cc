// Any bytes are measured iterations, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/apps/fit/iteration_file.h"
#include "astra-core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto is_line = [](const absl::Status& status) {
    return status.message().find('\n') == absl::string_view::npos;
  };
  const auto file = astra::ParseIterations("file", text);
  ASTRA_CHECK(is_line(file.status()), "a message of several lines");
  ASTRA_CHECK(!file.ok() || !file->iterations.empty(), "no iteration");
  return 0;
}
