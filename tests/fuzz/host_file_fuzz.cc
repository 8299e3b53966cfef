// Any bytes are a host file, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/apps/physical/host_file.h"
#include "astra-core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kRanks = 5;
  const auto places = astra::ParseHostFile(
      "file", std::string_view(reinterpret_cast<const char*>(data), size),
      kRanks);
  ASTRA_CHECK(places.ok() || places.status().message().find('\n') ==
                                 absl::string_view::npos,
              "a message of several lines");
  ASTRA_CHECK(!places.ok() || places->size() == kRanks,
              "another number of places than ranks");
  return 0;
}
