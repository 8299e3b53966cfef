#include "astra-core/apps/plan/plan_page.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/plan/plan_plot.h"
#include "astra-core/apps/plan/plan_report.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/units.h"
#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "astra-core/pages/scatter_chart.h"
#include "fmt/core.h"

namespace astra {

namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kBars = 20;

// By PlanTerm. The report of a sweep has the same colours.
constexpr BarPart kTerms[] = {
    {kPlanTermNames[0], "#0072b2"}, {kPlanTermNames[1], "#56b4e9"},
    {kPlanTermNames[2], "#e69f00"}, {kPlanTermNames[3], "#d55e00"},
    {kPlanTermNames[4], "#cc79a7"}, {kPlanTermNames[5], "#009e73"},
    {kPlanTermNames[6], "#f0e442"}, {kPlanTermNames[7], "#999999"}};
static_assert(std::size(kTerms) == kNumPlanTerms);

// Returns how people write the name of a column of plans.csv: "exposed TP s"
// for exposed_tp_s.
std::string HeadingOf(std::string_view column) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"tp", "TP"},   {"cp", "CP"},         {"pp", "PP"},
      {"vpp", "VPP"}, {"dp", "DP"},         {"ep", "EP"},
      {"etp", "ETP"}, {"sp", "SP"},         {"zero", "ZeRO"},
      {"mfu", "MFU"}, {"pct", "%"},         {"gib", "GiB"},
      {"is", ""},     {"pareto", "Pareto"}, {"optimal", "optimal"}};
  std::string heading;
  const std::vector<std::string> words =
      absl::StrSplit(std::string(column), '_');
  for (const std::string& part : words) {
    std::string_view word = part;
    for (const auto& [from, to] : kWords) {
      if (word != from) continue;
      word = to;
      break;
    }
    if (!word.empty() && !heading.empty()) heading += ' ';
    heading += word;
  }
  return heading;
}

// plans.csv, column by column.
struct CsvColumns {
  std::vector<std::string> names;
  Rows cells;  // By column.

  size_t num_rows() const { return cells.front().size(); }
  bool is_constant(size_t column) const {
    const std::vector<std::string>& values = cells[column];
    return std::all_of(
        values.begin(), values.end(),
        [&](const std::string& value) { return value == values.front(); });
  }
  bool is_number(size_t column) const {
    double ignored = 0;
    return std::all_of(cells[column].begin(), cells[column].end(),
                       [&](const std::string& value) {
                         return value.empty() ||
                                absl::SimpleAtod(value, &ignored);
                       });
  }
};

CsvColumns ReadCsv(std::string_view csv, size_t most) {
  CsvReader reader("plans.csv", csv);
  CsvColumns columns;
  for (const CsvCell& cell : reader.header()) {
    columns.names.push_back(cell.text);
  }
  columns.cells.resize(columns.names.size());
  for (size_t row = 0; row < most && reader.NextRow(); ++row) {
    for (size_t i = 0; i < columns.names.size(); ++i) {
      columns.cells[i].push_back(reader.cell(i).text);
    }
  }
  return columns;
}

// Returns the table of plans. Columns in which all plans are alike become a
// sentence. The first columns, up to estimate_s, are the layout: they come
// last, since each row begins with the layout in words.
std::string PlansSection(const SimaiPlannerOptions& options,
                         const std::vector<Plan>& plans) {
  const CsvColumns csv = ReadCsv(PlansCsv(options, plans), kMostPagePlans);
  const size_t first = static_cast<size_t>(
      std::find(csv.names.begin(), csv.names.end(), "estimate_s") -
      csv.names.begin());
  std::vector<size_t> order;
  for (size_t i = first; i < csv.names.size(); ++i) order.push_back(i);
  for (size_t i = 1; i < first; ++i) order.push_back(i);
  std::string alike;
  if (csv.num_rows() > 1) {
    std::erase_if(order, [&](size_t i) {
      if (!csv.is_constant(i)) return false;
      const std::string& value = csv.cells[i].front();
      if (!value.empty()) {
        AppendFormat(&alike, "{}{} {}", alike.empty() ? "" : ", ",
                     HeadingOf(csv.names[i]), value);
      }
      return true;
    });
  }
  std::vector<HtmlColumn> columns = {{"rank", true}, {"layout", false}};
  for (const size_t i : order) {
    columns.push_back({HeadingOf(csv.names[i]), csv.is_number(i)});
  }
  Rows rows;
  for (size_t row = 0; row < csv.num_rows(); ++row) {
    std::vector<std::string>& cells = rows.emplace_back();
    cells = {csv.cells[0][row],
             DescribeLayout(options.job, plans[row].estimate.layout)};
    for (const size_t i : order) cells.push_back(csv.cells[i][row]);
  }
  std::string html = HtmlNote(
      "Memory is that of the fullest stage. A plan is Pareto optimal if no "
      "other is faster and takes less memory. The terms from compute to bubble "
      "add up to the iteration.");
  if (!alike.empty()) html += HtmlNote("The same in all plans: " + alike + ".");
  if (plans.size() > csv.num_rows()) {
    html += HtmlNote(fmt::format("The first {} of {} plans; plans.csv has all.",
                                 csv.num_rows(), plans.size()));
  }
  html +=
      HtmlTable("class=\"sortable\" aria-label=\"Plans, the fastest first\"",
                columns, rows);
  return HtmlSection("plans", "Plans", html);
}

std::string TermsSection(const SimaiPlannerOptions& options,
                         const std::vector<Plan>& plans, Page& page) {
  std::vector<StackedBar> bars;
  for (size_t i = 0; i < std::min(kBars, plans.size()); ++i) {
    const Plan& plan = plans[i];
    bars.push_back(
        {fmt::format("{}: {}", i + 1,
                     DescribeLayout(options.job, plan.estimate.layout)),
         {plan.terms.begin(), plan.terms.end()},
         fmt::format("{:.4f} s", plan.seconds)});
  }
  return HtmlSection("terms", "Where the time goes",
                     page.Add(Draw(BarChart{kTerms, bars, "s"},
                                   "Where the time of an iteration goes")));
}

std::string MemorySection(const SimaiPlannerOptions& options,
                          const std::vector<Plan>& plans, Page& page) {
  const size_t shown = std::min(kMostPagePlans, plans.size());
  const ScatterPlot plot = PlotOfMemory(options, {plans.data(), shown});
  return HtmlSection(
      "memory", "Time and memory",
      HtmlNote("A number is the rank of a plan that no other beats in both.") +
          page.Add(Draw(plot, "other plans", "plans that no other beats",
                        "Reserved memory against the time of an iteration; the "
                        "table of plans has the numbers")));
}

std::string ReasonsSection(const SimaiPlannerOptions& options,
                           const std::vector<Plan>& plans) {
  Rows rows;
  for (size_t i = 1; i < std::min(options.shown, plans.size()); ++i) {
    rows.push_back(
        {fmt::format("{}", i + 1),
         DescribeLayout(options.job, plans[i].estimate.layout),
         fmt::format("{:+.4f}", plans[i].seconds - plans.front().seconds),
         DescribeDifferences(plans[i], plans.front())});
  }
  if (rows.empty()) return "";
  return HtmlSection(
      "reasons", "Why the others are slower than the first",
      HtmlTable("aria-label=\"Terms that differ most from the first plan\"",
                std::vector<HtmlColumn>{{"rank", true},
                                        {"layout", false},
                                        {"slower by s", true},
                                        {"terms that differ most", false}},
                rows));
}

std::string LeftOutSection(const SimaiPlannerOptions& options,
                           const SearchResult& search, const PlanRuns& runs) {
  Rows rows;
  const auto add = [&rows](std::string what, int64_t count) {
    if (count > 0) rows.push_back({std::move(what), fmt::format("{}", count)});
  };
  add("candidates", options.space.size());
  for (const auto& [rule, count] : search.illegal) {
    add("illegal: " + rule, count);
  }
  add("do not fit into the memory", search.beyond_memory);
  add("have a lower bound above the best, or are illegal", search.beyond_bound);
  add("were estimated", search.estimated);
  add("of the best estimates do not fit with workspaces", runs.beyond_memory);
  add("were run as whole iterations", static_cast<int64_t>(runs.plans.size()));
  return HtmlSection(
      "left-out", "What was left out, and why",
      HtmlTable("aria-label=\"Layouts by what became of them\"",
                std::vector<HtmlColumn>{{"layouts", false}, {"count", true}},
                rows));
}

std::string ChangesSection(absl::Span<const WhatIf> changes, Page& page) {
  if (changes.empty()) return "";
  Rows rows;
  for (const WhatIf& change : changes) {
    std::vector<std::string>& cells = rows.emplace_back();
    cells = {change.change, fmt::format("{}", change.num_gpus)};
    if (!change.best) {
      cells.insert(cells.end(), {"", "", "", "", change.why_not});
      continue;
    }
    const Plan& plan = *change.best;
    cells.insert(
        cells.end(),
        {fmt::format("{:.4f}", plan.seconds),
         fmt::format("{:.0f}", plan.tokens_per_second),
         fmt::format("{:.0f}", plan.tokens_per_second /
                                   static_cast<double>(change.num_gpus)),
         fmt::format("{:.2f}", ToGib(plan.reserved)), change.layout});
  }
  std::string html = HtmlTable(
      "class=\"sortable\" aria-label=\"The best plan after a change\"",
      std::vector<HtmlColumn>{{"change", false},
                              {"GPUs", true},
                              {"iteration s", true},
                              {"tokens/s", true},
                              {"tokens/s a GPU", true},
                              {"reserved GiB", true},
                              {"best plan", false}},
      rows);
  const ScatterPlot plot = PlotOfGpus(changes);
  if (plot.points.size() > 1) {
    html += "<h3>Time and GPUs</h3>\n" +
            HtmlNote(
                "The steps join the numbers of GPUs with which no fewer are "
                "as fast.") +
            page.Add(Draw(plot, "others", "no fewer GPUs are as fast",
                          "Time of an iteration against the number of GPUs; "
                          "the table above has the numbers"));
  }
  return HtmlSection("changes", "What if", html);
}

std::string CommandsSection(const SimaiPlannerOptions& options,
                            const std::vector<Plan>& plans) {
  std::string html =
      HtmlNote("The folders plan-1 to plan-5 have the same as files.");
  for (size_t i = 0; i < std::min(kPlanFolders, plans.size()); ++i) {
    AppendFormat(
        &html, "<details{}><summary>{}: {}</summary>\n", i == 0 ? " open" : "",
        i + 1, HtmlText(DescribeLayout(options.job, plans[i].estimate.layout)));
    for (const NamedFile& file : PlanFiles(options, plans[i])) {
      AppendFormat(&html, "<h3>{}</h3>\n<pre tabindex=\"0\">{}</pre>\n",
                   HtmlText(file.name), HtmlText(file.contents));
    }
    html += "</details>\n";
  }
  return HtmlSection("commands", "Commands of the first plans", html);
}

}  // namespace

std::string PlanPage(const SimaiPlannerOptions& options,
                     const SearchResult& search, const PlanRuns& runs,
                     absl::Span<const WhatIf> changes,
                     std::string_view conclusion) {
  const TrainingSetup& setup = options.job.setups[0];
  const std::string facts = HtmlFacts(
      {{"Result", std::string(conclusion)},
       {"Batch", fmt::format("{} sequences of {} tokens", setup.global_batch,
                             setup.positions)},
       {"Framework", options.workloads[0].framework.name},
       {"Layouts", fmt::format("{} candidates, {} whole iterations",
                               options.space.size(), runs.plans.size())}});
  Page page(PlanTitle(options));
  std::string sections;
  if (!runs.plans.empty()) {
    sections += PlansSection(options, runs.plans);
    sections += TermsSection(options, runs.plans, page);
    sections += MemorySection(options, runs.plans, page);
    sections += ReasonsSection(options, runs.plans);
  }
  sections += ChangesSection(changes, page);
  sections += LeftOutSection(options, search, runs);
  if (!runs.plans.empty()) sections += CommandsSection(options, runs.plans);
  return page.Html(facts, sections);
}

}  // namespace astra
