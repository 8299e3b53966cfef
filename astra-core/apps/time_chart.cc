#include "astra-core/apps/time_chart.h"

#include <vector>

#include "astra-core/base/parallel_dimension.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Words {
  std::string_view language;  // As HTML has it.
  std::string_view communication;
  std::string_view compute;
  std::string_view bubble;
  std::string_view pipeline;
  std::string_view iteration;
};
// By ChartLanguage.
constexpr Words kWords[] = {
    {"en", "exposed {}", "computation", "pipeline bubble",
     "exposed pipeline messages", "one iteration"},
    {"ja", "{} の通信待ち", "計算", "パイプラインバブル",
     "パイプライン通信待ち", "1反復"}};

struct Slice {
  std::string name;
  TimePs time;
};

// The slices of SimAI's chart, and dimensions that SimAI has not if they cost
// time.
std::vector<Slice> SlicesOf(const SimulationResult& result,
                            const Words& words) {
  std::vector<Slice> slices;
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    const TimePs time = result.exposed[IndexOf(dimension)];
    const bool is_simais = dimension == ParallelDimension::kTensor ||
                           dimension == ParallelDimension::kData ||
                           dimension == ParallelDimension::kDataExpert ||
                           dimension == ParallelDimension::kExpert;
    if (!is_simais && time == TimePs(0)) continue;
    slices.push_back(
        {fmt::format(fmt::runtime(words.communication), Name(dimension)),
         time});
  }
  slices.push_back(
      {std::string(words.compute), result.compute + result.slowed});
  slices.push_back({std::string(words.bubble), result.pipeline.bubble});
  slices.push_back({std::string(words.pipeline), result.pipeline.exposed});
  return slices;
}

std::string HtmlText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string TimeChart(std::string_view name, const SimulationResult& result,
                      ChartLanguage language) {
  constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9",
                                           "#999999", "#f0e442", "#332288"};
  constexpr double kMsPerUs = 1e-3;
  const Words& words = kWords[static_cast<size_t>(language)];
  const double total = ToMicroseconds(result.total()) * kMsPerUs;
  std::string sectors, rows;
  double share = 0;  // Of the slices so far, in percent.
  size_t number = 0;
  for (const auto& [slice, time] : SlicesOf(result, words)) {
    const std::string_view colour = kColours[number++ % std::size(kColours)];
    const double ms = ToMicroseconds(time) * kMsPerUs;
    const double percent = total > 0 ? 100 * ms / total : 0;
    sectors += fmt::format("{}{} {:.4f}% {:.4f}%", sectors.empty() ? "" : ", ",
                           colour, share, share + percent);
    share += percent;
    rows += fmt::format(
        "<tr><td style=\"background:{}\">&emsp;</td><td>{}</td>"
        "<td>{:.6f} ms</td><td>{:.2f} %</td></tr>\n",
        colour, slice, ms, percent);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\">"
      "<title>{}</title>\n<style>body {{font-family: sans-serif}} "
      "td {{padding: 0.2em 0.6em}} td:nth-child(n+3) {{text-align: right}}\n"
      "#pie {{width: 20em; height: 20em; border-radius: 50%; "
      "background: conic-gradient({})}}</style></head>\n"
      "<body><h1>{}</h1><p>{}: {:.6f} ms</p>\n<div id=\"pie\"></div>\n"
      "<table>\n{}</table></body></html>\n",
      words.language, HtmlText(name), sectors, HtmlText(name), words.iteration,
      total, rows);
}

}  // namespace astra
