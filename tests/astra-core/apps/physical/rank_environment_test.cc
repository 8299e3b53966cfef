#include "astra-core/apps/physical/rank_environment.h"

#include <map>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

absl::StatusOr<std::optional<RankEnvironment>> Read(const Variables& set) {
  return ReadRankEnvironment([&set](std::string_view name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(RankEnvironmentTest, MpirunOnOneHost) {
  const auto found = *ValueOrDie(Read({{"OMPI_COMM_WORLD_RANK", "3"},
                                       {"OMPI_COMM_WORLD_SIZE", "4"},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                       {"PMIX_NAMESPACE", "123"}}));
  EXPECT_EQ(found.launcher, "mpirun");
  EXPECT_EQ(found.rank, 3u);
  EXPECT_EQ(found.num_ranks, 4u);
  EXPECT_EQ(found.local_rank, 2u);
  EXPECT_EQ(found.first_host, "127.0.0.1");
}

TEST(RankEnvironmentTest, SrunOnSeveralHosts) {
  Variables set = {{"SLURM_PROCID", "1"},
                   {"SLURM_NTASKS", "2"},
                   {"SLURM_JOB_ID", "99"},
                   {"SLURM_STEP_NUM_NODES", "2"},
                   {"SLURM_STEP_NODELIST", "node[07-08],x1"}};
  EXPECT_EQ(ValueOrDie(Read(set)), std::nullopt);  // No step: a batch script.
  set["SLURM_STEP_ID"] = "0";
  const auto found = *ValueOrDie(Read(set));
  EXPECT_EQ(found.first_host, "node07");
  set["SLURM_PROCID"] = "0";
  EXPECT_EQ(ValueOrDie(Read(set))->port, found.port);
  set["SLURM_JOB_ID"] = "100";
  EXPECT_NE(ValueOrDie(Read(set))->port, found.port);
}

// Where PMI_ID is set, it is another one for each rank.
TEST(RankEnvironmentTest, RanksOfOnePmiJobHaveOnePort) {
  const auto port = [](const std::string& id, const std::string& job) {
    return ValueOrDie(Read({{"PMI_RANK", id},
                            {"PMI_SIZE", "2"},
                            {"PMI_ID", id},
                            {"PMI_JOBID", job}}))
        ->port;
  };
  EXPECT_EQ(port("0", "7"), port("1", "7"));
  EXPECT_NE(port("0", "7"), port("0", "8"));
}

TEST(RankEnvironmentTest, WrongNumbersAreErrors) {
  EXPECT_EQ(Read({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}).status().message(),
            "PMI_RANK is \"2\": expected a whole number from 0 to 1");
}

TEST(FirstHostTest, ReadsSlurmsLists) {
  EXPECT_EQ(FirstHost("a"), "a");
  EXPECT_EQ(FirstHost("a,b"), "a");
  EXPECT_EQ(FirstHost("node[03-06,9],x1"), "node03");
  EXPECT_EQ(FirstHost("a,node[03-06]"), "a");
}

}  // namespace
}  // namespace astra::testing
