// Any bytes are a GPU or an error of one line; on a GPU, every operator takes
// some time.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/operators/gpu_file.h"
#include "workload/operators/roofline.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const absl::StatusOr<GpuSpec> gpu = ParseGpu("file", contents);
  if (!gpu.ok()) {
    ASTRA_CHECK(gpu.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  const Roofline roofline(*gpu);
  const Operator operators[] = {
      {"ffn_up", Gemm{.m = 4096, .n = 8192, .k = 1024}, Precision::kFp8},
      {"experts_up", Gemm{.groups = 64, .m = 1, .n = 1, .k = 1}},
      {"attention", Attention{.batch = 1,
                              .queries = 4096,
                              .keys = 4096,
                              .heads = 8,
                              .kv_heads = 1,
                              .qk_dim = 64,
                              .v_dim = 64}},
      {"delta_rule", DeltaRule{.batch = 1,
                               .positions = 1,
                               .heads = 1,
                               .key_dim = 1,
                               .value_dim = 1}},
      {"adam", Stream{int64_t{1} << 40}}};
  for (const Operator& op : operators) {
    ASTRA_CHECK(roofline.TimeOf(op).time > TimePs(0), "{}", op.name);
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
