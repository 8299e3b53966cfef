// Any bytes are a topology or an error, at no more memory than their length
// warrants; a topology, once written, is read back as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "tests/fuzz/memory_meter.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

// A node takes two bytes of text or more, a cable ten or more; both cost some
// tens of bytes in several tables, and tables double as they grow.
constexpr size_t kMaxBytesPerByte = 1000;
constexpr size_t kMaxBytesForAny = size_t{1} << 16;

void Check(std::string_view contents) {
  const testing::MemoryMeter meter;
  const absl::StatusOr<Topology> topology = ParseTopology("file", contents);
  ASTRA_CHECK(
      meter.peak() <= kMaxBytesForAny + kMaxBytesPerByte * contents.size(),
      "{} bytes of memory for a file of {}", meter.peak(), contents.size());
  if (!topology.ok()) {
    ASTRA_CHECK(
        topology.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  const std::string text = FormatTopology(*topology);
  const absl::StatusOr<Topology> again = ParseTopology("file", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(FormatTopology(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
