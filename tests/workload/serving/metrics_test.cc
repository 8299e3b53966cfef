#include "workload/serving/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "astra-core/base/random.h"
#include "workload/serving/serving_tables.h"

namespace astra {
namespace {

RequestResult Result(int64_t id, int64_t arrival, int64_t first, int64_t last,
                     int64_t outputs) {
  return {.id = id,
          .prompt_tokens = 10,
          .output_tokens = outputs,
          .times = {.arrival = TimePs(arrival),
                    .first_scheduled = TimePs(arrival + 1),
                    .first_token = TimePs(first),
                    .last_token = TimePs(last),
                    .cached_tokens = 4}};
}

// Position (4 - 1) * 0.9 = 2.7 between 30 and 50.
TEST(TimeFiguresTest, PercentilesAreInterpolated) {
  const TimeFigures figures =
      FiguresOf({TimePs(50), TimePs(10), TimePs(30), TimePs(20)});
  EXPECT_EQ(figures.count, 4);
  EXPECT_DOUBLE_EQ(figures.mean, 27.5);
  EXPECT_DOUBLE_EQ(figures.p50, 25);
  EXPECT_DOUBLE_EQ(figures.p90, 44);
  EXPECT_DOUBLE_EQ(figures.max, 50);
  EXPECT_EQ(FiguresOf({}).p99, 0);
}

// Position (3 - 1) * p / 100.
TEST(TimeFiguresTest, PercentilesOfAll) {
  const std::vector<double> all =
      PercentilesOf({TimePs(50), TimePs(10), TimePs(20)});
  ASSERT_EQ(all.size(), 101U);
  EXPECT_DOUBLE_EQ(all[0], 10);
  EXPECT_DOUBLE_EQ(all[25], 15);
  EXPECT_DOUBLE_EQ(all[50], 20);
  EXPECT_DOUBLE_EQ(all[100], 50);
  EXPECT_TRUE(PercentilesOf({}).empty());

  TimeHistogram histogram;
  histogram.Add(TimePs(10), 1);
  histogram.Add(TimePs(20), 1);
  histogram.Add(TimePs(50), 1);
  EXPECT_EQ(histogram.Percentiles(), all);
  EXPECT_TRUE(TimeHistogram().Percentiles().empty());
}

TEST(TimeHistogramTest, IsCloseToTheExactFigures) {
  TimeHistogram histogram;
  std::vector<TimePs> times;
  for (uint64_t i = 0; i < 5000; ++i) {
    const TimePs time(static_cast<int64_t>(HashOf(3, i) >> (1 + i % 60)));
    times.push_back(time);
    histogram.Add(time, 1);
  }
  const TimeFigures exact = FiguresOf(times);
  const TimeFigures close = histogram.Figures();
  EXPECT_DOUBLE_EQ(close.mean, exact.mean);
  EXPECT_EQ(close.max, exact.max);
  EXPECT_NEAR(close.p50 / exact.p50, 1, 5e-4);
  EXPECT_NEAR(close.p90 / exact.p90, 1, 5e-4);
  EXPECT_NEAR(close.p99 / exact.p99, 1, 5e-4);
}

TEST(TimeHistogramTest, IsExactForShortTimes) {
  TimeHistogram histogram;
  histogram.Add(TimePs(7), 3);
  histogram.Add(TimePs(2047), 1);
  EXPECT_DOUBLE_EQ(histogram.Figures().p50, 7);
  EXPECT_DOUBLE_EQ(histogram.Figures().p99, 7 + 0.97 * 2040);
}

TEST(ServingMetricsTest, BothTimesPerToken) {
  ServingMetrics metrics;
  metrics.OnRequest(Result(0, 0, 100, 500, 5));
  metrics.OnRequest(Result(1, 50, 150, 150, 1));
  const ServingSummary summary = metrics.Summary();
  EXPECT_EQ(summary.tpot.count, 1);
  EXPECT_DOUBLE_EQ(summary.tpot.mean, 100);            // (500 - 100) / 4
  EXPECT_DOUBLE_EQ(summary.normalized_e2e.mean, 100);  // 500 / 5 and 100 / 1
  EXPECT_DOUBLE_EQ(summary.ttft.mean, 100);
  EXPECT_DOUBLE_EQ(summary.queueing.mean, 1);
  EXPECT_DOUBLE_EQ(summary.PerSecond(summary.output_tokens), 6 / 500e-12);
  EXPECT_DOUBLE_EQ(summary.PrefixHitRate(), 0.4);
}

TEST(ServingMetricsTest, GoodputCountsRequestsWithinAllLimits) {
  ServingMetrics metrics(
      {.to_first_token = TimePs(100), .per_token = TimePs(50)});
  metrics.OnRequest(Result(0, 0, 100, 150, 2));
  metrics.OnRequest(Result(1, 0, 101, 150, 2));
  metrics.OnRequest(Result(2, 0, 90, 141, 2));
  metrics.OnRequest(Result(3, 0, 90, 90, 1));
  // Requests 0 and 3, with 3 tokens in the 150 ps until the last token of all.
  const ServingSummary summary = metrics.Summary();
  EXPECT_EQ(summary.requests_within_limits, 2);
  EXPECT_EQ(summary.output_tokens_within_limits, 3);
  EXPECT_DOUBLE_EQ(summary.ShareWithinLimits(), 0.5);
  const std::string csv = MetricsCsv(summary);
  EXPECT_THAT(csv, ::testing::HasSubstr("\ngoodput,1/s,13333333333.333334\n"));
  EXPECT_THAT(csv, ::testing::HasSubstr(
                       "\ngoodput_token_rate,1/s,20000000000.000000\n"));
  EXPECT_THAT(csv, ::testing::HasSubstr("\nshare_within_limits,,0.500000\n"));
}

TEST(ServingMetricsTest, KvUseIsWeightedByTime) {
  ServingMetrics metrics;
  metrics.OnStep({.duration = TimePs(10),
                  .sequences = 2,
                  .used_blocks = 4,
                  .num_blocks = 8});
  metrics.OnStep({.duration = TimePs(30),
                  .sequences = 6,
                  .used_blocks = 8,
                  .num_blocks = 8,
                  .preemptions = 3});
  const ServingSummary summary = metrics.Summary();
  EXPECT_DOUBLE_EQ(summary.kv_use_mean, 0.875);
  EXPECT_DOUBLE_EQ(summary.kv_use_peak, 1);
  EXPECT_DOUBLE_EQ(summary.batch_mean, 5);
  EXPECT_EQ(summary.preemptions, 3);
  EXPECT_EQ(summary.steps, 2);
}

TEST(ServingTablesTest, RowsOfRequestsAndSteps) {
  std::string text = RequestsHeader();
  AppendRequestRow(Result(0, 1'000'000, 3'000'000, 5'000'000, 3), {}, &text);
  AppendRequestRow(Result(1, 0, 7, 7, 1), {.to_first_token = TimePs(6)}, &text);
  AppendRequestRow(Result(2, 0, 7, 7, 1), {.to_first_token = TimePs(7)}, &text);
  EXPECT_EQ(text,
            "id,arrival_us,queueing_us,ttft_us,e2e_us,tpot_us,kv_transfer_us,"
            "prompt_tokens,output_tokens,cached_tokens,preemptions,replica,"
            "decode_replica,within_limits\n"
            "0,1.000000,0.000001,2.000000,4.000000,1.000000,,10,3,4,0,0,0,\n"
            "1,0.000000,0.000001,0.000007,0.000007,,,10,1,4,0,0,0,0\n"
            "2,0.000000,0.000001,0.000007,0.000007,,,10,1,4,0,0,0,1\n");
  text.clear();
  AppendStepRow({.start = TimePs(5),
                 .duration = TimePs(10),
                 .replica = 3,
                 .sequences = 4,
                 .prompt_tokens = 20,
                 .decodes = 2,
                 .decode_context = 99,
                 .samples = 3,
                 .running = 5,
                 .waiting = 6,
                 .used_blocks = 7,
                 .cached_blocks = 8,
                 .preemptions = 1},
                &text);
  EXPECT_EQ(text, "0.000005,0.000010,3,4,20,2,0,99,3,5,6,7,8,1\n");
}

TEST(ServingTablesTest, EveryColumnIsExplainedOnce) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  std::string requests;
  for (const ServingColumn& column : ServingColumns()) {
    EXPECT_FALSE(column.meaning.empty()) << column.name;
    EXPECT_TRUE(names.emplace(column.file, column.name).second) << column.name;
    if (column.file != "requests.csv") continue;
    requests += (requests.empty() ? "" : ",") + std::string(column.name);
  }
  EXPECT_EQ(requests + "\n", RequestsHeader());
}

TEST(ServingTablesTest, MetricsWithoutRequestsAreZeroAndTimesAreEmpty) {
  const std::string text = MetricsCsv(ServingMetrics().Summary());
  EXPECT_THAT(text, ::testing::StartsWith("metric,unit,value\nrequests,,0\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\nttft_p99,us,\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\nprefix_hit_rate,,0.000000\n"));
}

}  // namespace
}  // namespace astra
