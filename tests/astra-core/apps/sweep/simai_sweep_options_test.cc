#include "astra-core/apps/sweep/simai_sweep_options.h"

#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<SweepRunOptions> Read(const std::string& arguments) {
  const SweepCommand& run = **FindSweepCommand("run");
  const absl::StatusOr<CommandLine> flags =
      ParseArguments(run.options, arguments);
  if (!flags.ok()) return flags.status();
  return ReadSweepRunOptions(*flags);
}

TEST(ParsePointListTest, ReadsNumbersAndRangesInAscendingOrder) {
  EXPECT_THAT(ParsePointList("7").value(), ElementsAre(7));
  EXPECT_THAT(ParsePointList("9,1-3,5").value(), ElementsAre(1, 2, 3, 5, 9));
}

TEST(ParsePointListTest, RefusesWhatIsNoList) {
  for (const std::string_view text : {"", "0", "x", "1,", ",1", "3-1", "1-",
                                      "-1", "1 2", "100001", "99999999999"}) {
    EXPECT_THAT(ParsePointList(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected numbers of points")))
        << text;
  }
  EXPECT_THAT(ParsePointList("1-4,3").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--point is \"1-4,3\": 3 is there twice"));
}

TEST(SimaiSweepOptionsTest, ReadsWhatTheSchedulersTake) {
  const SweepRunOptions local =
      Read("-j 3 --memory 2GiB --timeout 1.5s").value();
  EXPECT_EQ(local.options.local.jobs, 3);
  EXPECT_EQ(local.options.local.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(local.options.timeout, std::chrono::milliseconds(1500));
  const SweepRunOptions slurm =
      Read("--scheduler slurm --partition fast --throttle 8 --no-wait").value();
  EXPECT_EQ(slurm.options.slurm.partition, "fast");
  EXPECT_EQ(slurm.options.slurm.throttle, 8);
  EXPECT_FALSE(slurm.options.slurm.wait);
}

TEST(SimaiSweepOptionsTest, RefusesWhatHasNoEffect) {
  const std::pair<std::string, std::string> cases[] = {
      {"--partition fast",
       "--partition has no effect: it is of --scheduler slurm"},
      {"--scheduler slurm -j 2",
       "--jobs has no effect: it is of --scheduler local"},
      {"--dry-run --count",
       "--dry-run has no effect: with --count nothing is run"},
      {"--dry-run --point 1",
       "--point has no effect: with --dry-run nothing is run"},
      {"--scheduler slurm --point 1",
       "--point runs here: leave out --scheduler"},
      {"--quiet --json", "--quiet has no effect: --json prints nothing else"},
      {"--timeout 5", "--timeout is \"5\": expected a time such as 600s"},
      {"--memory 0B", "--memory is \"0B\": expected a size such as 16GiB"},
      {"--output=", "--output is empty: expected a folder"},
  };
  for (const auto& [arguments, message] : cases) {
    EXPECT_THAT(Read(arguments).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
  EXPECT_THAT(Read("--scheduler lsf").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown --scheduler \"lsf\"")));
}

TEST(SimaiSweepOptionsTest, NamesTheNearestCommand) {
  EXPECT_THAT(FindSweepCommand("resum").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown command \"resum\"; did you mean "
                                 "\"resume\"?")));
}

}  // namespace
}  // namespace astra
