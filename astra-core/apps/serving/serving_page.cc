#include "astra-core/apps/serving/serving_page.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/serving/serving_pools_report.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/units.h"
#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/pages/page.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Facts = std::vector<std::pair<std::string_view, std::string>>;

constexpr double kMsPerPs = 1e-9;
// Above this ratio of the largest to the smallest value an axis is logarithmic.
constexpr double kLogRatio = 50;

// By StepBound.
constexpr BarPart kBounds[] = {{kStepBounds[0], "#0072b2"},
                               {kStepBounds[1], "#56b4e9"},
                               {kStepBounds[2], "#e69f00"},
                               {kStepBounds[3], "#999999"}};
static_assert(std::size(kBounds) == std::size(kStepBounds));

std::string Number(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

// Returns whether values spread so far that a linear axis would hide the small
// ones. None may be 0 then.
bool SpreadsFar(const LineChart& chart, double LinePoint::*member) {
  double low = 0;
  double high = 0;
  for (const ChartLine& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      low = high == 0 ? point.*member : std::min(low, point.*member);
      high = std::max(high, point.*member);
    }
  }
  return low > 0 && high / low > kLogRatio;
}

bool HasPoints(const LineChart& chart) {
  return std::any_of(
      chart.lines.begin(), chart.lines.end(),
      [](const ChartLine& line) { return !line.points.empty(); });
}

// --- One load.

struct Distribution {
  std::string_view name;
  const TimePercentiles& times;
};

// Returns the chart of cumulative distributions; empty without values.
std::string DistributionChart(std::string_view title,
                              std::initializer_list<Distribution> all,
                              std::optional<TimePs> limit, Page& page) {
  LineChart chart;
  if (limit) {
    const double ms = kMsPerPs * static_cast<double>(limit->count());
    chart.x_limit = ChartLimit{ms, fmt::format("limit {:g} ms", ms)};
  }
  chart.y = {.name = "% at or below", .from_zero = true};
  for (const Distribution& distribution : all) {
    if (distribution.times.empty()) continue;
    ChartLine& line = chart.lines.emplace_back();
    line.name = distribution.name;
    for (size_t i = 0; i < distribution.times.size(); ++i) {
      line.points.push_back(
          {.x = kMsPerPs * distribution.times[i], .y = static_cast<double>(i)});
    }
  }
  if (chart.lines.empty()) return "";
  chart.x = {.name = "ms", .is_log = SpreadsFar(chart, &LinePoint::x)};
  return fmt::format(
      "<h3>{}</h3>\n{}", HtmlText(title),
      page.Add(Draw(
          chart, fmt::format("{}: share of them at or below a time", title))));
}

std::string LatenciesSection(const ServingRun& run, Page& page) {
  Rows rows;
  for (const NamedFigures& named : FiguresIn(run.summary)) {
    const TimeFigures& f = named.figures;
    std::vector<std::string>& row = rows.emplace_back();
    row.emplace_back(named.name);
    for (const double value : {f.mean, f.p50, f.p90, f.p95, f.p99, f.max}) {
      row.push_back(f.count == 0 ? "-" : Number(kMsPerPs * value, 3));
    }
    row.emplace_back(named.meaning);
  }
  std::string html = HtmlTable("aria-label=\"Latencies in milliseconds\"",
                               std::vector<HtmlColumn>{{"ms", false},
                                                       {"mean", true},
                                                       {"p50", true},
                                                       {"p90", true},
                                                       {"p95", true},
                                                       {"p99", true},
                                                       {"max", true},
                                                       {"meaning", false}},
                               rows);
  const ServingDistributions& all = run.distributions;
  html += DistributionChart("Time to the first token", {{"ttft", all.ttft}},
                            run.limits.to_first_token, page);
  html += DistributionChart("Time for each token behind the first",
                            {{"tpot", all.tpot}, {"itl", all.itl}},
                            run.limits.per_token, page);
  html += DistributionChart("Time to the last token", {{"e2e", all.e2e}},
                            run.limits.end_to_end, page);
  return HtmlSection("latencies", "Latencies", html);
}

std::string SeriesChart(
    std::string_view title, std::string_view unit,
    absl::Span<const LoadBin> bins,
    std::initializer_list<std::pair<std::string_view, double LoadBin::*>> lines,
    double scale, Page& page) {
  LineChart chart;
  chart.x = {.name = "time s", .from_zero = true};
  chart.y = {.name = std::string(unit), .from_zero = true};
  for (const auto& [name, member] : lines) {
    ChartLine& line = chart.lines.emplace_back();
    line.name = name;
    for (const LoadBin& bin : bins) {
      line.points.push_back({.x = bin.begin_s, .y = scale * bin.*member});
    }
  }
  return fmt::format("<h3>{}</h3>\n{}", HtmlText(title),
                     page.Add(Draw(chart, fmt::format("{} over time", title))));
}

std::string TimeSection(absl::Span<const LoadBin> bins, Page& page) {
  if (bins.empty()) return "";
  std::string html = HtmlNote(
      "Means over all replicas in equal spans of time, each with the time at "
      "which it begins.");
  html += SeriesChart(
      "Sequences", "sequences", bins,
      {{"running", &LoadBin::running}, {"waiting", &LoadBin::waiting}}, 1,
      page);
  html += SeriesChart("KV cache", "% of the blocks in use", bins,
                      {{"in use", &LoadBin::kv_use}}, kPercent, page);
  html += SeriesChart("Output", "tokens/s", bins,
                      {{"output", &LoadBin::output_tokens_per_s}}, 1, page);
  return HtmlSection("time", "Over time", html);
}

std::string BoundsSection(const ServingRun& run, Page& page) {
  std::vector<StackedBar> bars;
  const auto add = [&bars](std::string name, std::vector<double> seconds) {
    double sum = 0;
    for (const double part : seconds) sum += part;
    if (sum > 0)
      bars.push_back(
          {std::move(name), std::move(seconds), fmt::format("{:.3f} s", sum)});
  };
  std::vector<double> decode;
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    decode.push_back(run.seconds[i] - run.prompt_seconds[i]);
  }
  add("all steps", {run.seconds.begin(), run.seconds.end()});
  add("steps with prompts",
      {run.prompt_seconds.begin(), run.prompt_seconds.end()});
  add("decode alone", std::move(decode));
  return HtmlSection("bounds", "What bounds the steps",
                     HtmlNote("Seconds of the steps of all replicas. The host "
                              "counts where the GPU waits for it.") +
                         page.Add(Draw(BarChart{kBounds, bars, "s"},
                                       "What bounds the steps")));
}

// --- A list of loads.

std::string LoadOf(const LoadPoint& load) {
  return load.in_flight > 0 ? fmt::format("{}", load.in_flight)
                            : fmt::format("{:g}", load.rate);
}

// Returns what the loads are numbers of.
std::string_view LoadName(absl::Span<const CurvePoint> points) {
  return points.front().load.in_flight > 0 ? "concurrency"
                                           : "requests/s that arrive";
}

double LoadValue(const LoadPoint& load) {
  return load.in_flight > 0 ? static_cast<double>(load.in_flight) : load.rate;
}

std::string CurveSection(const SimaiServingOptions& options,
                         absl::Span<const CurvePoint> points,
                         absl::Span<const OtherCurve> others, Page& page) {
  LineChart chart;
  chart.x = {.name = "output tokens/s for each user", .from_zero = true};
  chart.y = {.name = "output tokens/s for each GPU", .from_zero = true};
  chart.has_dots = true;
  if (const std::optional<TimePs> limit = options.answers.limits.per_token) {
    const double user = 1e12 / static_cast<double>(limit->count());
    chart.x_limit = ChartLimit{
        user, fmt::format("{:g} ms for each token",
                          kMsPerPs * static_cast<double>(limit->count()))};
  }
  const auto add = [](ChartLine& line, const std::string& load,
                      std::optional<double> per_user, double gpu) {
    if (!per_user) return;
    const double user = *per_user;
    line.points.push_back(
        {user, gpu, load,
         fmt::format("{} {}: {:.1f} tokens/s for each GPU, {:.1f} for each "
                     "user",
                     line.name, load, gpu, user)});
  };
  ChartLine& own = chart.lines.emplace_back();
  own.name = options.name;
  for (const CurvePoint& point : points) {
    add(own, LoadOf(point.load), Interactivity(point.run.summary),
        point.OutputRatePerGpu());
  }
  for (const OtherCurve& other : others) {
    ChartLine& line = chart.lines.emplace_back();
    line.name = other.name;
    for (const OtherPoint& point : other.points) {
      add(line, point.load, point.output_tokens_per_s_per_user,
          point.output_tokens_per_s_per_gpu);
    }
  }
  if (!HasPoints(chart)) return "";
  return HtmlSection(
      "curve", "Throughput and interactivity",
      HtmlNote(fmt::format("A number beside a point is its {}. Right and up is "
                           "better.",
                           LoadName(points))) +
          page.Add(Draw(chart, "Throughput per GPU over interactivity")));
}

std::string FirstTokenSection(const SimaiServingOptions& options,
                              absl::Span<const CurvePoint> points,
                              absl::Span<const OtherCurve> others, Page& page) {
  LineChart chart;
  chart.x = {.name = "requests/s", .from_zero = true};
  chart.y = {.name = "ttft ms", .from_zero = true};
  chart.has_dots = true;
  const auto add = [&](std::string name, double TimeFigures::*figure) {
    ChartLine& line = chart.lines.emplace_back();
    line.name = std::move(name);
    for (const CurvePoint& point : points) {
      const ServingSummary& s = point.run.summary;
      const double rate =
          point.load.rate > 0 ? point.load.rate : s.PerSecond(s.requests);
      const double ms = kMsPerPs * s.ttft.*figure;
      line.points.push_back(
          {rate, ms, "",
           fmt::format("{} {}: {:.3f} requests/s, {:.1f} ms", line.name,
                       LoadOf(point.load), rate, ms)});
    }
  };
  add(options.name + " p50", &TimeFigures::p50);
  add(options.name + " p99", &TimeFigures::p99);
  for (const OtherCurve& other : others) {
    ChartLine& line = chart.lines.emplace_back();
    line.name = other.name + " p50";
    for (const OtherPoint& point : other.points) {
      line.points.push_back(
          {point.requests_per_s, point.ttft_p50_ms, "",
           fmt::format("{} {}: {:.3f} requests/s, {:.1f} ms", line.name,
                       point.load, point.requests_per_s, point.ttft_p50_ms)});
    }
  }
  chart.y.is_log = SpreadsFar(chart, &LinePoint::y);
  return HtmlSection(
      "ttft", "Time to the first token and rate",
      HtmlNote("Requests that arrive in a second, or that end where their "
               "number in flight is given.") +
          page.Add(Draw(chart,
                        "Time to the first token over the rate of requests")));
}

std::string GoodputSection(const SimaiServingOptions& options,
                           absl::Span<const CurvePoint> points, Page& page) {
  if (!options.answers.limits.any()) return "";
  LineChart chart;
  chart.x = {.name = std::string(LoadName(points)), .is_log = true};
  chart.y = {.name = "requests/s", .from_zero = true};
  chart.has_dots = true;
  chart.lines = {{"all", {}}, {"within the limits", {}}};
  for (const CurvePoint& point : points) {
    const ServingSummary& s = point.run.summary;
    const double load = LoadValue(point.load);
    const double all = s.PerSecond(s.requests);
    const double within = s.PerSecond(s.requests_within_limits);
    chart.lines[0].points.push_back(
        {load, all, "", fmt::format("{:.3f} requests/s", all)});
    chart.lines[1].points.push_back(
        {load, within, "",
         fmt::format("{:.3f} requests/s, {:.1f} % of all", within,
                     100 * s.ShareWithinLimits())});
  }
  return HtmlSection(
      "goodput", "Goodput",
      HtmlNote(
          fmt::format("Limits: {}.", DescribeLimits(options.answers.limits))) +
          page.Add(Draw(chart, "Requests within the limits over the load")));
}

std::string CurveBoundsSection(absl::Span<const CurvePoint> points,
                               Page& page) {
  std::vector<StackedBar> bars;
  for (const CurvePoint& point : points) {
    std::vector<double> shares;
    for (const double seconds : point.run.seconds) {
      shares.push_back(100 * seconds / point.run.busy_seconds());
    }
    bars.push_back(
        {LoadOf(point.load), std::move(shares),
         fmt::format("{:.2f} ms a step",
                     1e3 * point.run.busy_seconds() /
                         static_cast<double>(point.run.summary.steps))});
  }
  return HtmlSection("bounds", "What bounds the steps",
                     HtmlNote(fmt::format("Shares of the steps' time, by {}.",
                                          LoadName(points))) +
                         page.Add(Draw(BarChart{kBounds, bars, "%", 2},
                                       "What bounds the steps of each load")));
}

std::string PointsSection(absl::Span<const CurvePoint> points) {
  std::vector<HtmlColumn> columns;
  for (std::string name : CurveNames()) {
    std::replace(name.begin(), name.end(), '_', ' ');
    columns.push_back({std::move(name), true});
  }
  Rows rows;
  for (const CurvePoint& point : points) rows.push_back(CurveCells(point));
  // Columns that no point has a value of, such as the rate of a closed loop.
  for (size_t i = columns.size(); i-- > 0;) {
    const bool is_empty = std::all_of(
        rows.begin(), rows.end(),
        [i](const std::vector<std::string>& row) { return row[i].empty(); });
    if (!is_empty) continue;
    const auto at = static_cast<ptrdiff_t>(i);
    columns.erase(columns.begin() + at);
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + at);
  }
  return HtmlSection(
      "points", "Points",
      HtmlTable("class=\"sortable\" aria-label=\"The points of the curve\"",
                columns, rows));
}

Facts FactsOf(const SimaiServingOptions& options, std::string result) {
  const ServingJob& job = options.job;
  Facts facts = {
      {"Result", std::move(result)},
      {"Model", job.model.name},
      {"GPUs",
       fmt::format("{} {}: {} of TP {}, PP {}, EP {}", options.num_gpus(),
                   job.gpu.name,
                   job.replicas == 1 ? std::string("a replica")
                                     : fmt::format("{} replicas", job.replicas),
                   job.layout.tensor, job.layout.pipeline, job.layout.expert)},
      {"Engine", fmt::format("{} {}, scheduler {}", job.engine.name,
                             job.engine.release, job.scheduler->name)},
      {"Cache", BlocksText(job.options)},
      {"Requests",
       options.trace
           ? fmt::format("of {}", *options.trace)
           : fmt::format("{} prompt and {} output tokens each",
                         options.prompt_tokens, options.output_tokens)}};
  if (options.answers.limits.any()) {
    facts.emplace_back("Limits", DescribeLimits(options.answers.limits));
  }
  return facts;
}

}  // namespace

std::string ServingPage(const SimaiServingOptions& options,
                        const ServingRun& run, absl::Span<const LoadBin> bins) {
  const ServingSummary& s = run.summary;
  Facts facts = FactsOf(options, ServingResult(run));
  const LoadPoint& load = options.points.front();
  if (load.in_flight > 0) {
    facts.emplace_back("In flight", fmt::format("{}", load.in_flight));
  } else if (load.rate > 0) {
    facts.emplace_back("Rate", fmt::format("{:g} requests/s", load.rate));
  }
  facts.emplace_back("Output", DescribeOutput(options, s));
  if (run.limits.any()) {
    facts.emplace_back("Goodput",
                       fmt::format("{:.1f} % of requests, {:.3f} a second",
                                   100 * s.ShareWithinLimits(),
                                   s.PerSecond(s.requests_within_limits)));
  }
  facts.emplace_back("Cache use",
                     fmt::format("{:.1f} % in the mean, {:.1f} % at most; {} "
                                 "preemptions; {:.1f} % of prompts found",
                                 100 * s.kv_use_mean, 100 * s.kv_use_peak,
                                 s.preemptions, 100 * s.PrefixHitRate()));
  Page page(options.name);
  std::string sections = LatenciesSection(run, page);
  sections += TimeSection(bins, page);
  sections += BoundsSection(run, page);
  return page.Html(HtmlFacts(facts), sections);
}

std::string CurvePage(const SimaiServingOptions& options,
                      absl::Span<const CurvePoint> points,
                      absl::Span<const OtherCurve> others) {
  Page page(options.name);
  std::string sections = CurveSection(options, points, others, page);
  sections += FirstTokenSection(options, points, others, page);
  sections += GoodputSection(options, points, page);
  sections += CurveBoundsSection(points, page);
  sections += PointsSection(points);
  return page.Html(HtmlFacts(FactsOf(options, CurveResult(points))), sections);
}

}  // namespace astra
