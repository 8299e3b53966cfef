#include "astra-core/sweep/results/sweep_store.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/sweep/results/database.h"
#include "tests/astra-core/sweep/results/made_up_sweep.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using testing::FailedRecord;
using testing::FinishedRecord;
using ::testing::IsEmpty;
using testing::MadeUpSweep;
using testing::MakeSweep;
using testing::StatusIs;
using testing::TemporaryFolder;
using testing::ValueOrDie;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr const char* kSafe =
    "; it is safe to delete it: simai_sweep resume makes it again from the "
    "records of the points";

class SweepStoreTest : public ::testing::Test {
 protected:
  SweepStoreTest()
      : path_(folder_.PathOf("sweep.db")),
        store_(ValueOrDie(SweepStore::Open(path_))) {}

  absl::Status Plan(const MadeUpSweep& made) {
    return store_.SetPlan(made.sweep, made.points, made.prepared);
  }
  absl::Status PlanOf(const std::vector<std::string>& tps) {
    return Plan(MakeSweep(tps, {"x"}));
  }
  absl::Status Add(const std::vector<PointRecord>& records) {
    return store_.Add(records);
  }
  SweepTable Table() const { return ValueOrDie(store_.Table()); }

  // "1 pending", "2 failed: reason", ...
  std::vector<std::string> States() const {
    std::vector<std::string> states;
    for (const SweepRow& row : Table().rows) {
      states.push_back(fmt::format("{} {}{}{}", row.number,
                                   PointStateName(row.state),
                                   row.reason.empty() ? "" : ": ", row.reason));
    }
    return states;
  }

  void RunSql(const std::string& sql) const {
    const Database database =
        ValueOrDie(Database::Open(path_, Database::Access::kWrite));
    const absl::Status status = database.Run(sql);
    ASTRA_CHECK(status.ok(), "{}", status.ToString());
  }

  TemporaryFolder folder_;
  std::string path_;
  SweepStore store_;
};

TEST_F(SweepStoreTest, HasAPlanBeforeAnythingRuns) {
  MadeUpSweep made = MakeSweep({"2", "1"}, {"x", "y"});
  made.sweep.objectives.push_back({"mfu", true});
  ASSERT_TRUE(Plan(made).ok());
  const SweepTable table = Table();
  EXPECT_EQ(table.name, "made up");
  EXPECT_EQ(table.program, made.sweep.run_program().name);
  EXPECT_EQ(table.version, "");
  EXPECT_THAT(table.variables, ElementsAre("tp", "net", "gpus"));
  EXPECT_EQ(table.num_axes, 2);
  EXPECT_THAT(table.axis_values,
              ElementsAre(ElementsAre("2", "1"), ElementsAre("x", "y")));
  EXPECT_FALSE(table.has_repeats);
  EXPECT_THAT(table.metrics, IsEmpty());
  ASSERT_EQ(table.objectives.size(), 2);
  EXPECT_EQ(table.objectives[0].metric, "time");
  EXPECT_FALSE(table.objectives[0].maximize);
  EXPECT_EQ(table.objectives[1].metric, "mfu");
  EXPECT_TRUE(table.objectives[1].maximize);
  ASSERT_EQ(table.rows.size(), 4);
  EXPECT_EQ(table.rows[1].number, 2);
  EXPECT_EQ(table.rows[1].key, "2y");
  EXPECT_EQ(table.rows[1].state, PointState::kPending);
  EXPECT_THAT(table.rows[1].values, ElementsAre("2", "y", "20"));
  EXPECT_FALSE(table.rows[1].cost.has_value());
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()),
              ElementsAre("1x", "1y", "2x", "2y"));
}

TEST_F(SweepStoreTest, NamesTheStepsOfAnAxisByTheVariableOfItsName) {
  MadeUpSweep made = MakeSweep({"1"}, {"x"});
  SweepAxis axis;
  axis.name = "net";
  axis.variables = {"tp", "net"};
  axis.steps = {{"1", "x"}, {"2", "x"}, {"1", "y"}};
  made.sweep.axes = {axis};
  made.sweep.has_repeats = true;
  ASSERT_TRUE(Plan(made).ok());
  EXPECT_THAT(Table().axis_values, ElementsAre(ElementsAre("x", "y")));
  EXPECT_TRUE(Table().has_repeats);
}

TEST_F(SweepStoreTest, KeepsWhatCameOfRuns) {
  ASSERT_TRUE(PlanOf({"1", "2", "3"}).ok());
  ASSERT_TRUE(Add({FinishedRecord("2x", {{"time", 0.1}, {"a\"b\\c", 7}}),
                   FailedRecord("3x", "exit code 1")})
                  .ok());
  const SweepTable table = Table();
  EXPECT_EQ(table.version, "0.1.0");
  EXPECT_THAT(table.metrics, ElementsAre("time", "a\"b\\c"));
  EXPECT_THAT(States(),
              ElementsAre("1 pending", "2 finished", "3 failed: exit code 1"));
  EXPECT_THAT(table.rows[0].metrics, ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(table.rows[1].metrics, ElementsAre(0.1, 7));
  EXPECT_THAT(table.rows[1].commands, ElementsAre("run 2x"));
  ASSERT_TRUE(table.rows[1].cost.has_value());
  EXPECT_EQ(table.rows[1].cost->wall_s, 1.5);
  EXPECT_EQ(table.rows[1].cost->cpu_s, 2.5);
  EXPECT_EQ(table.rows[1].cost->peak_memory_mib, 64);
  EXPECT_EQ(table.rows[1].cost->host, "node7");
  EXPECT_EQ(table.rows[1].cost->ended, "2026-01-31T12:00:00Z");
  EXPECT_EQ(table.rows[1].cost->attempts, 1);
  EXPECT_EQ(ValueOrDie(store_.CountFailed()), 1);
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()), ElementsAre("1x"));
}

TEST_F(SweepStoreTest, ReplacesWhatCameBeforeAndAddsUpAttempts) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  PointRecord record = FailedRecord("1x", "killed");
  record.cost.attempts = 2;
  ASSERT_TRUE(Add({record}).ok());
  record = FinishedRecord("1x", {{"time", 3}});
  record.cost.wall_s = 9;
  record.cost.attempts = 3;
  ASSERT_TRUE(Add({record}).ok());
  EXPECT_THAT(States(), ElementsAre("1 finished"));
  EXPECT_THAT(Table().rows[0].metrics, ElementsAre(3));
  EXPECT_EQ(Table().rows[0].cost->wall_s, 9);
  EXPECT_EQ(Table().rows[0].cost->attempts, 5);
}

TEST_F(SweepStoreTest, OrdersMetricsByPointsHoweverTheyCame) {
  const std::vector<PointRecord> records = {
      FinishedRecord("1x", {{"b", 1}, {"a", 2}}),
      FinishedRecord("2x", {{"a", 3}, {"c", 4}}),
      FinishedRecord("3x", {{"d", 5}, {"c", 6}, {"b", 7}})};
  ASSERT_TRUE(PlanOf({"1", "2", "3"}).ok());
  for (auto it = records.rbegin(); it != records.rend(); ++it) {
    ASSERT_TRUE(Add({*it}).ok());
  }
  const SweepTable table = Table();
  EXPECT_THAT(table.metrics, ElementsAre("b", "a", "c", "d"));
  EXPECT_THAT(table.rows[0].metrics,
              ElementsAre(1, 2, std::nullopt, std::nullopt));
  EXPECT_THAT(table.rows[1].metrics,
              ElementsAre(std::nullopt, 3, 4, std::nullopt));
  EXPECT_THAT(table.rows[2].metrics, ElementsAre(7, std::nullopt, 6, 5));
}

TEST_F(SweepStoreTest, KeepsRunsOfEarlierPlans) {
  ASSERT_TRUE(PlanOf({"1", "2"}).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}}),
                   FinishedRecord("2x", {{"time", 2}, {"more", 3}})})
                  .ok());
  ASSERT_TRUE(PlanOf({"3", "1"}).ok());
  EXPECT_THAT(States(), ElementsAre("1 pending", "2 finished"));
  EXPECT_THAT(Table().metrics, ElementsAre("time"));
  EXPECT_THAT(Table().axis_values[0], ElementsAre("3", "1"));
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()), ElementsAre("3x"));
  ASSERT_TRUE(PlanOf({"2"}).ok());
  EXPECT_THAT(States(), ElementsAre("1 finished"));
  EXPECT_THAT(Table().rows[0].metrics, ElementsAre(2, 3));
}

TEST_F(SweepStoreTest, GivesOneRunToAllPointsWithItsKey) {
  MadeUpSweep made = MakeSweep({"1", "2"}, {"x"});
  made.prepared[1].steps.back().key = "1x";
  ASSERT_TRUE(Plan(made).ok());
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()), ElementsAre("1x"));
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 4}})}).ok());
  EXPECT_THAT(States(), ElementsAre("1 finished", "2 finished"));
  EXPECT_THAT(Table().rows[1].metrics, ElementsAre(4));
  EXPECT_THAT(Table().rows[1].values, ElementsAre("2", "x", "20"));
}

TEST_F(SweepStoreTest, ForgetsWhatFailedInThePlanOnly) {
  ASSERT_TRUE(PlanOf({"1", "2", "3", "4"}).ok());
  ASSERT_TRUE(
      Add({FailedRecord("2x", "b"), FailedRecord("1x", "a"),
           FinishedRecord("3x", {{"time", 4}}), FailedRecord("4x", "d")})
          .ok());
  ASSERT_TRUE(PlanOf({"1", "2", "3"}).ok());
  EXPECT_THAT(ValueOrDie(store_.ForgetFailed()), ElementsAre("1x", "2x"));
  EXPECT_THAT(States(), ElementsAre("1 pending", "2 pending", "3 finished"));
  EXPECT_THAT(ValueOrDie(store_.ForgetFailed()), IsEmpty());
  ASSERT_TRUE(PlanOf({"4"}).ok());
  EXPECT_THAT(States(), ElementsAre("1 failed: d"));
}

TEST_F(SweepStoreTest, ComputesTheMetricsOfTheFile) {
  MadeUpSweep made = MakeSweep({"1", "2"}, {"x"});
  made.sweep.metrics.push_back(
      {"cost", ValueOrDie(Expression::Parse("gpus * time")), ""});
  made.sweep.metrics.push_back(
      {"is_good", ValueOrDie(Expression::Parse("cost < 30 and net == \"x\"")),
       ""});
  ASSERT_TRUE(Plan(made).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 2.5}}),
                   FinishedRecord("2x", {{"mfu", 0.5}})})
                  .ok());
  const SweepTable table = Table();
  EXPECT_THAT(table.metrics, ElementsAre("time", "mfu", "cost", "is_good"));
  EXPECT_THAT(table.rows[0].metrics, ElementsAre(2.5, std::nullopt, 25, 1));
  EXPECT_THAT(table.rows[1].metrics,
              ElementsAre(std::nullopt, 0.5, std::nullopt, std::nullopt));
}

TEST_F(SweepStoreTest, AppliesWhatTheFileRequires) {
  MadeUpSweep made = MakeSweep({"1", "2", "3"}, {"x"});
  made.sweep.metrics.push_back(
      {"cost", ValueOrDie(Expression::Parse("gpus * time")), ""});
  made.sweep.requirements.push_back(
      {ValueOrDie(Expression::Parse("cost <= 30")), ""});
  ASSERT_TRUE(Plan(made).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 3}}),
                   FinishedRecord("2x", {{"time", 2}}),
                   FinishedRecord("3x", {{"mfu", 1}})})
                  .ok());
  EXPECT_THAT(States(),
              ElementsAre("1 finished", "2 infeasible: misses cost <= 30",
                          "3 infeasible: cannot tell whether cost <= 30: the "
                          "point has no \"cost\""));
  EXPECT_THAT(Table().rows[1].metrics, ElementsAre(2, std::nullopt, 40));
  EXPECT_THAT(Table().warnings,
              ElementsAre("metric cost: absent in 1 of 3 points: the point has "
                          "no \"time\" (point 3)"));
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()), IsEmpty());
}

TEST_F(SweepStoreTest, ReadsSweepsThatKnowNoRequirements) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  RunSql("DELETE FROM sweep WHERE name = 'requirements'");
  EXPECT_THAT(States(), ElementsAre("1 pending"));
}

TEST_F(SweepStoreTest, IsOfOneSweep) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  MadeUpSweep other = MakeSweep({"1", "2"}, {"x"});
  other.sweep.name = "other";
  EXPECT_THAT(Plan(other),
              StatusIs(kInvalid, path_ + ": holds the sweep \"made up\", not "
                                         "\"other\"; give another --output"));
  EXPECT_THAT(States(), ElementsAre("1 pending"));
}

TEST_F(SweepStoreTest, AddsAllRecordsOrNone) {
  ASSERT_TRUE(PlanOf({"1", "2"}).ok());
  RunSql(
      "CREATE TRIGGER t BEFORE INSERT ON runs WHEN NEW.key = '2x' "
      "BEGIN SELECT raise(ABORT, 'no place'); END");
  EXPECT_THAT(Add({FinishedRecord("1x", {}), FinishedRecord("2x", {})}),
              StatusIs(absl::StatusCode::kInternal, path_ + ": no place"));
  EXPECT_THAT(States(), ElementsAre("1 pending", "2 pending"));
}

TEST_F(SweepStoreTest, IsReadWhileItIsWritten) {
  EXPECT_THAT(SweepStore::OpenToRead(path_),
              StatusIs(kInvalid, path_ + ": holds no sweep yet"));
  ASSERT_TRUE(PlanOf({"1"}).ok());
  const SweepStore reader = ValueOrDie(SweepStore::OpenToRead(path_));
  EXPECT_EQ(ValueOrDie(reader.Table()).rows[0].state, PointState::kPending);
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}})}).ok());
  EXPECT_EQ(ValueOrDie(reader.Table()).rows[0].state, PointState::kFinished);
}

TEST_F(SweepStoreTest, OpensWhatItClosed) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}})}).ok());
  SweepStore again = ValueOrDie(SweepStore::Open(path_));
  EXPECT_THAT(ValueOrDie(again.PendingKeys()), IsEmpty());
  EXPECT_THAT(ValueOrDie(again.Table()).rows[0].metrics, ElementsAre(1));
}

TEST_F(SweepStoreTest, RefusesFilesThatAreNone) {
  const std::string text = folder_.PathOf("sweep.yaml");
  testing::WriteText(text, "simai_sweep: 1\n");
  for (const auto& open : {SweepStore::Open, SweepStore::OpenToRead}) {
    EXPECT_THAT(
        open(text),
        StatusIs(kInvalid, text + ": is damaged: it is no database" + kSafe));
  }
  EXPECT_THAT(SweepStore::OpenToRead(folder_.PathOf("none")),
              StatusIs(absl::StatusCode::kNotFound,
                       folder_.PathOf("none") + ": no such file"));
}

// SQLite leaves files beside a database whose process was killed.
TEST_F(SweepStoreTest, IsMadeAgainWhereOnlyTheDamagedFileIsDeleted) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}})}).ok());
  const std::string log = testing::ReadText(path_ + "-wal");
  ASSERT_NE(log, "");
  const std::string again = folder_.PathOf("again.db");
  testing::WriteText(again + "-wal", log);
  SweepStore store = ValueOrDie(SweepStore::Open(again));
  const MadeUpSweep made = MakeSweep({"1"}, {"x"});
  ASSERT_TRUE(store.SetPlan(made.sweep, made.points, made.prepared).ok());
  EXPECT_THAT(ValueOrDie(store.PendingKeys()), ElementsAre("1x"));
}

TEST_F(SweepStoreTest, KeepsIllegalLayoutsAndDoesNotRunThemAgain) {
  ASSERT_TRUE(PlanOf({"1", "2"}).ok());
  PointRecord record = FailedRecord("1x", "TP 1 does not divide 7");
  record.illegal = true;
  ASSERT_TRUE(Add({record, FailedRecord("2x", "killed")}).ok());
  EXPECT_THAT(States(), ElementsAre("1 illegal: TP 1 does not divide 7",
                                    "2 failed: killed"));
  EXPECT_EQ(ValueOrDie(store_.CountFailed()), 1);
  EXPECT_THAT(ValueOrDie(store_.ForgetFailed()), ElementsAre("2x"));
  EXPECT_THAT(ValueOrDie(store_.PendingKeys()), ElementsAre("2x"));
}

TEST_F(SweepStoreTest, LetsNoPointWinThatDoesNotFitUnlessAllowed) {
  MadeUpSweep made = MakeSweep({"1", "2", "3"}, {"x"});
  ASSERT_TRUE(Plan(made).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}, {"fits", 0}}),
                   FinishedRecord("2x", {{"time", 2}, {"fits", 1}}),
                   FinishedRecord("3x", {{"time", 3}})})
                  .ok());
  const std::string misfit =
      "1 infeasible: does not fit: allocated_memory_gib is above "
      "gpu_memory_gib "
      "(\"allow: does-not-fit\" ranks it)";
  EXPECT_THAT(States(), ElementsAre(misfit, "2 finished", "3 finished"));
  EXPECT_THAT(Table().warnings, IsEmpty());

  made.sweep.allows_misfits = true;
  ASSERT_TRUE(Plan(made).ok());
  EXPECT_THAT(States(), ElementsAre("1 finished", "2 finished", "3 finished"));
  EXPECT_THAT(Table().warnings,
              ElementsAre("1 point does not fit into the memory of its GPU, "
                          "which the sweep allows: fits is 0"));
  // Sweeps of before there was the key allow nothing.
  RunSql("DELETE FROM sweep WHERE name = 'allows_misfits'");
  EXPECT_THAT(States(), ElementsAre(misfit, "2 finished", "3 finished"));
}

TEST_F(SweepStoreTest, SaysWhatIsDamaged) {
  ASSERT_TRUE(PlanOf({"1"}).ok());
  ASSERT_TRUE(Add({FinishedRecord("1x", {{"time", 1}})}).ok());
  const std::pair<std::string, std::string> cases[] = {
      {"UPDATE runs SET metrics = '{'", "the metrics of run 1x"},
      {"UPDATE runs SET commands = '3'", "the commands of run 1x"},
      {"UPDATE points SET variables = '{\"tp\": \"1\"}'",
       "the variables of point 1"},
      {"UPDATE points SET variables = '{\"net\": \"x\", \"tp\": \"1\", "
       "\"gpus\": \"10\"}'",
       "the variables of point 1"},
      {"UPDATE sweep SET value = '{\"a\": \"1 +\"}' WHERE name = "
       "'computed_metrics'",
       "\"computed_metrics\" of its sweep"},
      {"UPDATE sweep SET value = '{}' WHERE name = 'computed_metrics'; "
       "UPDATE sweep SET value = '[\"1 +\"]' WHERE name = 'requirements'",
       "\"requirements\" of its sweep"},
      {"UPDATE sweep SET value = '' WHERE name = 'objectives'",
       "\"objectives\" of its sweep"},
      {"UPDATE sweep SET value = '[\"tp\"]' WHERE name = 'axes'",
       "\"axes\" of its sweep"},
  };
  for (const auto& [sql, what] : cases) {
    RunSql(sql);
    EXPECT_THAT(store_.Table(),
                StatusIs(kInvalid, path_ + ": is damaged: " + what + kSafe));
  }
  RunSql("DELETE FROM sweep WHERE name = 'program'");
  EXPECT_THAT(store_.Table(),
              StatusIs(kInvalid, path_ + ": holds no sweep yet: there is no "
                                         "\"program\" in its table \"sweep\""));
}

}  // namespace
}  // namespace astra
