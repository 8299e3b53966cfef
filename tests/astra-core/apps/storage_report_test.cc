// Tests what the summary says of a job that uses storage.

#include "astra-core/apps/storage_report.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr TimePs kIteration = Microseconds(10'000);

// A job of four iterations of 10 ms, none of which waited, as at the begin of a
// run that has its first data.
JobResult FourIterations() {
  JobResult result;
  for (int64_t i = 0; i < 4; ++i) {
    result.iterations.push_back({i * kIteration, (i + 1) * kIteration});
  }
  return result;
}

JobRow RowOf(const JobResult& result) {
  JobRow row;
  row.name = "a";
  row.without_storage = kIteration;
  for (const JobIteration& iteration : result.iterations) {
    row.iterations.push_back({iteration.begin, iteration.end});
  }
  return row;
}

std::string SummaryOf(const StorageUse& use, StorageKind kind,
                      int64_t time_us) {
  JobResult result = FourIterations();
  result.transfers = {{.kind = kind,
                       .begin = {},
                       .end = Microseconds(time_us),
                       .bytes = Bytes(1'000),
                       .waited = {}}};
  return DescribeStorage(use, result, RowOf(result));
}

std::string Bound(const std::string& ms) {
  return "storage    a: bound by storage: a long run takes about " + ms +
         " ms an iteration\n";
}

// Reads follow one another, beside iterations.
TEST(StorageReportTest, ReadsThatTakeLongerThanIterationsBoundThem) {
  StorageUse use;
  use.data = {.amount = {}, .ahead = 4};
  EXPECT_THAT(SummaryOf(use, StorageKind::kData, 13'000),
              HasSubstr(Bound("13.000")));
  EXPECT_THAT(SummaryOf(use, StorageKind::kData, 10'000),
              Not(HasSubstr("bound")));
  // Each iteration waits for its read, which its time shows.
  use.data->ahead = 0;
  EXPECT_THAT(SummaryOf(use, StorageKind::kData, 13'000),
              Not(HasSubstr("bound")));
}

// A checkpoint is due every 20 ms of iterations, and waits for the one before
// it.
TEST(StorageReportTest, CheckpointsThatTakeLongerThanTheyMayBoundThem) {
  StorageUse use;
  use.checkpoint = {.amount = {}, .every = 2, .pause = {}};
  EXPECT_THAT(SummaryOf(use, StorageKind::kCheckpoint, 26'000),
              HasSubstr(Bound("13.000")));
  EXPECT_THAT(SummaryOf(use, StorageKind::kCheckpoint, 20'000),
              Not(HasSubstr("bound")));
  // The job stands still in the pause, and the write begins behind it.
  use.checkpoint->pause = Microseconds(2'000);
  EXPECT_THAT(SummaryOf(use, StorageKind::kCheckpoint, 26'000),
              HasSubstr(Bound("14.000")));
  EXPECT_THAT(SummaryOf(use, StorageKind::kCheckpoint, 20'000),
              Not(HasSubstr("bound")));
  // Iterations wait for all of it, which their mean shows.
  use.checkpoint->blocks = true;
  EXPECT_THAT(SummaryOf(use, StorageKind::kCheckpoint, 26'000),
              Not(HasSubstr("bound")));
}

}  // namespace
}  // namespace astra::testing
