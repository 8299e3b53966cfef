#include "astra-core/pages/page.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {

// Contents of the files page.html, sort_tables.js, chart_kinds.js, charts.js
// and echarts/echarts.min.js.
std::string_view PageTemplate();
std::string_view SortTablesScript();
std::string_view ChartKindsScript();
std::string_view ChartsScript();
std::string_view ChartLibrary();

std::string Page::Add(DrawnChart chart) {
  std::string html = fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\"></figure>\n", charts_.size());
  charts_.push_back(std::move(chart.json));
  if (chart.numbers.empty()) return html;
  return html +
         fmt::format("<details{}><summary>Numbers</summary>\n{}</details>\n",
                     chart.is_open ? " open" : "", chart.numbers);
}

std::string Page::Html(std::string_view facts,
                       std::string_view sections) const {
  const std::string title = HtmlText(name_);
  std::string charts;
  if (!charts_.empty()) {
    charts = fmt::format(
        "<script type=\"application/json\" id=\"charts\">[{}]</script>\n{}",
        ScriptJson(absl::StrJoin(charts_, ",\n")), ChartScripts());
  }
  return FillPage(
      PageTemplate(),
      std::vector<PagePlace>{{"@language@", language_},
                             {"@name@", title},
                             {"@style@", PageStyle()},
                             {"@name@", title},
                             {"@facts@", std::string(facts)},
                             {"@sections@", std::string(sections)},
                             {"@charts@", charts},
                             {"@script@", std::string(SortTablesScript())}});
}

std::string ChartScripts() {
  return fmt::format("<script>\n{}</script>\n<script>\n{}\n{}</script>\n",
                     ChartLibrary(), ChartKindsScript(), ChartsScript());
}

std::string ScriptJson(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char& c : json) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace astra
