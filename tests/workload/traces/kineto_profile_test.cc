// Traces of PyTorch's profiler, made by hand in the form of its export.

#include "workload/traces/kineto_profile.h"

#include <string>

#include "fmt/core.h"
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

std::string Kernel(std::string_view name, double begin, double duration) {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"{}","ts":{},"dur":{}}})", name,
      begin, duration);
}

// Computing runs from 10 to 40 and from 50 to 60 us, on two streams.
TEST(KinetoProfileTest, ComputingIsTheTimeInWhichAnyKernelDoes) {
  const std::string text =
      R"({"distributedInfo":{"backend":"nccl","rank":5},"traceEvents":[)" +
      Kernel("gemm", 10, 20) + "," + Kernel("norm", 20, 20) + "," +
      Kernel("ncclDevKernel_AllGather_RING_LL", 35, 100) + "," +
      Kernel("nvshmem_put", 60, 9) + "," + Kernel("adam", 50, 10) +
      R"(,{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4"})"
      R"(,{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5"})"
      R"(,{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#5"}]})";
  const KinetoProfile trace = ValueOrDie(ParseKinetoProfile("t", text));
  EXPECT_EQ(trace.rank, 5u);
  EXPECT_EQ(trace.num_steps, 2);
  EXPECT_EQ(trace.num_computing_kernels, 3);
  EXPECT_EQ(trace.num_unplaced_kernels, 0);
  EXPECT_EQ(trace.computing, Microseconds(40));
  EXPECT_EQ(ValueOrDie(ParseKinetoProfile("t", "{\"traceEvents\":[" +
                                                   Kernel("gemm", 0, 1) + "]}"))
                .num_steps,
            1);
}

// The operator of a kernel may come behind it; one without a begin counts to
// the sums only.
TEST(KinetoProfileTest, TheOrderOfEventsHasNoEffect) {
  const KinetoProfile trace =
      ValueOrDie(ParseKinetoProfile("t", R"({"traceEvents":
[{"cat": "kernel", "name": "gemm", "dur": 3, "args": {"External id": 1}},
 {"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 1,
  "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}}]})"));
  ASSERT_EQ(trace.products.size(), 1u);
  EXPECT_THAT(trace.products[0].times, ElementsAre(Microseconds(3)));
  EXPECT_EQ(trace.num_unplaced_kernels, 1);
  EXPECT_EQ(trace.computing, TimePs(0));
}

// {"traceEvents": [{"cat": "kernel", "name": "k", "ts": 1, "dur": 2}],
//  "distributedInfo": {"rank": 3}}
constexpr std::string_view kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x2a\x29\x4a\x4c\x4e\x75"
    "\x2d\x4b\xcd\x2b\x29\x56\xb2\x52\x88\xae\x56\x4a\x4e\x2c\x01\x32\x94\xb2"
    "\x53\x8b\xf2\x52\x73\x94\x74\x14\x94\xf2\x12\x73\x53\xc1\x22\x20\x0e\x58"
    "\x95\x21\x90\x91\x52\x5a\x04\x64\x19\xd5\xc6\x82\xd8\x99\xc5\x25\x45\x99"
    "\x49\xa5\x25\xa9\x29\x9e\x79\x69\xf9\x40\xf1\x6a\xa5\xa2\xc4\xbc\x6c\x20"
    "\xc3\xb8\xb6\x16\x00\x7e\x96\x44\xc8\x64\x00\x00\x00",
    103);

TEST(KinetoProfileTest, PackedTracesAreRead) {
  const KinetoProfile trace = ValueOrDie(ParseKinetoProfile("t.gz", kPacked));
  EXPECT_EQ(trace.rank, 3u);
  EXPECT_EQ(trace.computing, Microseconds(2));
  EXPECT_EQ(
      ParseKinetoProfile("t.gz", kPacked.substr(0, 60)).status().message(),
      "t.gz: the compressed data end early");
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
  EXPECT_EQ(message(R"({"traceEvents": [{"ts": 71e999}]})"),
            "t: the number '71e999' does not fit 64 bits; expected a trace of "
            "PyTorch's profiler");
  for (const char* text : {"[]", "{}", R"({"traceEvents": 1})"}) {
    EXPECT_EQ(message(text),
              "t: no list \"traceEvents\"; expected a trace of PyTorch's "
              "profiler");
  }
  EXPECT_THAT(message(R"({"traceEvents": []})"),
              HasSubstr("t: no kernel of a GPU"));
  EXPECT_THAT(message(R"({"traceEvents": [{"cat": "kernel", "dur": -1}]})"),
              HasSubstr("t: no kernel has a \"dur\""));
}

}  // namespace
}  // namespace astra::testing
