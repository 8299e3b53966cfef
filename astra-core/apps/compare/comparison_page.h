// comparison.html: finished runs side by side on one page that needs no other
// file and no network.

#ifndef ASTRA_CORE_APPS_COMPARE_COMPARISON_PAGE_H_
#define ASTRA_CORE_APPS_COMPARE_COMPARISON_PAGE_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/apps/compare/finished_run.h"

namespace astra {

// Returns the page of at least two runs: the figures with their differences,
// where the time goes, the collectives, and what differs in the inputs.
std::string ComparisonPage(std::string_view name,
                           absl::Span<const FinishedRun> runs);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COMPARE_COMPARISON_PAGE_H_
