// Any bytes are a table of measured collectives or an error of one line; what
// is written of it reads back as the same rows, and can be plotted and summed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "collectives/measurements/comparison.h"
#include "collectives/measurements/measured_table.h"

namespace astra {
namespace {

constexpr auto kNone = std::string::npos;

void Check(std::string_view input) {
  const absl::StatusOr<MeasuredTable> table = ParseMeasuredTable("f", input);
  if (!table.ok()) {
    ASTRA_CHECK(std::string(table.status().message()).find('\n') == kNone,
                "a message of several lines");
    return;
  }
  std::vector<Outcome> outcomes;
  for (const MeasuredRow& row : table->rows) {
    ASTRA_CHECK(row.problem.find('\n') == kNone, "a problem of several lines");
    Outcome& outcome = outcomes.emplace_back();
    if (row.problem.empty()) {
      outcome.predicted_us = row.time_us * row.num_gpus_per_node();
    } else {
      outcome.status = row.problem;
    }
  }
  const std::vector<NamedFile> files = ComparisonFiles(*table, outcomes);
  const absl::StatusOr<MeasuredTable> again =
      ParseMeasuredTable("comparison.csv", files[0].contents);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(FormatComparison(*again, outcomes) == files[0].contents,
              "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
