#include "astra-core/apps/compare/comparison_page.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "astra-core/apps/compare/run_comparison.h"
#include "astra-core/apps/time_parts.h"
#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the table; its first `num_texts` columns are text, the others are
// numbers.
std::string Html(const ComparisonTable& table, std::string_view label,
                 size_t num_texts) {
  std::vector<HtmlColumn> columns;
  for (const std::string& name : table.columns) {
    columns.push_back({name, columns.size() >= num_texts});
  }
  return HtmlTable(
      fmt::format("class=\"sortable\" aria-label=\"{}\"", HtmlText(label)),
      columns, table.rows);
}

StackedBar BarOf(std::string name, std::vector<double> parts_ms) {
  const double whole = std::accumulate(parts_ms.begin(), parts_ms.end(), 0.0);
  return {std::move(name), std::move(parts_ms),
          fmt::format("{:.3f} ms", whole)};
}

// Returns the bar of the rank whose times the figures of a run are.
StackedBar BarOf(const FinishedRun& run) {
  std::vector<double> parts(std::size(kTimeParts));
  for (size_t i = 0; i < RunFigures().size(); ++i) {
    const FigureSpec& spec = RunFigures()[i];
    if (!spec.category) continue;
    parts[TimePartOf(*spec.category, spec.dimension)] +=
        run.summary.figures[i].value_or(0);
  }
  return BarOf(run.label, std::move(parts));
}

std::string TimeSection(absl::Span<const FinishedRun> runs, Page& page) {
  std::vector<StackedBar> bars;
  for (const FinishedRun& run : runs) bars.push_back(BarOf(run));
  std::string html =
      HtmlNote(
          "Of the rank that finishes last. A wait counts for the group "
          "that it is for.") +
      page.Add(Draw(BarChart{kTimeParts, bars, "ms"},
                    "Where the time of each run goes"));
  std::map<uint32_t, std::vector<StackedBar>> stages;
  for (const FinishedRun& run : runs) {
    for (const StageBreakdown& time : run.stages) {
      stages[time.stage].push_back(BarOf(
          fmt::format("stage {}, {}", time.stage, run.label), time.parts_ms));
    }
  }
  if (stages.empty()) return HtmlSection("time", "Where the time goes", html);
  bars.clear();
  for (const auto& [stage, of_runs] : stages) {
    bars.insert(bars.end(), of_runs.begin(), of_runs.end());
  }
  html +=
      "<h3>By stage</h3>\n" +
      HtmlNote(
          "Of each stage the rank that works longest. A wait counts for its "
          "group once all ranks of the group have joined, and as late until "
          "then.") +
      page.Add(Draw(BarChart{kTimeParts, bars, "ms"},
                    "Where the time of each stage goes, run by run"));
  return HtmlSection("time", "Where the time goes", html);
}

std::string InputsSection(absl::Span<const FinishedRun> runs) {
  const ComparisonTable table = CompareInputs(runs);
  const std::string html =
      table.rows.empty()
          ? HtmlNote("Nothing: all runs have the same inputs.")
          : Html(table, "Inputs that differ", table.columns.size());
  return HtmlSection("inputs", "What differs in the inputs", html);
}

}  // namespace

std::string ComparisonPage(std::string_view name,
                           absl::Span<const FinishedRun> runs) {
  std::vector<std::pair<std::string_view, std::string>> facts;
  for (const FinishedRun& run : runs) {
    facts.emplace_back(run.label, fmt::format("{}: {:.6f} ms", run.summary.name,
                                              *run.summary.figures.front()));
  }
  Page page(name);
  std::string sections =
      HtmlSection("figures", "Summary",
                  HtmlNote("Differences are from the first run.") +
                      Html(CompareFigures(runs), "Figures of the runs", 1));
  sections += TimeSection(runs, page);
  const ComparisonTable collectives = CompareCollectives(runs);
  if (!collectives.rows.empty()) {
    sections += HtmlSection(
        "collectives", "Collectives",
        HtmlNote("Times are those from the last rank's start to the last "
                 "result, summed over the collectives that were run, whether "
                 "ranks waited for them or not.") +
            Html(collectives, "Collectives by group and kind", 2));
  }
  sections += InputsSection(runs);
  return page.Html(HtmlFacts(facts), sections);
}

}  // namespace astra
