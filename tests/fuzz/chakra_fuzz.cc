// Any bytes are a Chakra file, or an error of one line. What can be read is
// written and read as the same; and it is the file of a rank, or an error. Two
// ranks that do the same agree, and none waits for the other forever.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "workload/traces/chakra_trace.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(std::string(status.message()).find('\n') == std::string::npos,
              "a message of several lines");
}

// A rank that sends messages is no peer of a rank that does the same.
void CheckTwoRanks(const ChakraFile& file) {
  ChakraImport import({}, 2, PeakRates{1e12, 1e12});
  if (!import.AddRank("a", file).ok() || !import.AddRank("b", file).ok()) {
    return;
  }
  Warnings warnings;
  const absl::Status status = import.Finish(&warnings).status();
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
}

void Check(std::string_view input) {
  CheckMessage(ParseProcessGroups("f", input, 4).status());
  const absl::StatusOr<ChakraFile> file = ParseChakraFile("f", input);
  CheckMessage(file.status());
  if (!file.ok()) return;
  const std::string text = FormatChakraFile(*file);
  const absl::StatusOr<ChakraFile> again = ParseChakraFile("f", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(FormatChakraFile(*again) == text, "another text");
  CheckTwoRanks(*file);
  ChakraImport import({}, 1, PeakRates{1e12, 1e12});
  const absl::Status status = import.AddRank("f", *file);
  CheckMessage(status);
  if (!status.ok()) return;
  Warnings warnings;
  const absl::StatusOr<ExecutionTrace> trace = import.Finish(&warnings);
  CheckMessage(trace.status());
  if (!trace.ok()) return;
  for (const TraceNode& node : trace->ranks[0].nodes) {
    ASTRA_CHECK(node.duration >= TimePs(0), "node {}", node.id);
    for (const uint32_t before : trace->ranks[0].DependenciesOf(node)) {
      ASTRA_CHECK(&trace->ranks[0].nodes[before] < &node, "node {}", node.id);
    }
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
