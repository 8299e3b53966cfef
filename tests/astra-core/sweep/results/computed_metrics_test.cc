#include "astra-core/sweep/results/computed_metrics.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/astra-core/sweep/results/made_up_table.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::FailedRow;
using testing::FinishedRow;
using testing::Numbered;
using testing::PendingRow;
using testing::ValueOrDie;

// Two points that finished and two that did not.
SweepTable Example() {
  SweepTable table;
  table.variables = {"gpus", "bytes"};
  table.num_axes = 2;
  table.metrics = {"time", "bytes", "big"};
  table.rows =
      Numbered({FinishedRow({"8", "100"}, {2.5, 7, 8e9}),
                FinishedRow({"16", "x"}, {{}, 9, 8e9}),
                FailedRow({"8", "1"}, "", 3), PendingRow({"8", "1"}, 3)});
  return table;
}

SweepTable With(
    const std::vector<std::pair<std::string, std::string>>& expressions) {
  std::vector<ComputedMetric> computed;
  computed.reserve(expressions.size());
  for (const auto& [name, text] : expressions) {
    computed.emplace_back(name, ValueOrDie(Expression::Parse(text)));
  }
  SweepTable table = Example();
  AddComputedMetrics(computed, table);
  return table;
}

using Column = std::vector<std::optional<double>>;

// The values of the last metric in all rows.
Column LastOf(const SweepTable& table) {
  Column column;
  for (const SweepRow& row : table.rows) column.push_back(row.metrics.back());
  return column;
}

Column Of(const std::string& expression) {
  return LastOf(With({{"new", expression}}));
}

TEST(ComputedMetricsTest, UsesVariablesAndMetrics) {
  const SweepTable table = With({{"cost", "gpus * time"}});
  EXPECT_THAT(table.metrics, ElementsAre("time", "bytes", "big", "cost"));
  EXPECT_THAT(table.rows[0].metrics, ElementsAre(2.5, 7, 8e9, 20));
  EXPECT_THAT(LastOf(table),
              ElementsAre(20, std::nullopt, std::nullopt, std::nullopt));
}

TEST(ComputedMetricsTest, PrefersTheVariableToAMetricOfItsName) {
  EXPECT_THAT(Of("bytes + 1"),
              ElementsAre(101, std::nullopt, std::nullopt, std::nullopt));
}

TEST(ComputedMetricsTest, IsANumberOrAbsent) {
  EXPECT_THAT(Of("gpus > 8"), ElementsAre(0, 1, std::nullopt, std::nullopt));
  EXPECT_THAT(Of("gpus / 3"),
              ElementsAre(8.0 / 3, 16.0 / 3, std::nullopt, std::nullopt));
  const Column absent(4);
  EXPECT_THAT(Of("\"text\""), ElementsAreArray(absent));
  EXPECT_THAT(Of("1 / (gpus - gpus)"), ElementsAreArray(absent));
  EXPECT_THAT(Of("unknown"), ElementsAreArray(absent));
}

TEST(ComputedMetricsTest, SaysWhyItIsAbsent) {
  const SweepTable table = With({{"fine", "gpus"},
                                 {"typo", "tme * 2"},
                                 {"some", "time * 2"},
                                 {"name", "'a'"},
                                 {"next", "typo + 1"}});
  EXPECT_THAT(table.warnings,
              ElementsAre("metric typo: absent in 2 of 2 points: unknown "
                          "variable \"tme\"; did you mean \"time\"? (point 1)",
                          "metric some: absent in 1 of 2 points: the point has "
                          "no \"time\" (point 2)",
                          "metric name: absent in 2 of 2 points: it is a text: "
                          "\"a\" (point 1)",
                          "metric next: absent in 2 of 2 points: the point has "
                          "no \"typo\" (point 1)"));
}

TEST(ComputedMetricsTest, DoesNotOverflowWithLargeMetrics) {
  EXPECT_THAT(Of("big * big"),
              ElementsAre(6.4e19, 6.4e19, std::nullopt, std::nullopt));
}

TEST(ComputedMetricsTest, BuildsOnTheOnesBefore) {
  EXPECT_THAT(LastOf(With({{"a", "gpus + 1"}, {"b", "a * a"}})),
              ElementsAre(81, 289, std::nullopt, std::nullopt));
}

TEST(ComputedMetricsTest, TakesThePlaceOfAMetricOfItsName) {
  const SweepTable table = With({{"time", "time * 2"}, {"more", "time + 1"}});
  EXPECT_THAT(table.metrics, ElementsAre("bytes", "big", "time", "more"));
  EXPECT_THAT(table.rows[0].metrics, ElementsAre(7, 8e9, 5, 6));
  EXPECT_EQ(table.rows[3].metrics.size(), 4);
}

}  // namespace
}  // namespace astra
