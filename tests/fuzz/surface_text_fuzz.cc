// Any bytes are the text of surfaces, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "tests/fuzz/memory_meter.h"
#include "workload/kernels/surface_text.h"

namespace astra {
namespace {

// A line of a dozen bytes has a time for each of up to kMaxSurfacePoints
// points, and they may double as the list grows.
constexpr size_t kMaxBytesPerByte = 2 * sizeof(float) * kMaxSurfacePoints;
constexpr size_t kMaxBytesForAny = size_t{1} << 18;

void Check(std::string_view text) {
  const testing::MemoryMeter meter;
  const auto surfaces = ParseSurfaceText("file", text);
  ASTRA_CHECK(meter.peak() <= kMaxBytesForAny + kMaxBytesPerByte * text.size(),
              "{} bytes of memory for a file of {}", meter.peak(), text.size());
  if (!surfaces.ok()) {
    ASTRA_CHECK(
        surfaces.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  ASTRA_CHECK(ParseSurfaceHead("file", text).ok(), "no head");
  for (const SurfaceTimes& times : *surfaces) {
    ASTRA_CHECK(times.log_us.size() == times.lines.size() * times.num_points(),
                "{} times", times.log_us.size());
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
