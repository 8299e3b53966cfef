// Any three texts are Calculon's inputs or an error, every message is one line,
// and each number of a prediction is finite and not negative. Lines with "%%"
// separate the three files: application, execution, system.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/base/check.h"
#include "astra-core/planner/calculon/calculon_cost.h"
#include "astra-core/planner/calculon/calculon_files.h"
#include "astra-core/planner/calculon/calculon_result.h"

namespace astra {
namespace {

void CheckOneLine(std::string_view message) {
  ASTRA_CHECK(message.find('\n') == std::string_view::npos,
              "a message of several lines");
}

void Check(std::string_view contents) {
  std::vector<std::string> texts =
      absl::StrSplit(std::string(contents), absl::MaxSplits("%%\n", 2));
  constexpr size_t kFiles = 3;
  texts.resize(kFiles);
  Warnings warnings;
  const absl::StatusOr<CalculonInputs> inputs = ReadCalculonInputs(
      {"model", texts[0]}, {"run", texts[1]}, {"machine", texts[2]}, &warnings);
  for (const std::string& warning : warnings) CheckOneLine(warning);
  if (!inputs.ok()) {
    CheckOneLine(std::string(inputs.status().message()));
    return;
  }
  const CalculonCost cost = CalculonCostOf(*inputs);
  for (const CalculonStatistic& one : CalculonStatistics(*inputs, cost)) {
    ASTRA_CHECK(!one.value || (std::isfinite(*one.value) && *one.value >= 0),
                "{} is {}", one.name, *one.value);
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
