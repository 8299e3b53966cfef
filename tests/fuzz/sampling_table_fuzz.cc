// Any bytes are a sampling table and a target, or errors of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/regressors/estimator_target.h"
#include "workload/regressors/sampling_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto is_line = [](const absl::Status& status) {
    return status.message().find('\n') == absl::string_view::npos;
  };
  for (const char* file : {"G_linear1_fp16.csv", "G_p2p_fp16_2_1.csv"}) {
    const auto table = astra::ParseSamplingTable(file, text);
    ASTRA_CHECK(is_line(table.status()), "a message of several lines");
    ASTRA_CHECK(!table.ok() || !table->passes.empty(), "no samples");
  }
  ASTRA_CHECK(is_line(astra::ParseEstimatorTarget("file", text, "").status()),
              "a message of several lines");
  return 0;
}
