// Traces of PyTorch's profiler, made by hand in the form of its export.

#include "workload/traces/kineto_profile.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two runs of a product of two kernels each, a collective that runs twice, and
// a kernel of no operator that is known.
constexpr std::string_view kTrace = R"({
"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "ts": 1, "dur": 9,
 "args": {"External id": 7, "Input Dims": [[512], [64, 256], [256, 512]],
          "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "ts": 2, "dur": 9,
 "args": {"External id": 8, "Input Dims": [[512], [64, 256], [256, 512]],
          "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]}},
{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 20, "dur": 5.5,
 "args": {"External id": 7, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "bias", "ts": 26, "dur": 1.5,
 "args": {"External id": 7, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 30, "dur": 6,
 "args": {"External id": 8, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "softmax", "ts": 40, "dur": 3, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 1},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL",
 "ts": 50, "dur": 40,
 "args": {"Collective name": "_allgather_base", "In msg nelems": 1024,
          "Out msg nelems": 4096, "Group size": 4, "dtype": "BFloat16",
          "Process Group Name": "3", "Process Group Ranks": "[0, 2, 4, 6]"}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL",
 "ts": 99, "dur": 25,
 "args": {"Collective name": "_allgather_base", "In msg nelems": 1024,
          "Out msg nelems": 4096, "Group size": 4, "dtype": "BFloat16",
          "Process Group Name": "3", "Process Group Ranks": "[0, 2, 4, 6]"}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "dur": 2}
]})";

TEST(KinetoProfileTest, ProductsCollectivesAndKernelsAreSummedUp) {
  const KinetoProfile trace = ValueOrDie(ParseKinetoProfile("t", kTrace));
  EXPECT_EQ(trace.gpu, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(trace.products.size(), 1u);
  const KinetoProduct& product = trace.products[0];
  EXPECT_EQ(product.name, "aten::addmm");
  EXPECT_EQ(product.precision, "bf16");
  EXPECT_EQ(product.m, 64);
  EXPECT_EQ(product.k, 256);
  EXPECT_EQ(product.n, 512);
  EXPECT_THAT(product.times, ElementsAre(Microseconds(6), Microseconds(7)));
  ASSERT_EQ(trace.collectives.size(), 1u);
  const KinetoCollective& gather = trace.collectives[0];
  EXPECT_EQ(gather.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(gather.bytes, Bytes(8192));  // 4096 elements that come out.
  EXPECT_EQ(gather.num_ranks, 4);
  EXPECT_EQ(gather.ranks.size(), 4u);
  EXPECT_THAT(gather.times, ElementsAre(Microseconds(25), Microseconds(40)));
  EXPECT_EQ(trace.num_unknown_collectives, 1);
  EXPECT_FALSE(trace.lacks_shapes);
  ASSERT_EQ(trace.kernels.size(), 5u);
  EXPECT_EQ(trace.kernels[0].count, 2);
  EXPECT_EQ(trace.kernels[0].time, Microseconds(65));
  EXPECT_TRUE(trace.kernels[0].is_communication);
}

TEST(KinetoProfileTest, ProductsWithoutShapesAreTold) {
  const KinetoProfile trace =
      ValueOrDie(ParseKinetoProfile("t", R"({"traceEvents":
[{"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 1}},
 {"cat": "kernel", "name": "gemm", "dur": 1, "args": {"External id": 1}}]})"));
  EXPECT_TRUE(trace.lacks_shapes);
  EXPECT_THAT(trace.products, IsEmpty());
}

TEST(KinetoProfileTest, OtherFilesAreRefused) {
  const auto message = [](std::string_view text) {
    return std::string(ParseKinetoProfile("t", text).status().message());
  };
  EXPECT_EQ(message("{\"a\": "),
            "t: byte 7: no JSON; expected a trace of PyTorch's profiler");
  EXPECT_THAT(message("[]"), HasSubstr("t: no kernel of a GPU"));
  EXPECT_THAT(message(R"({"traceEvents": [{"cat": "kernel", "dur": -1}]})"),
              HasSubstr("t: no kernel has a \"dur\""));
}

}  // namespace
}  // namespace astra::testing
