// Draws bars that consist of parts, such as where the time of each plan goes,
// within a page that has PageStyle().

#ifndef ASTRA_CORE_PAGES_STACKED_BARS_H_
#define ASTRA_CORE_PAGES_STACKED_BARS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct BarPart {
  std::string_view name;
  std::string_view colour;  // Such as "#0072b2".
};

struct StackedBar {
  std::string name;
  std::vector<double> parts;  // By part, in `unit`.
  std::string whole;          // What stands behind the bar.
};

// Returns the bars on one scale, each with its parts in words for screen
// readers and those who point at it, and a legend of the parts that occur.
std::string StackedBars(absl::Span<const BarPart> parts,
                        absl::Span<const StackedBar> bars,
                        std::string_view unit);

}  // namespace astra

#endif  // ASTRA_CORE_PAGES_STACKED_BARS_H_
