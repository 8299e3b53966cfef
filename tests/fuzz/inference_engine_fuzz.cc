// Any bytes are the releases of an inference engine, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/inference_engines/engine_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto engines = astra::ParseInferenceEngine(
      "file", std::string_view(reinterpret_cast<const char*>(data), size));
  ASTRA_CHECK(engines.ok() || engines.status().message().find('\n') ==
                                  absl::string_view::npos,
              "a message of several lines");
  ASTRA_CHECK(!engines.ok() || !engines->empty(), "an engine without releases");
  return 0;
}
