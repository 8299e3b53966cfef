// Any bytes are a trace of PyTorch's profiler, packed by gzip or not, or an
// error of one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/check.h"
#include "workload/traces/kineto_profile.h"

namespace astra {
namespace {

void Check(std::string_view input) {
  const absl::StatusOr<KinetoProfile> trace = ParseKinetoProfile("f", input);
  ASTRA_CHECK(
      std::string(trace.status().message()).find('\n') == std::string::npos,
      "a message of several lines");
  if (!trace.ok()) return;
  ASTRA_CHECK(!trace->kernels.empty(), "no kernels");
  ASTRA_CHECK(trace->computing >= TimePs(0) && trace->num_steps > 0, "times");
  for (const KinetoProduct& product : trace->products) {
    ASTRA_CHECK(product.m > 0 && product.n > 0 && product.k > 0 &&
                    product.groups > 0 && !product.times.empty(),
                "{}", product.name);
  }
  for (const KinetoCollective& collective : trace->collectives) {
    ASTRA_CHECK(collective.bytes > Bytes(0) && !collective.times.empty(), "{}",
                collective.group);
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
