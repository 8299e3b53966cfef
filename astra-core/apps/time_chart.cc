#include "astra-core/apps/time_chart.h"

#include <utility>
#include <vector>

#include "astra-core/base/parallel_dimension.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "astra-core/pages/pie_chart.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMsPerUs = 1e-3;

struct Words {
  std::string_view language;  // Code of the language in HTML.
  std::string_view communication;
  std::string_view compute;
  std::string_view bubble;
  std::string_view pipeline;
  std::string_view iteration;
  std::string_view host;
};
// Words of the chart, by ChartLanguage.
constexpr Words kWords[] = {
    {"en", "exposed {}", "computation", "pipeline bubble",
     "exposed pipeline messages", "one iteration", "CPU and copies"},
    {"ja", "{} の通信待ち", "計算", "パイプラインバブル",
     "パイプライン通信待ち", "1反復", "CPUとコピー待ち"}};

// Returns the slices of SimAI's chart, and a slice for each dimension, and for
// the CPU and copies, that SimAI does not have and that costs time.
std::vector<PieSlice> SlicesOf(const SimulationResult& result,
                               const Words& words) {
  std::vector<PieSlice> slices;
  const auto add = [&slices](std::string name, TimePs time) {
    const double ms = ToMicroseconds(time) * kMsPerUs;
    slices.push_back({std::move(name), ms, {fmt::format("{:.6f}", ms)}});
  };
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    const TimePs time = result.exposed[IndexOf(dimension)];
    const bool is_simais = dimension == ParallelDimension::kTensor ||
                           dimension == ParallelDimension::kData ||
                           dimension == ParallelDimension::kDataExpert ||
                           dimension == ParallelDimension::kExpert;
    if (!is_simais && time == TimePs(0)) continue;
    add(fmt::format(fmt::runtime(words.communication), Name(dimension)), time);
  }
  add(std::string(words.compute), result.compute + result.slowed);
  add(std::string(words.bubble), result.pipeline.bubble);
  add(std::string(words.pipeline), result.pipeline.exposed);
  if (result.held > TimePs(0)) add(std::string(words.host), result.held);
  return slices;
}

}  // namespace

std::string TimeChart(std::string_view name, const SimulationResult& result,
                      ChartLanguage language) {
  const Words& words = kWords[static_cast<size_t>(language)];
  const std::string iteration =
      fmt::format("{}: {:.6f} ms", words.iteration,
                  ToMicroseconds(result.total()) * kMsPerUs);
  Page page(name, words.language);
  return page.Html(
      HtmlNote(iteration),
      page.Add(Draw(PieChart{SlicesOf(result, words), {"ms"}}, iteration)));
}

}  // namespace astra
