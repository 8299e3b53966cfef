#include "astra-core/apps/pie_chart.h"

#include <iterator>

#include "astra-core/pages/html.h"
#include "fmt/core.h"

namespace astra {
std::string PieChart(std::string_view title, std::string_view caption,
                     std::string_view language,
                     absl::Span<const PieSlice> slices) {
  double whole = 0;
  for (const PieSlice& slice : slices) whole += slice.size;
  std::string sectors;
  std::string rows;
  double begin = 0;  // Begin of the slice in percent of the pie.
  for (size_t i = 0; i < slices.size(); ++i) {
    const std::string_view colour = kChartColours[i % std::size(kChartColours)];
    const double share = whole > 0 ? 100 * slices[i].size / whole : 0;
    sectors += fmt::format("{}{} {:.4f}% {:.4f}%", sectors.empty() ? "" : ", ",
                           colour, begin, begin + share);
    begin += share;
    rows +=
        fmt::format("<tr><td style=\"background:{}\">&emsp;</td><td>{}</td>",
                    colour, HtmlText(slices[i].name));
    for (const std::string& cell : slices[i].cells) {
      rows += fmt::format("<td>{}</td>", HtmlText(cell));
    }
    rows += fmt::format("<td>{:.2f} %</td></tr>\n", share);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\">"
      "<title>{}</title>\n<style>body {{font-family: sans-serif}} "
      "td {{padding: 0.2em 0.6em}} td:nth-child(n+3) {{text-align: right}}\n"
      "#pie {{width: 20em; height: 20em; border-radius: 50%; "
      "background: conic-gradient({})}}</style></head>\n"
      "<body><h1>{}</h1><p>{}</p>\n<div id=\"pie\"></div>\n"
      "<table>\n{}</table></body></html>\n",
      language, HtmlText(title), sectors, HtmlText(title), HtmlText(caption),
      rows);
}

}  // namespace astra
