// Makes chart.html of simai_analytical -v: a pie of where the time of an
// iteration goes, with the slices of SimAI's chart. The page needs no other
// file.

#ifndef ASTRA_CORE_APPS_TIME_CHART_H_
#define ASTRA_CORE_APPS_TIME_CHART_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/engine/result.h"

namespace astra {

// The language of the chart's words.
enum class ChartLanguage : uint8_t { kEnglish, kJapanese };

std::string TimeChart(std::string_view name, const SimulationResult& result,
                      ChartLanguage language);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TIME_CHART_H_
