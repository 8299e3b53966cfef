#include "astra-core/apps/plan/plan_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "astra-core/apps/plan/plan_plot.h"
#include "astra-core/apps/plan/plan_report.h"
#include "astra-core/base/csv_reader.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"
#include "tests/testing/pages.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::Not;

struct Planned {
  SimaiPlannerOptions options;
  SearchResult search;
  PlanRuns runs;

  std::string Page(absl::Span<const WhatIf> changes = {}) const {
    return PlanPage(options, search, runs, changes, "the <best>");
  }
};

Planned PlanOf(const std::string& text) {
  Planned planned;
  planned.options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096 " +
      text);
  planned.search = ValueOrDie(SearchLayouts(planned.options));
  planned.runs = ValueOrDie(RunPlans(planned.options, planned.search));
  return planned;
}

// Returns the texts of the elements that match.
std::vector<std::string> Texts(const std::string& html,
                               const std::string& element) {
  const std::regex pattern(element);
  std::vector<std::string> texts;
  for (std::sregex_iterator i(html.begin(), html.end(), pattern), end; i != end;
       ++i) {
    texts.push_back((*i)[1]);
  }
  return texts;
}

std::string SectionOf(const std::string& page, const std::string& id) {
  const size_t begin = page.find("<section id=\"" + id + "\"");
  EXPECT_NE(begin, std::string::npos) << id;
  return page.substr(begin, page.find("</section>", begin) - begin);
}

// Returns the columns of the table of plans by heading. Where all plans have
// the same, the heading and the value are a piece of `alike`.
std::map<std::string, std::vector<std::string>> ColumnsOf(
    const std::string& section) {
  const std::vector<std::string> heads =
      Texts(section, "<th scope=\"col\"[^>]*>([^<]*)</th>");
  const std::vector<std::string> cells =
      Texts(section, "<(?:td|th scope=\"row\")[^>]*>([^<]*)</t[dh]>");
  EXPECT_EQ(cells.size() % heads.size(), 0U);
  std::map<std::string, std::vector<std::string>> columns;
  for (size_t i = 0; i < cells.size(); ++i) {
    columns[heads[i % heads.size()]].push_back(cells[i]);
  }
  return columns;
}

TEST(PlanPageTest, TheTableHasTheNumbersOfPlansCsv) {
  const Planned planned = PlanOf("--candidates 30");
  const std::string section = SectionOf(planned.Page(), "plans");
  const auto columns = ColumnsOf(section);
  const std::map<std::string, std::string> headings = {
      {"estimate_s", "estimate s"},
      {"iteration_s", "iteration s"},
      {"tokens_per_s", "tokens per s"},
      {"mfu_pct", "MFU %"},
      {"allocated_gib", "allocated GiB"},
      {"reserved_gib", "reserved GiB"},
      {"at_the_peak", "at the peak"},
      {"compute_s", "compute s"},
      {"exposed_tp_s", "exposed TP s"},
      {"exposed_ep_s", "exposed EP s"},
      {"bubble_s", "bubble s"},
      {"rank", "rank"},
      {"micro_batch", "micro batch"},
      {"is_pareto_optimal", "Pareto optimal"}};
  for (const auto& [name, heading] : headings) {
    SCOPED_TRACE(name);
    const std::string text = PlansCsv(planned.options, planned.runs.plans);
    CsvReader csv("plans.csv", text);
    const size_t at = csv.Column(name);
    const auto column = columns.find(heading);
    for (size_t row = 0; csv.NextRow(); ++row) {
      const std::string& value = csv.cell(at).text;
      if (column == columns.end()) {
        EXPECT_THAT(section, HasSubstr(heading + " " + value));
      } else {
        ASSERT_LT(row, column->second.size());
        EXPECT_EQ(column->second[row], value);
      }
    }
    EXPECT_TRUE(csv.status().ok());
  }
  EXPECT_EQ(columns.at("rank").size(), 30U);
  EXPECT_EQ(columns.count("simulated s"), 0U);  // No plan has it.
}

TEST(PlanPageTest, NeedsNoOtherFileAndTakesNoTextForMarkup) {
  const std::string page =
      testing::WithoutLibrary(PlanOf("--candidates 10").Page());
  for (const std::string_view reference :
       {"http:", "https:", "src=", "href=", "url(", "@import", "fetch(",
        "eval(", "innerHTML", "<best>", "@sections@", "@style@"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("the &lt;best&gt;"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST(PlanPageTest, HasTheCommandsAndWhatWasLeftOut) {
  const Planned planned = PlanOf("--candidates 7");
  const std::string page = planned.Page();
  const std::string commands = SectionOf(page, "commands");
  EXPECT_EQ(Texts(commands, "<summary>(.)").size(), kPlanFolders);
  EXPECT_THAT(commands, HasSubstr("--gpu-type=H100 \\\n"));
  const std::string left_out = SectionOf(page, "left-out");
  int64_t sum = 0;
  for (const std::string& count :
       Texts(left_out, "<td class=\"number\">([^<]*)")) {
    sum += std::stoll(count);
  }
  // The candidates, what became of each of them, and what was run.
  EXPECT_EQ(sum, 2 * planned.options.space.size() + planned.runs.beyond_memory +
                     static_cast<int64_t>(planned.runs.plans.size()));
}

TEST(PlanPageTest, StaysSmallWithManyPlans) {
  Planned planned = PlanOf("--candidates 10");
  const std::vector<Plan> plans = planned.runs.plans;
  while (planned.runs.plans.size() < 10'000) {
    planned.runs.plans.insert(planned.runs.plans.end(), plans.begin(),
                              plans.end());
  }
  const std::string page = testing::WithoutLibrary(planned.Page());
  // Layouts of experts have longer lines.
  EXPECT_LT(page.size(), 800'000U);
  EXPECT_THAT(page, HasSubstr("The first 800 of 10000 plans"));
}

TEST(PlanPageTest, IsThereWhereNothingFits) {
  Planned planned;
  planned.options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 --seq-length 4096");
  const std::string page = planned.Page();
  EXPECT_THAT(page, HasSubstr("the &lt;best&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<section id=\"plans\"")));
}

TEST(PlanPlotTest, TheTerminalShowsTheFirstPlan) {
  const Planned planned = PlanOf("--candidates 30");
  const std::string plot = DescribePlot(planned.options, planned.runs.plans);
  EXPECT_THAT(plot, HasSubstr("reserved GiB\n"));
  EXPECT_NE(plot.find('1', plot.find('+')), std::string::npos);
  EXPECT_LE(std::count(plot.begin(), plot.end(), '\n'), 17);
}

}  // namespace
}  // namespace astra
