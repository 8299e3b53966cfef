#include "collectives/nccl/engine_time.h"

#include "collectives/inference_engines/engine_file.h"
#include "collectives/nccl/estimator.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

constexpr EngineKernel kKernel = {.algorithm = EngineAlgorithm::kTwoShot,
                                  .start_us = 4,
                                  .rank_us = 0.5,
                                  .pass_us = 1,
                                  .buffer_GBps = 100,
                                  .efficiency = 1};

// 4 + 0.5 x 8 us to start; one pass takes 8 us, in which 100 GB/s move 800 kB.
TEST(EngineTimeTest, ABufferOfOnePassTakesTheSameTimeWhateverItsSize) {
  const SizedTime time = EngineTime(kKernel, 8, 2);
  EXPECT_EQ(time.TimeOf(Bytes(1)), TimePs(16'000'000));
  EXPECT_EQ(time.TimeOf(Bytes(800'000)), TimePs(16'000'000));
  EXPECT_EQ(time.TimeOf(Bytes(1'600'000)), TimePs(24'000'000));
}

TEST(EngineTimeTest, SlowLinksTakeThePlaceOfTheKernelsOwnRate) {
  // 20 ps/B: 50 GB/s.
  EXPECT_EQ(EngineTime(kKernel, 8, 20).TimeOf(Bytes(1'600'000)),
            TimePs(40'000'000));
}

class EngineEstimateTest : public ::testing::Test {
 protected:
  static CollectiveEstimate Estimate(
      std::string_view engine, Launch launch, Bytes bytes,
      CollectiveKind kind = CollectiveKind::kAllReduce) {
    NcclOptions options;
    options.launch = launch;
    if (!engine.empty()) {
      options.engine = ValueOrDie(LoadInferenceEngine(engine));
    }
    CollectiveEstimator estimator =
        ValueOrDie(CollectiveEstimator::Create("dgx-h100", 8, 8, options));
    return ValueOrDie(estimator.Estimate(kind, bytes));
  }
};

TEST_F(EngineEstimateTest, TheSizeDecidesTheKernelAndThenNccl) {
  const auto algorithm = [](Bytes bytes) {
    return Estimate("vllm", Launch::kGraph, bytes).algorithm;
  };
  EXPECT_EQ(algorithm(KiB(64)), "OneShot");
  EXPECT_EQ(algorithm(KiB(256)), "Multicast");
  EXPECT_EQ(algorithm(MiB(63)), "Multicast");
  EXPECT_EQ(algorithm(MiB(64)), "NVLS");
  EXPECT_EQ(Estimate("vllm@0.14", Launch::kGraph, KiB(256)).algorithm,
            "TwoShot");
}

// Beyond the kernels a graph of an engine starts NCCL as fast as other work
// does; the floor of nccl-tests is not the engine's.
TEST_F(EngineEstimateTest, AGraphHidesTheLaunch) {
  const Bytes large = MiB(64);
  EXPECT_EQ(Estimate("vllm", Launch::kGraph, large).time_us,
            Estimate("", Launch::kQueued, large).time_us);
  EXPECT_EQ(Estimate("vllm", Launch::kGraph, KiB(16)).time_us,
            Estimate("vllm", Launch::kQueued, KiB(16)).time_us);
}

TEST_F(EngineEstimateTest, TheHostTakesLongerAndCopiesTheBuffer) {
  const double eager_us =
      ValueOrDie(LoadInferenceEngine("vllm")).LinksOf("nvlink4")->eager_us;
  EXPECT_EQ(Estimate("vllm", Launch::kHost, KiB(16)).time_us, eager_us);
  // A kernel of PyTorch's symmetric memory takes the host longer.
  EXPECT_EQ(Estimate("vllm", Launch::kHost, KiB(256)).time_us, 41);
  // 1 GiB at the 1676 GB/s of nvlink4's copies.
  EXPECT_NEAR(Estimate("vllm", Launch::kHost, MiB(1024)).time_us -
                  Estimate("vllm", Launch::kGraph, MiB(1024)).time_us,
              1073.741824 / 1.676, 0.001);
}

TEST_F(EngineEstimateTest, OtherCollectivesAreNccls) {
  EXPECT_EQ(
      Estimate("vllm", Launch::kQueued, KiB(64), CollectiveKind::kAllGather)
          .time_us,
      Estimate("", Launch::kQueued, KiB(64), CollectiveKind::kAllGather)
          .time_us);
}

}  // namespace
}  // namespace astra
