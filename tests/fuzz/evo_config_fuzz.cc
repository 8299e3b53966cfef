// Any bytes are an InternEvo config or an error of one line; what is written of
// a config reads back as the same, and a legal layout has a memory.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/planner/internevo/evo_config.h"
#include "astra-core/planner/internevo/evo_memory.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  Warnings warnings;
  const absl::StatusOr<EvoConfig> config =
      ReadEvoConfig("file", contents, &warnings);
  for (const std::string& warning : warnings) {
    ASTRA_CHECK(warning.find('\n') == std::string::npos,
                "a warning of several lines");
  }
  if (!config.ok()) {
    ASTRA_CHECK(config.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  if (!config->model) return;
  const std::string text =
      FormatEvoConfig(*config->model, config->seq_len, config->layout);
  const absl::StatusOr<EvoConfig> again =
      ReadEvoConfig("written", text, &warnings);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(again->model == config->model && again->layout == config->layout,
              "another config");
  constexpr int64_t kWorld = 4096;
  EvoLayout layout = config->layout;
  if (layout.zero <= 0) layout.zero = 1;
  if (!CheckEvoLayout(*config->model, config->seq_len, kWorld, layout).ok()) {
    return;
  }
  const EvoMemory memory =
      MemoryOf(*config->model, config->seq_len, kWorld, layout);
  ASTRA_CHECK(std::isfinite(memory.total) && memory.total > 0, "{}",
              memory.total);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
