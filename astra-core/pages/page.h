// Whole pages, which need no other file and no network.
//
//   Page page("name of the run");
//   std::string sections = HtmlSection("time", "Time", page.Add(Draw(chart)));
//   return page.Html(HtmlFacts(facts), sections);

#ifndef ASTRA_CORE_PAGES_PAGE_H_
#define ASTRA_CORE_PAGES_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/pages/drawn_chart.h"

namespace astra {

class Page {
 public:
  // `name` is the title and the heading; `language` is the code of its
  // language, such as "en".
  explicit Page(std::string_view name, std::string_view language = "en")
      : name_(name), language_(language) {}

  // Adds a chart and returns HTML of the place where it is drawn, with its
  // table, which opens on request, below it.
  std::string Add(DrawnChart chart);

  // Returns the page with `facts` below its heading, and `sections`. Both are
  // HTML.
  std::string Html(std::string_view facts, std::string_view sections) const;

 private:
  std::string name_;
  std::string language_;
  std::vector<std::string> charts_;  // JSON of each chart.
};

// Returns the scripts of the charts of a page: the library, and the function
// drawChart() of charts.js.
std::string ChartScripts();

// Returns JSON for the inside of <script>. Characters with a meaning in HTML
// are escaped, so that no value can end the script.
std::string ScriptJson(std::string_view json);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_PAGE_H_
