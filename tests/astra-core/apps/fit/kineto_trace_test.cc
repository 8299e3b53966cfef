#include "astra-core/apps/fit/kineto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fmt/core.h"

namespace astra {
namespace {

using ::testing::DoubleNear;

std::string Kernel(std::string_view name, double begin, double duration) {
  return fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,)"
                     R"("ts":{},"dur":{},"args":{{"stream":7}}}})",
                     name, begin, duration);
}

std::string Trace(std::string_view events) {
  return fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":5}},)"
      R"("deviceProperties":[{{"id":0}}],"traceEvents":[{}]}})",
      events);
}

std::string ErrorOf(std::string_view text) {
  return std::string(ParseKinetoTrace("t.json", text).status().message());
}

TEST(KinetoTraceTest, CountsTheTimeInWhichAnythingComputes) {
  // Computing runs from 10 to 40 and from 50 to 60 us, on two streams.
  const auto trace = ParseKinetoTrace(
      "t.json",
      Trace(Kernel("gemm", 10, 20) + "," + Kernel("norm", 20, 20) + "," +
            Kernel("ncclDevKernel_AllGather_RING_LL", 35, 100) + "," +
            Kernel("adam", 50, 10) +
            R"(,{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4"})"
            R"(,{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5"})"
            R"(,{"ph":"X","cat":"gpu_user_annotation",)"
            R"("name":"ProfilerStep#5"},{"ph":"M","name":"process_name"})"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->rank, 5U);
  EXPECT_EQ(trace->steps, 2);
  EXPECT_EQ(trace->kernels, 3);
  EXPECT_THAT(trace->computing_seconds, DoubleNear(40e-6, 1e-12));
}

TEST(KinetoTraceTest, ATraceWithoutStepsIsOneIteration) {
  const auto trace = ParseKinetoTrace("t.json", Trace(Kernel("gemm", 0, 1)));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->steps, 1);
}

TEST(KinetoTraceTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("\x1f\x8b\x08"),
            "t.json: it is compressed: expected the JSON itself, as gunzip "
            "writes it");
  for (const char* text : {"", "[]", "{", "{}", R"({"traceEvents": [)"}) {
    EXPECT_EQ(ErrorOf(text),
              "t.json: expected JSON with \"traceEvents\", as torch.profiler "
              "exports it")
        << text;
  }
  EXPECT_EQ(ErrorOf(Trace(Kernel("ncclKernel_SendRecv", 0, 1))),
            "t.json: no kernel computes: expected a trace of "
            "ProfilerActivity.CUDA");
  EXPECT_EQ(ErrorOf(Trace(Kernel("gemm", 0, -1))),
            "t.json: the kernel \"gemm\" has no \"ts\" and \"dur\" in "
            "microseconds");
}

}  // namespace
}  // namespace astra
