#include "workload/operators/gpu_spec.h"

namespace astra {

std::string_view Name(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp8:
      return "fp8";
  }
  return "";
}

int64_t BytesOf(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 4;
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
      return 1;
  }
  return 0;
}

}  // namespace astra
