#include "astra-core/apps/compare/finished_run.h"

#include <string>
#include <string_view>

#include "astra-core/apps/compare/run_comparison.h"
#include "astra-core/apps/time_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::string_view kRun = R"({
  "program": "simai_analytical",
  "name": "a",
  "finished": true,
  "reason": "",
  "workload": {"file": "w.yaml", "gpus": 8},
  "topology": {"link_makes": ["400Gbps", "2880Gbps"]},
  "warnings": ["some"],
  "result": {
    "iteration_ps": 10000000000, "compute_ps": 6000000000, "slowed_ps": 0,
    "exposed_ps": {"TP": 1000000000, "DP": 2000000000, "EP": 0, "DP_EP": 0,
                   "PP": 0, "CP": 0, "ETP": 0},
    "bubble_ps": 1000000000}
})";

constexpr std::string_view kBreakdown =
    "stage,rank,ranks,category,group,collective,name,phase,time_us,share\n"
    "0,0,4,compute,,,mlp,fwd,1000.5,0.1\n"
    "0,0,4,network,TP,all-reduce,mlp,fwd,500,0.1\n"
    "0,2,4,compute,,,mlp,fwd,1200,0.1\n"
    "0,2,4,bubble,PP,send-recv,mlp,fwd,300,0.1\n"
    "1,4,4,slowed,,,,,10,0.1\n";

constexpr std::string_view kCollectives =
    "layer,collective,group,count,time_us\n"
    "a,all-reduce,TP,3,100\n"
    "b,all-reduce,TP,1,50\n"
    "b,all-gather,DP,2,1000\n";

std::string With(std::string_view text, std::string_view from,
                 std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return changed.replace(at, from.size(), to);
}

FinishedRun Finished(std::string label, std::string_view json = kRun) {
  return {std::move(label), ValueOrDie(ParseRunSummary("r", json)),
          ValueOrDie(ParseBreakdown("b", kBreakdown)),
          ValueOrDie(ParseCollectives("c", kCollectives))};
}

TEST(FinishedRunTest, TellsInputsFromOutcomes) {
  const RunSummary summary = ValueOrDie(ParseRunSummary("r", kRun));
  EXPECT_EQ(summary.name, "a");
  EXPECT_FALSE(summary.has_breakdown);
  EXPECT_THAT(
      summary.inputs,
      ElementsAre(Pair("program", "simai_analytical"),
                  Pair("workload.file", "w.yaml"), Pair("workload.gpus", "8"),
                  Pair("topology.link_makes[0]", "400Gbps"),
                  Pair("topology.link_makes[1]", "2880Gbps")));
  EXPECT_THAT(*summary.figures[0], DoubleEq(10));
}

// Rank 2 works 1.2 ms, rank 0 only 1.0005 ms.
TEST(FinishedRunTest, OfEachStageTheRankThatWorksLongest) {
  const std::vector<StageBreakdown> stages =
      ValueOrDie(ParseBreakdown("b", kBreakdown));
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].rank, 2u);
  EXPECT_THAT(stages[0].parts_ms,
              ElementsAre(1.2, 0, 0, 0, 0, 0, 0, 0, DoubleEq(0.3), 0, 0));
  EXPECT_EQ(stages[1].rank, 4u);
}

TEST(FinishedRunTest, SumsCollectivesByGroupAndKind) {
  const CollectiveTotals totals =
      ValueOrDie(ParseCollectives("c", kCollectives));
  ASSERT_EQ(totals.size(), 2u);
  const CollectiveTotal& reduced = totals.at({"TP", "all-reduce"});
  EXPECT_EQ(reduced.count, 4);
  EXPECT_THAT(reduced.ms, DoubleEq(0.35));  // 3 x 100 us + 50 us.
}

TEST(RunComparisonTest, DiffersFromTheFirst) {
  const FinishedRun runs[] = {
      Finished("a"), Finished("b", With(With(kRun, "10000000000", "9000000000"),
                                        "\"gpus\": 8", "\"gpus\": 16"))};
  const ComparisonTable figures = CompareFigures(runs);
  EXPECT_THAT(figures.columns,
              ElementsAre("figure", "a", "b", "difference", "difference %"));
  EXPECT_THAT(figures.rows[0], ElementsAre("iteration ms", "10.000000",
                                           "9.000000", "-1.000000", "-10.00"));
  // Compute, TP, DP and bubble; what is 0 in both is left out.
  EXPECT_EQ(figures.rows.size(), 5u);
  EXPECT_THAT(CompareInputs(runs).rows,
              ElementsAre(ElementsAre("workload.gpus", "8", "16")));
  EXPECT_THAT(CompareCollectives(runs).rows[0],
              ElementsAre("DP", "all-gather", "2", "2.000000", "2", "2.000000",
                          "+0.000000", "+0.00"));
}

TEST(FinishedRunTest, RefusesWhatIsNoFinishedRun) {
  struct Case {
    std::string contents;
    std::string_view message;
  };
  for (const Case& each : {
           Case{With(kRun, "simai_analytical", "simai_planner"),
                "r:2:14: unknown program \"simai_planner\" (known: "
                "simai_analytical, simai_physical, simai_simulator)"},
           Case{With(kRun, "true", "false"),
                "r:4:15: the run has not finished: it has no result"},
           Case{With(kRun, "\"bubble_ps\": 1000000000", "\"bubble\": 1"),
                "r:9:13: result has no \"bubble_ps\""},
           Case{With(kRun, "6000000000", "\"six\""),
                "r:10:48: compute_ps is \"six\": expected a number of at "
                "least 0"},
           Case{With(kRun, "\"result\"", "\"results\""),
                "r:1:1: a run has no \"result\""},
           Case{"[1]", "r:1:1: a run is a list, expected a mapping"},
           Case{"", "r:1:1: not JSON: the file ends early"},
           Case{"{\n \"name\": \"a\",\n",
                "r:3:1: not JSON: the file ends early"},
           Case{"{\n  \"name\": a}", "r:2:11: not JSON: unexpected \"a\""},
           Case{"{\"name\": -1e999}",
                "r: the number '-1e999' does not fit 64 bits"},
       }) {
    EXPECT_THAT(ParseRunSummary("r", each.contents).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, each.message));
  }
}

// Runs of traces have waiting for the CPU, and no tokens.
TEST(FinishedRunTest, ReadsRunsOfTraces) {
  const RunSummary summary = ValueOrDie(ParseRunSummary(
      "r", With(With(kRun, "\"slowed_ps\": 0",
                     "\"slowed_ps\": 0, \"held_ps\": "
                     "5000000000"),
                "\"workload\": {\"file\": \"w.yaml\", \"gpus\": 8}",
                "\"trace\": {\"chakra\": \"t\"}, \"iteration\": "
                "{\"ideal_network_ps\": 0, \"ideal_compute_ps\": 0}")));
  for (size_t i = 0; i < RunFigures().size(); ++i) {
    const std::string_view name = RunFigures()[i].name;
    if (name == "CPU and copies ms") {
      EXPECT_EQ(summary.figures[i], 5);
    } else if (name == "MFU %") {
      EXPECT_EQ(summary.figures[i], std::nullopt);
    }
  }
  const std::vector<StageBreakdown> stages = ValueOrDie(ParseBreakdown(
      "b", std::string(kBreakdown) + "0,2,1,host,,,,,2000,0.1\n"));
  EXPECT_EQ(stages[0].parts_ms[TimePartOf(TimeCategory::kHost)], 2);
}

TEST(FinishedRunTest, RefusesTablesOfOthers) {
  EXPECT_THAT(
      ParseBreakdown("b", With(kBreakdown, "bubble", "buble")).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "b:5:7: unknown category \"buble\"; did you mean \"bubble\"? "
               "(known: compute, slowed, network, late, transfer, bubble, "
               "host, idle)"));
  EXPECT_THAT(ParseBreakdown("b", With(kBreakdown, "TP", "")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "b:3:15: expected the group of a collective"));
  EXPECT_THAT(ParseCollectives("c", With(kCollectives, ",3,", ",0,")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "c:2:17: count is \"0\": expected a whole number from "
                       "1 to 9007199254740992"));
}

}  // namespace
}  // namespace astra
