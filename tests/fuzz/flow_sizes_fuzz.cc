// Any bytes are sizes of messages, or an error of one line. Larger shares have
// larger sizes, and the mean lies among them.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "network-frontends/traffic/flow_sizes.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const absl::StatusOr<FlowSizes> sizes = FlowSizes::Parse("file", contents);
  if (!sizes.ok()) {
    ASTRA_CHECK(sizes.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  Bytes last;
  for (int step = 0; step <= 100; ++step) {
    const Bytes size = sizes->Quantile(0.01 * step);
    ASTRA_CHECK(size >= last && size >= Bytes(1), "{} after {}", size, last);
    last = size;
  }
  ASTRA_CHECK(
      sizes->mean_bytes() >= 0 &&
          sizes->mean_bytes() <= 1.000001 * static_cast<double>(last.count()),
      "mean {} of at most {}", sizes->mean_bytes(), last);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
