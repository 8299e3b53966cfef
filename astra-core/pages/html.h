// Parts of the HTML pages that programs write: escaped text, templates, tables,
// and the look that all pages share.
//
//   std::string page = FillPage(
//       "<style>@style@</style><h1>@name@</h1>",
//       {{"@style@", std::string(PageStyle())}, {"@name@", HtmlText(name)}});

#ifndef ASTRA_CORE_PAGES_HTML_H_
#define ASTRA_CORE_PAGES_HTML_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace astra {

// Colours of slices and of parts of bars. Most people who are colour-blind can
// tell them apart. Source: Okabe and Ito, "Color Universal Design", 2008; the
// grey and the last are ours.
inline constexpr std::string_view kChartColours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
    "#56b4e9", "#999999", "#f0e442", "#332288"};

// Returns page.css: colours for light and dark schemes, tables, bars, plots and
// print.
std::string_view PageStyle();

// Returns `text` escaped for HTML text and for attributes in quotes.
std::string HtmlText(std::string_view text);

// A place in a template, such as "@name@", and what comes there.
using PagePlace = std::pair<std::string_view, std::string>;

// Returns `page` with each of `places` filled. Requires that the template has
// them in this order. What is filled in is not searched for places.
std::string FillPage(std::string_view page, absl::Span<const PagePlace> places);

// Returns a whole page that needs no other file and no network: `name` as its
// title and heading, `facts` below, and `sections`. All but the name is HTML.
std::string HtmlPage(std::string_view name, std::string_view facts,
                     std::string_view sections);

// Returns a section with a heading. `id` names it in links; `body` is HTML.
std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view body);

// Returns a paragraph of small print. `text` is plain.
std::string HtmlNote(std::string_view text);

// Returns a list of names and what they are. Both are plain text.
std::string HtmlFacts(
    absl::Span<const std::pair<std::string_view, std::string>> facts);

struct HtmlColumn {
  std::string name;
  bool is_number = false;  // Numbers stand on the right.
};

// Returns a table that scrolls sideways where it is wider than the page. The
// first cell of each row is its header. `attributes` stand in its tag, such as
// "class=\"sortable\"", with which a page of HtmlPage() makes its heads buttons
// that sort. Cells are plain text.
std::string HtmlTable(std::string_view attributes,
                      absl::Span<const HtmlColumn> columns,
                      absl::Span<const std::vector<std::string>> rows);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_HTML_H_
