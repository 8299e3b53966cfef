// Tables of runs in which jobs use storage.

#include <string>
#include <vector>

#include "astra-core/results/jobs_table.h"
#include "astra-core/results/storage_table.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

// 200 MB in 8 ms are 25 GB/s.
TEST(StorageTableTest, ALineForEachTransfer) {
  const std::vector<StorageRow> rows = {{.job = "a",
                                         .kind = "checkpoint",
                                         .iteration = 4,
                                         .begin = Microseconds(1000),
                                         .end = Microseconds(9000),
                                         .bytes = Bytes(200'000'000),
                                         .waited = Microseconds(3)}};
  EXPECT_EQ(StorageCsv(rows),
            "job,kind,iteration,begin_us,end_us,time_us,bytes,GBps,waited_us\n"
            "a,checkpoint,4,1000.000000,9000.000000,8000.000000,200000000,"
            "25.000000,3.000000\n");
  EXPECT_EQ(StorageRow().GBps(), 0);
}

// Iterations of 10 ms, of which the first waited 4 ms and the second took 2 ms
// longer than without storage: 13 ms in the mean, 1.3 times as long.
TEST(StorageTableTest, JobsHaveColumnsOfStorageOnlyWithIt) {
  JobRow job{.name = "a", .workload = "w", .num_gpus = 2, .servers = "0"};
  job.iterations = {{Microseconds(4000), Microseconds(14'000)},
                    {Microseconds(14'000), Microseconds(26'000)}};
  EXPECT_EQ(IterationsCsv({job}),
            "job,iteration,begin_us,end_us,time_us\n"
            "a,0,4000.000000,14000.000000,10000.000000\n"
            "a,1,14000.000000,26000.000000,12000.000000\n");
  job.without_storage = Microseconds(10'000);
  for (JobRow::Iteration& iteration : job.iterations) {
    iteration.without_storage = Microseconds(10'000);
  }
  EXPECT_EQ(
      IterationsCsv({job}),
      "job,iteration,begin_us,end_us,time_us,waited_us,without_storage_us\n"
      "a,0,4000.000000,14000.000000,10000.000000,4000.000000,10000.000000\n"
      "a,1,14000.000000,26000.000000,12000.000000,0.000000,10000.000000\n");
  EXPECT_EQ(JobsCsv({job}),
            "job,workload,gpus,servers,begin_us,end_us,iterations,iteration_us,"
            "alone_us,slowdown,without_storage_us,storage_slowdown\n"
            "a,w,2,0,4000.000000,26000.000000,2,13000.000000,,,10000.000000,"
            "1.300000\n");
  EXPECT_THAT(JobsInCsv(JobsCsv({job})), ::testing::ElementsAre("a"));
}

TEST(JobsTableTest, NamesTheJobsOfAnEarlierRun) {
  JobRow job{.name = "a, \"b\"", .workload = "w", .num_gpus = 2};
  job.iterations = {{Microseconds(1), Microseconds(2)}};
  JobRow other = job;
  other.name = "c";
  EXPECT_THAT(JobsInCsv(JobsCsv({job, other})),
              ::testing::ElementsAre("a, \"b\"", "c"));
  EXPECT_THAT(JobsInCsv("job,who\na,me\n"), ::testing::IsEmpty());
  EXPECT_THAT(JobsInCsv(""), ::testing::IsEmpty());
}

}  // namespace
}  // namespace astra::testing
