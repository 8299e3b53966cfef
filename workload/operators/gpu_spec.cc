#include "workload/operators/gpu_spec.h"

#include <iterator>

namespace astra {

namespace {

struct PrecisionSpec {
  std::string_view name;
  double bytes;
};
// By Precision.
constexpr PrecisionSpec kSpecs[] = {
    {"fp32", 4},
    {"bf16", 2},
    {"fp8", 1},
    {"fp8_block", 1 + 4.0 / 128},
    {"mxfp8", 1 + 1.0 / 32},
    {"nvfp4", 0.5 + 1.0 / 16},
};
static_assert(std::size(kSpecs) == std::size(kPrecisions));

}  // namespace

std::string_view Name(Precision precision) {
  return kSpecs[IndexOf(precision)].name;
}

double BytesOf(Precision precision) { return kSpecs[IndexOf(precision)].bytes; }

}  // namespace astra
