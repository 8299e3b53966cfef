// Any bytes are the releases of a framework, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/frameworks/framework_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto releases = astra::ParseFramework(
      "file", std::string_view(reinterpret_cast<const char*>(data), size));
  ASTRA_CHECK(releases.ok() || releases.status().message().find('\n') ==
                                   absl::string_view::npos,
              "a message of several lines");
  ASTRA_CHECK(!releases.ok() || !releases->empty(), "no release");
  return 0;
}
