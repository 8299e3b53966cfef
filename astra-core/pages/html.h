// Parts of the HTML pages that programs write: escaped text, templates, tables,
// and the look that all pages share. page.h makes whole pages of them.
//
//   std::string page = FillPage(
//       "<style>@style@</style><h1>@name@</h1>",
//       {{"@style@", PageStyle()}, {"@name@", HtmlText(name)}});

#ifndef ASTRA_CORE_PAGES_HTML_H_
#define ASTRA_CORE_PAGES_HTML_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace astra {

// Returns colours.css and page.css: colours for light and dark schemes, tables,
// charts and print.
std::string PageStyle();

// Returns `text` escaped for HTML text and for attributes in quotes.
std::string HtmlText(std::string_view text);

// A place in a template, such as "@name@", and what comes there.
using PagePlace = std::pair<std::string_view, std::string>;

// Returns `page` with each of `places` filled. Requires that the template has
// them in this order. What is filled in is not searched for places.
std::string FillPage(std::string_view page, absl::Span<const PagePlace> places);

// Returns a section with a heading. `id` names it in links; `body` is HTML.
std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view body);

// Returns the attribute that says in words what an element shows. `text` is
// plain.
std::string HtmlLabel(std::string_view text);

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
// "class=\"sortable\"", with which a Page makes its heads buttons
// that sort. Cells are plain text.
std::string HtmlTable(std::string_view attributes,
                      absl::Span<const HtmlColumn> columns,
                      absl::Span<const std::vector<std::string>> rows);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_HTML_H_
