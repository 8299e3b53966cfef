#include "astra-core/apps/goodput/goodput_report.h"

#include <algorithm>
#include <cstddef>

#include "astra-core/apps/json_parts.h"
#include "astra-core/goodput/failures_file.h"
#include "astra-core/results/table.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr int kDecimals = 6;

constexpr Column<GoodputPoint> kColumns[] = {
    {"interval_s", "s", "work between checkpoints",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.expected.interval_s, 3, text);
     }},
    {"goodput", "", "work that counts over time, by the formula",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.expected.goodput, kDecimals, text);
     }},
    {"checkpoints", "", "share of the time for checkpoints",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.expected.checkpoints, kDecimals, text);
     }},
    {"lost", "", "share of the time for work that a failure lost",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.expected.lost, kDecimals, text);
     }},
    {"restarts", "", "share of the time for restarts",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.expected.restarts, kDecimals, text);
     }},
    {"simulated", "", "goodput of simulated runs, mean",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.simulated.mean, kDecimals, text);
     }},
    {"simulated_p5", "", "one run in twenty is worse",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.simulated.p5, kDecimals, text);
     }},
    {"simulated_p95", "", "one run in twenty is better",
     [](const GoodputPoint& point, std::string* text) {
       AppendNumber(point.simulated.p95, kDecimals, text);
     }},
};

GoodputPoint PointOf(const SimaiGoodputOptions& options, double interval_s) {
  return {ExpectGoodput(options.job, interval_s),
          RunTrials(options.job, interval_s, options.duration_s, options.trials,
                    options.seed)};
}

}  // namespace

std::vector<GoodputPoint> GoodputPoints(const SimaiGoodputOptions& options) {
  const double chosen = options.interval_s.value_or(BestInterval(options.job));
  std::vector<GoodputPoint> points;
  for (const double factor : {1.0, 0.125, 0.25, 0.5, 2.0, 4.0, 8.0}) {
    points.push_back(PointOf(options, factor * chosen));
  }
  return points;
}

std::string GoodputCsv(absl::Span<const GoodputPoint> points) {
  std::vector<GoodputPoint> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const GoodputPoint& a, const GoodputPoint& b) {
              return a.expected.interval_s < b.expected.interval_s;
            });
  std::string text = HeaderOf<GoodputPoint>(kColumns);
  for (const GoodputPoint& point : sorted) {
    AppendRow<GoodputPoint>(kColumns, point, &text);
  }
  return text;
}

std::string GoodputRunJson(const GoodputPoint& point) {
  const ExpectedGoodput& expected = point.expected;
  return JsonText({{"program", "simai_goodput"},
                   {"result",
                    {{"interval_s", expected.interval_s},
                     {"goodput", expected.goodput},
                     {"checkpoints", expected.checkpoints},
                     {"lost", expected.lost},
                     {"restarts", expected.restarts},
                     {"simulated", point.simulated.mean},
                     {"simulated_p5", point.simulated.p5},
                     {"simulated_p95", point.simulated.p95}}}});
}

std::string DescribeGoodput(const SimaiGoodputOptions& options,
                            const GoodputPoint& point) {
  const ExpectedGoodput& expected = point.expected;
  const GoodputTrials& simulated = point.simulated;
  std::string text;
  for (size_t i = 0; i < options.job.failures.size(); ++i) {
    const FailureKind& kind = options.job.failures[i];
    text += fmt::format(
        "failures   {}: one in {}, then {} to restart; {:.1f} in {:g} days\n",
        kind.name, DurationText(kind.mean_s), DurationText(kind.restart_s),
        simulated.failures[i], options.duration_s / 86'400);
  }
  text += fmt::format("checkpoint {}, after each {} of work{}\n",
                      DurationText(options.job.checkpoint_s),
                      DurationText(expected.interval_s),
                      options.interval_s ? "" : ", the best");
  text += fmt::format(
      "formula    goodput {:.2f} %: checkpoints {:.2f} %, lost work {:.2f} %, "
      "restarts {:.2f} %\n",
      100 * expected.goodput, 100 * expected.checkpoints, 100 * expected.lost,
      100 * expected.restarts);
  text += fmt::format(
      "simulated  goodput {:.2f} % in {} runs of {:g} days; {:.2f} to {:.2f} % "
      "in nine of ten\n",
      100 * simulated.mean, options.trials, options.duration_s / 86'400,
      100 * simulated.p5, 100 * simulated.p95);
  constexpr double kHopeless = 1e-4;
  if (expected.goodput < kHopeless) {
    text +=
        "no progress: failures come faster than work and a checkpoint are "
        "done\n";
  }
  if (options.iteration_s && expected.goodput > 0) {
    text += fmt::format(
        "iteration  {} comes to {}; {:.0f} in {:g} days\n",
        DurationText(*options.iteration_s),
        DurationText(*options.iteration_s / expected.goodput),
        options.duration_s * expected.goodput / *options.iteration_s,
        options.duration_s / 86'400);
  }
  return text;
}

}  // namespace astra
