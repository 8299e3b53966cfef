#include "collectives/measurements/comparison_plot.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "astra-core/base/check.h"
#include "collectives/measurements/svg_plot.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Identifies a panel: source, GPU, nodes, GPUs, collective.
using PanelKey = std::tuple<std::string_view, std::string_view, uint32_t,
                            uint32_t, CollectiveKind>;

PanelKey KeyOf(const MeasuredRow& row) {
  return {row.source, row.gpu, row.num_nodes, row.num_gpus, row.collective};
}

// Shortens a source to its end, the most telling part of an address.
std::string SourceTitle(std::string_view source) {
  constexpr size_t kMaxLength = 48;
  if (source.size() <= kMaxLength) return std::string(source);
  return fmt::format("...{}", source.substr(source.size() - kMaxLength + 3));
}

PlotPanel PanelFor(const MeasuredRow& row) {
  PlotPanel panel;
  panel.title = {
      fmt::format("{}, {} x {}, {}", row.gpu, row.num_nodes,
                  row.num_gpus_per_node(), NcclTestsName(row.collective)),
      SourceTitle(row.source)};
  panel.x_label = "size (bytes)";
  panel.y_label = "time (us)";
  return panel;
}

// Returns the series `name`, or the series "others" if there are many.
PlotSeries* SeriesNamed(const std::string& name, PlotPanel* panel) {
  constexpr size_t kMaxSeries = 12;
  for (PlotSeries& series : panel->series) {
    if (series.name == name) return &series;
  }
  if (panel->series.size() == kMaxSeries) return &panel->series.back();
  const bool is_last = panel->series.size() + 1 == kMaxSeries;
  panel->series.push_back({is_last ? "others" : name, {}, {}});
  return &panel->series.back();
}

void SortBySize(std::vector<PlotPoint>* points) {
  std::stable_sort(
      points->begin(), points->end(),
      [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
}

}  // namespace

std::string PlotComparison(const MeasuredTable& table,
                           absl::Span<const Outcome> outcomes) {
  ASTRA_CHECK(outcomes.size() == table.rows.size(), "{} outcomes of {} rows",
              outcomes.size(), table.rows.size());
  const auto env = static_cast<size_t>(
      std::find(table.columns.begin(), table.columns.end(), "env") -
      table.columns.begin());
  std::vector<PlotPanel> panels;
  std::map<PanelKey, size_t> index;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const MeasuredRow& row = table.rows[i];
    if (!row.problem.empty()) continue;
    const auto [found, is_new] = index.emplace(KeyOf(row), index.size());
    if (found->second >= kMaxPlotPanels) continue;
    if (is_new) panels.push_back(PanelFor(row));
    PlotSeries* const series =
        SeriesNamed(env < row.cells.size() ? row.cells[env] : std::string(),
                    &panels[found->second]);
    const auto size = static_cast<double>(row.size.count());
    series->dots.push_back({size, row.time_us});
    if (outcomes[i].ok()) {
      series->line.push_back({size, outcomes[i].predicted_us});
    }
  }
  for (PlotPanel& panel : panels) {
    for (PlotSeries& series : panel.series) SortBySize(&series.line);
  }
  std::string title = "Measured (circles) and predicted (lines) times";
  if (index.size() > panels.size()) {
    title += fmt::format("; {} more", index.size() - panels.size());
  }
  return FormatSvg(title, panels);
}

}  // namespace astra
