#include "astra-core/pages/stacked_bars.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "astra-core/base/append_format.h"
#include "astra-core/pages/html.h"

namespace astra {
namespace {

double WholeOf(const StackedBar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

std::string LegendOf(absl::Span<const BarPart> parts,
                     absl::Span<const StackedBar> bars) {
  std::string html = "<p class=\"legend note\">";
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool occurs =
        std::any_of(bars.begin(), bars.end(),
                    [i](const StackedBar& bar) { return bar.parts[i] > 0; });
    if (!occurs) continue;
    AppendFormat(&html,
                 "<span><span class=\"swatch\" style=\"background:{}\"></span> "
                 "{}</span>\n",
                 parts[i].colour, HtmlText(parts[i].name));
  }
  return html + "</p>\n";
}

// Returns the parts of a bar that are not 0, in words.
std::string WordsOf(absl::Span<const BarPart> parts, const StackedBar& bar,
                    std::string_view unit) {
  std::string words;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (bar.parts[i] <= 0) continue;
    AppendFormat(&words, "{}{} {:.4g} {}", words.empty() ? "" : ", ",
                 parts[i].name, bar.parts[i], unit);
  }
  return HtmlText(words);
}

}  // namespace

std::string StackedBars(absl::Span<const BarPart> parts,
                        absl::Span<const StackedBar> bars,
                        std::string_view unit) {
  double longest = 0;
  for (const StackedBar& bar : bars) longest = std::max(longest, WholeOf(bar));
  std::string html = LegendOf(parts, bars) + "<div class=\"bars\">\n";
  for (const StackedBar& bar : bars) {
    const std::string words = WordsOf(parts, bar, unit);
    AppendFormat(&html,
                 "<span>{}</span><div class=\"bar\" role=\"img\" "
                 "aria-label=\"{}\" title=\"{}\">",
                 HtmlText(bar.name), words, words);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (bar.parts[i] <= 0) continue;
      AppendFormat(&html, "<span style=\"width:{:.3f}%;background:{}\"></span>",
                   100 * bar.parts[i] / longest, parts[i].colour);
    }
    AppendFormat(&html, "</div><span class=\"number\">{}</span>\n",
                 HtmlText(bar.whole));
  }
  return html + "</div>\n";
}

}  // namespace astra
