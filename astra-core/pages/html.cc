#include "astra-core/pages/html.h"

#include <cstddef>

#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {

// Contents of the files colours.css and page.css.
std::string_view ColoursStyle();
std::string_view PartsStyle();

namespace {

std::string_view ClassOf(const HtmlColumn& column) {
  return column.is_number ? " class=\"number\"" : "";
}

// Returns the escape of `c`.
std::string_view EscapeOf(const char& c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {&c, 1};
  }
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char& c : text) escaped += EscapeOf(c);
  return escaped;
}

std::string FillPage(std::string_view page,
                     absl::Span<const PagePlace> places) {
  std::string filled;
  for (const auto& [place, text] : places) {
    const size_t at = page.find(place);
    ASTRA_CHECK(at != std::string_view::npos, "no {} in the page", place);
    filled += page.substr(0, at);
    filled += text;
    page.remove_prefix(at + place.size());
  }
  return filled += page;
}

std::string PageStyle() {
  return std::string(ColoursStyle()) + std::string(PartsStyle());
}

std::string HtmlLabel(std::string_view text) {
  return fmt::format("aria-label=\"{}\"", HtmlText(text));
}

std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
      "<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      id, HtmlText(title), body);
}

std::string HtmlNote(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", HtmlText(text));
}

std::string HtmlFacts(
    absl::Span<const std::pair<std::string_view, std::string>> facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    AppendFormat(&html, "<dt>{}</dt><dd>{}</dd>\n", HtmlText(name),
                 HtmlText(value));
  }
  return html + "</dl>\n";
}

std::string HtmlTable(std::string_view attributes,
                      absl::Span<const HtmlColumn> columns,
                      absl::Span<const std::vector<std::string>> rows) {
  // A box that scrolls must be reachable with the keyboard.
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table";
  AppendFormat(&html, "{}{}>\n<thead><tr>", attributes.empty() ? "" : " ",
               attributes);
  for (const HtmlColumn& column : columns) {
    AppendFormat(&html, "<th scope=\"col\"{}>{}</th>", ClassOf(column),
                 HtmlText(column.name));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      AppendFormat(&html, "<{0}{1}>{2}</{3}>",
                   i == 0 ? "th scope=\"row\"" : "td", ClassOf(columns[i]),
                   HtmlText(row[i]), i == 0 ? "th" : "td");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace astra
