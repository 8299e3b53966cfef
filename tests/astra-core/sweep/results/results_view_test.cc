#include "astra-core/sweep/results/results_view.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/sweep/results/sweep_store.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "tests/astra-core/sweep/results/made_up_sweep.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using testing::FailedRecord;
using testing::FinishedRecord;
using testing::MadeUpSweep;
using testing::MakeSweep;
using testing::TemporaryFolder;
using testing::ValueOrDie;

class ResultsViewTest : public ::testing::Test {
 protected:
  ResultsViewTest() : store_(ValueOrDie(SweepStore::Open(path()))) {}

  std::string path() const { return folder_.PathOf("sweep.db"); }

  void Plan(const MadeUpSweep& made) {
    const absl::Status status =
        store_.SetPlan(made.sweep, made.points, made.prepared);
    ASTRA_CHECK(status.ok(), "{}", status.ToString());
  }
  void Add(const PointRecord& record) {
    const absl::Status status = store_.Add({&record, 1});
    ASTRA_CHECK(status.ok(), "{}", status.ToString());
  }

  // Each row's first `num_columns` values with '|' between them.
  std::vector<std::string> Select(const std::string& sql,
                                  int num_columns) const {
    const Database database =
        ValueOrDie(Database::Open(path(), Database::Access::kRead));
    Statement statement = ValueOrDie(database.Prepare(sql));
    std::vector<std::string> rows;
    while (ValueOrDie(statement.Step())) {
      std::string row = statement.Text(0);
      for (int i = 1; i < num_columns; ++i) {
        row += '|' + (statement.IsNull(i) ? "NULL" : statement.Text(i));
      }
      rows.push_back(row);
    }
    return rows;
  }

  std::vector<std::string> Columns() const {
    return Select("SELECT name FROM pragma_table_info('results')", 1);
  }

  TemporaryFolder folder_;
  SweepStore store_;
};

TEST_F(ResultsViewTest, HasARowForEachPoint) {
  Plan(MakeSweep({"16", "8"}, {"x"}));
  Add(FinishedRecord("8x", {{"time", 0.1}, {"mfu", 3}}));
  EXPECT_THAT(Columns(),
              ElementsAre("number", "key", "state", "reason", "tp", "net",
                          "gpus", "time", "mfu", "exit_code", "wall_s", "cpu_s",
                          "peak_memory_mib", "host", "ended", "attempts"));
  EXPECT_THAT(
      Select("SELECT * FROM results", 16),
      ElementsAre("1|16x|pending||16|x|160|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
                  "NULL|NULL",
                  "2|8x|finished||8|x|80|0.1|3.0|0|1.5|2.5|64.0|node7|"
                  "2026-01-31T12:00:00Z|1"));
  Add(FailedRecord("16x", "exit code 1"));
  EXPECT_THAT(Select("SELECT state, reason FROM results", 2),
              ElementsAre("failed|exit code 1", "finished|"));
}

TEST_F(ResultsViewTest, ComparesNumbersAsNumbersAndTextsAsTexts) {
  Plan(MakeSweep({"16", "8"}, {"10", "x"}));
  EXPECT_THAT(Select("SELECT DISTINCT tp, typeof(tp), typeof(net) FROM results "
                     "WHERE tp < 16.5 ORDER BY tp",
                     3),
              ElementsAre("8|integer|text", "16|integer|text"));
}

TEST_F(ResultsViewTest, HasMetricsOfAnyName) {
  const std::vector<std::string> names = {
      "a\"b", "it's", "a\\b", "$.x[0]", "x y", "\xc3\xa9", "a\nb", "", "--"};
  std::vector<Metric> metrics;
  metrics.reserve(names.size() + 2);
  for (const std::string& name : names) {
    metrics.push_back({name, static_cast<double>(metrics.size())});
  }
  metrics.push_back({std::string("a\0b", 3), 99});  // SQL has no such name.
  metrics.push_back({"last", 9});
  Plan(MakeSweep({"1"}, {"x"}));
  Add(FinishedRecord("1x", metrics));
  const std::vector<std::string> columns = Columns();
  ASSERT_EQ(columns.size(), 7 + names.size() + 1 + 7);
  EXPECT_EQ(std::vector<std::string>(columns.begin() + 7, columns.end() - 8),
            names);
  EXPECT_THAT(Select("SELECT \"a\"\"b\", \"it's\", \"a\\b\", \"$.x[0]\", "
                     "\"x y\", \"\xc3\xa9\", \"a\nb\", \"\", \"--\", last "
                     "FROM results",
                     10),
              ElementsAre("0.0|1.0|2.0|3.0|4.0|5.0|6.0|7.0|8.0|9.0"));
}

TEST_F(ResultsViewTest, TellsApartColumnsOfOneName) {
  Plan(MakeSweep({"1"}, {"x"}));
  Add(FinishedRecord("1x", {{"TP", 5}, {"host", 6}, {"state", 7}}));
  EXPECT_THAT(Select("SELECT tp, TP_metric, host, host_metric, state_metric "
                     "FROM results",
                     5),
              ElementsAre("1|5.0|node7|6.0|7.0"));
}

TEST_F(ResultsViewTest, HasTheColumnsOfThePlanAsItIsNow) {
  Plan(MakeSweep({"1", "2"}, {"x"}));
  Add(FinishedRecord("2x", {{"c", 1}, {"a", 1}}));
  Add(FinishedRecord("1x", {{"a", 1}, {"b", 2}}));
  const std::vector<std::string> columns = Columns();
  EXPECT_EQ(std::vector<std::string>(columns.begin() + 7, columns.begin() + 10),
            (std::vector<std::string>{"a", "b", "c"}));
  Plan(MakeSweep({"2"}, {"x"}));
  EXPECT_EQ(Columns()[7], "c");
  EXPECT_EQ(Columns().size(), columns.size() - 1);
}

TEST_F(ResultsViewTest, HasAsManyColumnsAsSqlCanHave) {
  std::vector<Metric> metrics;
  metrics.reserve(2500);
  for (int i = 0; i < 2500; ++i) {
    metrics.push_back({fmt::format("m{}", i), static_cast<double>(i)});
  }
  Plan(MakeSweep({"1"}, {"x"}));
  Add(FinishedRecord("1x", metrics));
  EXPECT_EQ(Columns().size(), 1900);
  EXPECT_THAT(Select("SELECT m0, m1885 FROM results", 2),
              ElementsAre("0.0|1885.0"));
  EXPECT_EQ(ValueOrDie(store_.Table()).metrics.size(), 2500);
}

}  // namespace
}  // namespace astra
