#include "astra-core/sweep/results/html_report.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/testing/pages.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

SweepRow Finished(uint32_t number, std::vector<std::string> values,
                  std::vector<std::optional<double>> metrics) {
  SweepRow row;
  row.number = number;
  row.state = PointState::kFinished;
  row.values = std::move(values);
  row.metrics = std::move(metrics);
  return row;
}

SweepTable SmallTable() {
  SweepTable table;
  table.name = "fabrics";
  table.program = "simai_analytical";
  table.version = "0.1.0";
  table.variables = {"topology", "tp", "gpus"};
  table.num_axes = 2;
  table.axis_values = {{"Spectrum-X", "DCN+"}, {"4", "8"}};
  table.metrics = {"iteration_ms", "mfu"};
  table.objectives = {{"iteration_ms", false}};
  table.rows = {Finished(1, {"Spectrum-X", "4", "64"}, {12.5, 0.375}),
                Finished(2, {"Spectrum-X", "8", "64"}, {10.25, std::nullopt}),
                Finished(3, {"DCN+", "4", "64"}, {std::nullopt, 0.5}),
                Finished(4, {"DCN+", "8", "64"}, {std::nullopt, std::nullopt})};
  table.rows[0].commands = {"gen_topo --gpu 64", "simai_analytical -n t"};
  table.rows[3].state = PointState::kFailed;
  table.rows[3].reason = "killed by signal 9";
  return table;
}

// What is between `begin` and `end`, each of which must be there once.
std::string Between(const std::string& page, std::string_view begin,
                    std::string_view end) {
  const size_t first = page.find(begin);
  EXPECT_EQ(first, page.rfind(begin));
  const size_t from = first + begin.size();
  return page.substr(from, page.find(end, from) - from);
}

Json DataOf(const std::string& page) {
  return Json::parse(Between(
      page, R"(<script type="application/json" id="sweep">)", "</script>"));
}

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlReportTest, HoldsTheTableAsJson) {
  SweepTable table = SmallTable();
  table.rows[2].metrics[0] = std::numeric_limits<double>::quiet_NaN();
  table.rows[2].state = PointState::kInfeasible;
  table.rows[2].reason = "misses mfu > 0.5";
  table.warnings = {"metric cost: absent"};

  EXPECT_EQ(DataOf(HtmlReport(table)), Json::parse(R"({
    "program": "simai_analytical", "version": "0.1.0",
    "variables": ["topology", "tp", "gpus"], "num_axes": 2,
    "axis_values": [["Spectrum-X", "DCN+"], ["4", "8"]], "repeats": false,
    "metrics": ["iteration_ms", "mfu"],
    "objectives": [{"metric": "iteration_ms", "maximize": false}],
    "warnings": ["metric cost: absent"],
    "rows": [
      {"number": 1, "state": "finished", "reason": "",
       "values": ["Spectrum-X", "4", "64"], "metrics": [12.5, 0.375],
       "commands": ["gen_topo --gpu 64", "simai_analytical -n t"]},
      {"number": 2, "state": "finished", "reason": "",
       "values": ["Spectrum-X", "8", "64"], "metrics": [10.25, null],
       "commands": []},
      {"number": 3, "state": "infeasible", "reason": "misses mfu > 0.5",
       "values": ["DCN+", "4", "64"], "metrics": [null, 0.5],
       "commands": []},
      {"number": 4, "state": "failed", "reason": "killed by signal 9",
       "values": ["DCN+", "8", "64"], "metrics": [null, null],
       "commands": []}]})"));
}

TEST(HtmlReportTest, TextOfTheSweepCannotBecomeMarkup) {
  // U+2028 ended a line in JavaScript; the last byte is no UTF-8.
  const std::string text =
      "</script></noscript><!--<script><img onerror=\"alert(1)\" x='&amp;'>"
      "\xe2\x80\xa8";
  SweepTable table = SmallTable();
  table.name = text;
  table.program = text;
  table.variables[0] = text;
  table.axis_values[0][0] = text;
  table.metrics[1] = text;
  table.rows[0].values[0] = text;
  table.rows[1].values[0] = text + "\xff";
  table.rows[0].commands[0] = text;
  table.rows[3].reason = text;

  const std::string page = HtmlReport(table);
  const std::string harmless = HtmlReport(SmallTable());
  for (const std::string_view markup :
       {"<script", "</script", "<noscript", "</noscript", "<!--", "<img"}) {
    EXPECT_EQ(CountOf(page, markup), CountOf(harmless, markup)) << markup;
  }
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  EXPECT_THAT(
      page,
      HasSubstr("<title>&lt;/script&gt;&lt;/noscript&gt;&lt;!--&lt;script&gt;"
                "&lt;img onerror=&quot;alert(1)&quot; x=&#39;&amp;amp;&#39;"
                "&gt;\xe2\x80\xa8</title>"));

  const std::string data = Between(
      page, R"(<script type="application/json" id="sweep">)", "</script>");
  for (const std::string_view sign : {"<", ">", "&", "\xe2\x80\xa8"}) {
    EXPECT_THAT(data, Not(HasSubstr(sign)));
  }
  const Json json = Json::parse(data);
  EXPECT_EQ(json["program"], text);
  EXPECT_EQ(json["variables"][0], text);
  EXPECT_EQ(json["metrics"][1], text);
  EXPECT_EQ(json["rows"][0]["values"][0], text);
  EXPECT_EQ(json["rows"][1]["values"][0], text + "\xef\xbf\xbd");
  EXPECT_EQ(json["rows"][0]["commands"][0], text);
  EXPECT_EQ(json["rows"][3]["reason"], text);
}

TEST(HtmlReportTest, NeedsNothingElseAndEvaluatesNoText) {
  const std::string page = testing::WithoutLibrary(HtmlReport(SmallTable()));
  for (const std::string_view reference :
       {"http:", "https:", "src=", "href=", "url(", "@import", "import(",
        "fetch(", "eval(", "Function(", "innerHTML", "outerHTML",
        "insertAdjacentHTML", "document.write"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src "
                              "'none';"));
}

TEST(HtmlReportTest, FillsThePageOnce) {
  SweepTable table = SmallTable();
  table.name = "@sweep@";

  const std::string page = HtmlReport(table);
  EXPECT_THAT(page, HasSubstr("<title>@sweep@</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>@sweep@</h1>"));
  EXPECT_EQ(CountOf(page, "@sweep@"), 2u);
  for (const std::string_view place :
       {"@name@", "@best_rows@", "@charts@", "@script@"}) {
    EXPECT_THAT(page, Not(HasSubstr(place)));
  }
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST(HtmlReportTest, DoesNotDependOnCosts) {
  SweepTable table = SmallTable();
  const std::string page = HtmlReport(table);
  EXPECT_EQ(HtmlReport(table), page);

  table.rows[0].cost = PointCost{.wall_s = 3, .host = "node1", .attempts = 2};
  EXPECT_EQ(HtmlReport(table), page);
}

TEST(HtmlReportTest, BestRowsAreReadableWithoutScripts) {
  EXPECT_EQ(Between(HtmlReport(SmallTable()), "<noscript>\n", "\n</noscript>"),
            "<p>The best 2 of 2 points that have iteration_ms, of 4. The whole "
            "report needs JavaScript.</p>\n"
            "<table>\n"
            "<tr><th>point</th><th>topology</th><th>tp</th>"
            "<th>iteration_ms</th></tr>\n"
            "<tr><td>2</td><td>Spectrum-X</td><td>8</td><td>10.25</td></tr>\n"
            "<tr><td>1</td><td>Spectrum-X</td><td>4</td><td>12.5</td></tr>\n"
            "</table>");
}

TEST(HtmlReportTest, AtMost20RowsAreReadableWithoutScripts) {
  SweepTable table = SmallTable();
  table.objectives = {{"iteration_ms", true}};
  table.rows.clear();
  for (uint32_t i = 1; i <= 25; ++i) {
    table.rows.push_back(Finished(i, {"DCN+", "4", "64"}, {i, 0.5}));
  }

  const std::string text =
      Between(HtmlReport(table), "<noscript>", "</noscript>");
  EXPECT_THAT(text, HasSubstr("The best 20 of 25 points that have "
                              "iteration_ms, of 25."));
  EXPECT_EQ(CountOf(text, "<tr><td>"), 20u);
  EXPECT_THAT(text, HasSubstr("<tr><td>6</td>"));
  EXPECT_THAT(text, Not(HasSubstr("<tr><td>5</td>")));
}

TEST(HtmlReportTest, RepeatsAreOneRowWithTheirSpread) {
  SweepTable table = SmallTable();
  table.variables = {"seed"};
  table.num_axes = 1;
  table.axis_values = {{"1", "2"}};
  table.has_repeats = true;
  table.rows = {Finished(1, {"1"}, {10, 0.5}), Finished(2, {"2"}, {14, 0.25})};

  const Json json = DataOf(HtmlReport(table));
  EXPECT_EQ(json["repeats"], true);
  EXPECT_EQ(json["num_axes"], 0);
  EXPECT_EQ(json["metrics"], Json::parse(R"(["iteration_ms", "mfu",
      "iteration_ms_min", "iteration_ms_max"])"));
  ASSERT_EQ(json["rows"].size(), 1u);
  EXPECT_EQ(json["rows"][0]["metrics"], Json::parse("[12.0, 0.375, 10, 14]"));
}

TEST(HtmlReportTest, ASweepWithoutResultsIsAReport) {
  SweepTable table = SmallTable();
  table.metrics.clear();
  for (SweepRow& row : table.rows) {
    row.state = PointState::kPending;
    row.metrics.clear();
  }

  const std::string page = HtmlReport(table);
  EXPECT_EQ(DataOf(page)["rows"][0]["state"], "pending");
  EXPECT_THAT(page,
              HasSubstr("The best 0 of 0 points that have iteration_ms, of 4"));
}

}  // namespace
}  // namespace astra
