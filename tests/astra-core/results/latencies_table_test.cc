// Tables of runs in which jobs serve requests.

#include "astra-core/results/latencies_table.h"

#include <optional>
#include <string>

#include "astra-core/results/jobs_table.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

// Figures of two values, in microseconds.
TimeFigures Figures(double mean_us) {
  const double ps = mean_us * 1e6;
  return {.count = 2,
          .mean = ps,
          .p50 = ps,
          .p90 = 2 * ps,
          .p95 = 2 * ps,
          .p99 = 2 * ps,
          .max = 2 * ps};
}

// 30 us on average beside others, and 20 us alone: 1.5 times as long. No
// request has a second token.
JobRow ServingJob() {
  return {.name = "chat",
          .workload = "llama",
          .num_gpus = 16,
          .servers = "1 3",
          .start = Microseconds(5),
          .served = ServedRow{.requests = 2,
                              .end = Microseconds(90),
                              .others = {{"tpot", {}, TimeFigures()}},
                              .end_to_end = {"e2e", Figures(30), Figures(20)}}};
}

TEST(LatenciesTableTest, ALineForEachLatency) {
  std::string text = LatenciesHeader();
  AppendLatencies("chat", *ServingJob().served, &text);
  EXPECT_EQ(text,
            "job,latency,count,mean_us,p50_us,p90_us,p95_us,p99_us,max_us,"
            "alone_mean_us,alone_p50_us,alone_p90_us,alone_p95_us,alone_p99_us,"
            "alone_max_us,slowdown\n"
            "chat,tpot,0,,,,,,,,,,,,,\n"
            "chat,e2e,2,30.000000,30.000000,60.000000,60.000000,60.000000,"
            "60.000000,20.000000,20.000000,40.000000,40.000000,40.000000,"
            "40.000000,1.500000\n");
}

TEST(LatenciesTableTest, WithoutARunAloneItsColumnsAreEmpty) {
  JobRow job = ServingJob();
  job.served->end_to_end.alone = std::nullopt;
  job.served->others.clear();
  std::string text;
  AppendLatencies("chat", *job.served, &text);
  EXPECT_EQ(text,
            "chat,e2e,2,30.000000,30.000000,60.000000,60.000000,60.000000,"
            "60.000000,,,,,,,\n");
  EXPECT_FALSE(job.RanAlone());
}

TEST(LatenciesTableTest, AJobThatServesHasNoIterations) {
  const JobRow job = ServingJob();
  EXPECT_EQ(JobsCsv({job}),
            "job,workload,gpus,servers,begin_us,end_us,iterations,iteration_us,"
            "alone_us,slowdown\n"
            "chat,llama,16,1 3,5.000000,90.000000,,,,1.500000\n");
  EXPECT_EQ(IterationsCsv({job}), "job,iteration,begin_us,end_us,time_us\n");
}

}  // namespace
}  // namespace astra::testing
