#include "collectives/api/simai_collectives.h"

#include <array>
#include <thread>

#include "collectives/api/simai_collectives.hpp"
#include "collectives/nccl/estimator.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::StartsWith;

struct Call {
  const char* system = "dgx-h100";
  const char* op = "all_reduce";
  int64_t bytes = 1 << 30;
  int ranks = 16;
  int ranks_per_server = 0;
  const char* nccl_options = nullptr;
};

// What a call reports; empty on success.
std::string ErrorOf(const Call& call) {
  simai_collective_estimate estimate = {};
  std::array<char, 1024> error = {'x'};
  const int code = simai_estimate_collective(
      call.system, call.op, call.bytes, call.ranks, call.ranks_per_server,
      call.nccl_options, &estimate, error.data(), error.size());
  EXPECT_EQ(code, error[0] == '\0' ? 0 : SIMAI_BAD_INPUT);
  EXPECT_EQ(estimate.time_us > 0, code == 0);
  return error.data();
}

// What a call that fails reports into `size` bytes.
std::string ErrorWithin(size_t size, const char* system) {
  std::vector<char> error(size + 1, 'x');
  EXPECT_EQ(simai_estimate_collective(system, "all_reduce", 1, 8, 0, nullptr,
                                      nullptr, error.data(), size),
            SIMAI_BAD_INPUT);
  EXPECT_EQ(error[size], 'x');
  return error.data();
}

TEST(SimaiCollectivesTest, IsWhatTheEstimatorSays) {
  CollectiveEstimator estimator =
      ValueOrDie(CollectiveEstimator::Create("dgx-h100", 16, 8, {}));
  const CollectiveEstimate expected = ValueOrDie(
      estimator.Estimate(CollectiveKind::kAllReduce, Bytes(1 << 30)));

  simai_collective_estimate estimate;
  ASSERT_EQ(simai_estimate_collective("dgx-h100", "all_reduce", 1 << 30, 16, 8,
                                      "", &estimate, nullptr, 0),
            0);
  EXPECT_EQ(estimate.time_us, expected.time_us);
  EXPECT_EQ(estimate.algbw_GBps, expected.algbw_GBps);
  EXPECT_EQ(estimate.busbw_GBps, expected.busbw_GBps);
  EXPECT_EQ(estimate.channels, expected.channels);
  EXPECT_EQ(estimate.is_latency_bound != 0, expected.is_latency_bound);
  EXPECT_EQ(estimate.algorithm, expected.algorithm);
  EXPECT_EQ(estimate.protocol, expected.protocol);
  EXPECT_EQ(estimate.bottleneck, expected.bottleneck);
}

TEST(SimaiCollectivesTest, TakesTheNamesOfNcclTests) {
  for (const char* op :
       {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv",
        "broadcast", "reduce", "gather", "scatter", "dispatch", "combine",
        "all_reduce_perf"}) {
    EXPECT_EQ(ErrorOf({.op = op, .ranks = 8}), "") << op;
  }
}

TEST(SimaiCollectivesTest, AppliesTheOptionsOfNccl) {
  std::string error;
  const std::optional<simai::Estimator> ring = simai::Estimator::Create(
      "dgx-h100", 8, {0, "NCCL_ALGO=Ring,NCCL_PROTO=LL"}, &error);
  ASSERT_TRUE(ring) << error;
  const std::optional<simai::Estimate> estimate =
      ring->EstimateCollective("all_reduce", 1 << 30, &error);
  ASSERT_TRUE(estimate) << error;
  EXPECT_STREQ(estimate->algorithm, "Ring");
  EXPECT_STREQ(estimate->protocol, "LL");
}

TEST(SimaiCollectivesTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf({.system = "dgx-h10"}),
              StartsWith("unknown system \"dgx-h10\"; did you mean "
                         "\"dgx-h100\"? (known: a100-pcie, "));
  EXPECT_EQ(ErrorOf({.op = "all_reduc"}),
            "unknown op \"all_reduc\"; did you mean \"all_reduce\"? (known: "
            "all_reduce, all_gather, reduce_scatter, alltoall, sendrecv, "
            "broadcast, reduce, gather, scatter, dispatch, combine)");
  EXPECT_EQ(ErrorOf({.bytes = 0}),
            "a collective of 0B: expected 1 byte or more");
  EXPECT_EQ(ErrorOf({.bytes = -1}),
            "a collective of -1B: expected 1 byte or more");
  EXPECT_EQ(ErrorOf({.ranks = -1}), "ranks -1: expected 0 or more");
  EXPECT_EQ(ErrorOf({.ranks = 1}),
            "a collective of 1 GPU(s): expected 2 or more");
  EXPECT_EQ(ErrorOf({.ranks = 12}), "12 GPUs do not divide into servers of 8");
  EXPECT_EQ(ErrorOf({.ranks_per_server = -8}),
            "ranks_per_server -8: expected 0 or more");
  EXPECT_EQ(ErrorOf({.ranks_per_server = 16}),
            "16 GPUs of a server: dgx-h100 has 8");
  EXPECT_EQ(ErrorOf({.nccl_options = "NCCL_NVLS_ENABLED=0"}),
            "unknown NCCL variable \"NCCL_NVLS_ENABLED\"; did you mean "
            "\"NCCL_NVLS_ENABLE\"? (known: NCCL_ALGO, NCCL_COLLNET_ENABLE, "
            "NCCL_CROSS_NIC, NCCL_IB_QPS_PER_CONNECTION, NCCL_MAX_CTAS, "
            "NCCL_MAX_NCHANNELS, NCCL_MIN_CTAS, NCCL_MIN_NCHANNELS, "
            "NCCL_NVLS_ENABLE, NCCL_PAT_ENABLE, NCCL_PROTO, NCCL_PXN_DISABLE, "
            "NCCL_VERSION)");
  EXPECT_EQ(ErrorOf({.bytes = INT64_MAX}),
            "the all-reduce of 9223372036854775807B would take longer than "
            "the limit of 26 days");
}

TEST(SimaiCollectivesTest, RefusesNullPointers) {
  EXPECT_EQ(ErrorOf({.system = nullptr}), "system is a null pointer");
  EXPECT_EQ(ErrorOf({.op = nullptr}), "op is a null pointer");
  EXPECT_EQ(ErrorWithin(100, "dgx-h100"), "out is a null pointer");

  std::array<char, 100> error;
  simai_collective_estimate estimate;
  EXPECT_EQ(simai_estimator_estimate(nullptr, "all_reduce", 1, &estimate,
                                     error.data(), error.size()),
            SIMAI_BAD_INPUT);
  EXPECT_STREQ(error.data(), "estimator is a null pointer");
  simai_estimator_free(nullptr);
}

TEST(SimaiCollectivesTest, CutsAMessageAtTheEndOfACharacter) {
  // "./" and characters of two bytes.
  constexpr const char* kPath = "./\u00e9\u00e9.yaml";
  const std::string whole = ErrorWithin(100, kPath);
  ASSERT_THAT(whole, StartsWith(kPath));
  EXPECT_EQ(ErrorWithin(1, kPath), "");
  EXPECT_EQ(ErrorWithin(3, kPath), "./");
  EXPECT_EQ(ErrorWithin(4, kPath), "./");
  EXPECT_EQ(ErrorWithin(5, kPath), "./\u00e9");
  EXPECT_EQ(ErrorWithin(6, kPath), "./\u00e9");
  EXPECT_EQ(ErrorWithin(7, kPath), "./\u00e9\u00e9");
  EXPECT_EQ(ErrorWithin(whole.size() + 1, kPath), whole);
  EXPECT_EQ(ErrorWithin(whole.size(), kPath),
            whole.substr(0, whole.size() - 1));
}

TEST(SimaiCollectivesTest, LeavesTheEstimateAloneOnErrors) {
  simai_collective_estimate estimate = {};
  estimate.channels = 42;
  EXPECT_EQ(simai_estimate_collective("dgx-h100", "all_reduce", 0, 8, 0,
                                      nullptr, &estimate, nullptr, 0),
            SIMAI_BAD_INPUT);
  EXPECT_EQ(estimate.channels, 42);
}

TEST(SimaiCollectivesTest, AnEstimatorMayBeSharedByThreads) {
  std::string error;
  const std::optional<simai::Estimator> estimator =
      simai::Estimator::Create("dgx-h100", 16, {}, &error);
  ASSERT_TRUE(estimator) << error;
  const std::vector<std::string> ops = {"all_reduce", "all_gather", "alltoall",
                                        "all_reduce"};
  std::vector<double> times(ops.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ops.size(); ++i) {
    threads.emplace_back([&estimator, &op = ops[i], &time = times[i]] {
      std::string thread_error;
      const std::optional<simai::Estimate> estimate =
          estimator->EstimateCollective(op, 1 << 20, &thread_error);
      if (estimate) time = estimate->time_us;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(times[0], 0);
  EXPECT_GT(times[1], 0);
  EXPECT_GT(times[2], 0);
  EXPECT_EQ(times[3], times[0]);
}

TEST(SimaiCollectivesTest, CppReportsErrors) {
  std::string error;
  EXPECT_FALSE(simai::Estimator::Create("dgx-h100", 12, {}, &error));
  EXPECT_EQ(error, "12 GPUs do not divide into servers of 8");
  const std::optional<simai::Estimator> estimator =
      simai::Estimator::Create("dgx-h100", 8, {}, &error);
  ASSERT_TRUE(estimator);
  EXPECT_FALSE(estimator->EstimateCollective("all_reduce", 0, &error));
  EXPECT_EQ(error, "a collective of 0B: expected 1 byte or more");
}

TEST(SimaiCollectivesTest, HasAVersion) {
  EXPECT_THAT(simai::Version(),
              ::testing::MatchesRegex("[0-9]+.[0-9]+.[0-9]+"));
}

}  // namespace
}  // namespace astra
