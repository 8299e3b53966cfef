// The tables of a trace of PyTorch's profiler.

#include "astra-core/apps/trace/kineto_tables.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

std::string FileOf(const std::vector<NamedFile>& files, std::string_view name) {
  for (const NamedFile& file : files) {
    if (file.name == name) return file.contents;
  }
  return "";
}

// Of an even number of runs, the median is the mean of the two in the middle.
TEST(KinetoTablesTest, TimesAreMedians) {
  KinetoProfile trace;
  trace.products = {
      {.name = "mm", .precision = "bf16", .m = 1, .n = 2, .k = 3},
      {.name = "mm", .precision = "bf16", .m = 4, .n = 5, .k = 6}};
  trace.products[0].times = {Microseconds(10), Microseconds(11),
                             Microseconds(14), Microseconds(90)};
  trace.products[1].times = {Microseconds(7), Microseconds(8),
                             Microseconds(30)};
  trace.collectives = {{.kind = CollectiveKind::kAllGather,
                        .bytes = Bytes(8192),
                        .group = "1",
                        .num_ranks = 8}};
  trace.collectives[0].times = {Microseconds(30), Microseconds(50)};
  const std::vector<NamedFile> files =
      KinetoTables(trace, {.gpu = "h100", .source = "t.json"});
  const std::string operators = FileOf(files, "operators.csv");
  EXPECT_THAT(operators, HasSubstr(",1,2,3,1,12.500000,"));
  EXPECT_THAT(operators, HasSubstr(",4,5,6,1,8.000000,"));
  EXPECT_THAT(FileOf(files, "communication.csv"),
              HasSubstr(",30.000000,queued,40.000000,2,1\n"));
}

}  // namespace
}  // namespace astra::testing
