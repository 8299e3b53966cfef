// Any bytes are a file of a finished run, or an error of one line; what is read
// can be compared with itself, and differs in nothing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/apps/compare/finished_run.h"
#include "astra-core/apps/compare/run_comparison.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

template <class Value>
bool IsRead(const absl::StatusOr<Value>& value) {
  if (value.ok()) return true;
  ASTRA_CHECK(
      std::string(value.status().message()).find('\n') == std::string::npos,
      "a message of several lines");
  return false;
}

void Check(std::string_view input) {
  FinishedRun run;
  if (auto stages = ParseBreakdown("f", input); IsRead(stages)) {
    run.stages = *std::move(stages);
  }
  if (auto totals = ParseCollectives("f", input); IsRead(totals)) {
    run.collectives = *std::move(totals);
  }
  auto summary = ParseRunSummary("f", input);
  if (!IsRead(summary)) return;
  run.summary = *std::move(summary);
  const FinishedRun runs[] = {run, run};
  ASTRA_CHECK(CompareInputs(runs).rows.empty(), "a run differs from itself");
  ASTRA_CHECK(!DescribeComparison(runs).empty(), "nothing is said");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
