#include "astra-core/apps/serving/serving_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;

// A column of curve.csv. A value that a point does not have is an empty cell.
struct CurveColumn {
  std::string_view name;  // Ends with the unit.
  int decimals;
  std::optional<double> (*value)(const CurvePoint& point);
};

double PerGpu(const CurvePoint& point, double rate) {
  return rate / static_cast<double>(point.gpus);
}

std::optional<double> IfLimited(const CurvePoint& point, double value) {
  if (!point.run.limits.any()) return std::nullopt;
  return value;
}

// Returns the share of the steps' time that `bound` takes.
double ShareOf(const CurvePoint& point, StepBound bound) {
  return point.run.seconds[static_cast<size_t>(bound)] /
         point.run.busy_seconds();
}

using Value = std::optional<double>;

constexpr CurveColumn kLoadColumns[] = {
    {"concurrency", 0,
     [](const CurvePoint& p) -> Value {
       if (p.load.in_flight == 0) return std::nullopt;
       return static_cast<double>(p.load.in_flight);
     }},
    {"rate_per_s", 6,
     [](const CurvePoint& p) -> Value {
       if (p.load.rate == 0) return std::nullopt;
       return p.load.rate;
     }},
    {"requests", 0,
     [](const CurvePoint& p) -> Value {
       return static_cast<double>(p.run.summary.requests);
     }},
    {"requests_per_s", 6,
     [](const CurvePoint& p) -> Value {
       return p.run.summary.PerSecond(p.run.summary.requests);
     }},
    {"output_tokens_per_s", 3,
     [](const CurvePoint& p) -> Value {
       return p.run.summary.PerSecond(p.run.summary.output_tokens);
     }},
    {"output_tokens_per_s_per_gpu", 3,
     [](const CurvePoint& p) -> Value { return p.OutputRatePerGpu(); }},
    {"total_tokens_per_s_per_gpu", 3,
     [](const CurvePoint& p) -> Value {
       const ServingSummary& s = p.run.summary;
       return PerGpu(p, s.PerSecond(s.prompt_tokens + s.output_tokens));
     }},
    {"output_tokens_per_s_per_user", 3,
     [](const CurvePoint& p) -> Value { return Interactivity(p.run.summary); }},
    {"share_within_limits", 6,
     [](const CurvePoint& p) {
       return IfLimited(p, p.run.summary.ShareWithinLimits());
     }},
    {"goodput_requests_per_s", 6,
     [](const CurvePoint& p) {
       const ServingSummary& s = p.run.summary;
       return IfLimited(p, s.PerSecond(s.requests_within_limits));
     }},
    {"goodput_tokens_per_s_per_gpu", 3,
     [](const CurvePoint& p) {
       const ServingSummary& s = p.run.summary;
       return IfLimited(p,
                        PerGpu(p, s.PerSecond(s.output_tokens_within_limits)));
     }},
};

constexpr CurveColumn kStepColumns[] = {
    {"kv_use_mean", 6,
     [](const CurvePoint& p) -> Value { return p.run.summary.kv_use_mean; }},
    {"kv_use_peak", 6,
     [](const CurvePoint& p) -> Value { return p.run.summary.kv_use_peak; }},
    {"prefix_hit_rate", 6,
     [](const CurvePoint& p) -> Value {
       return p.run.summary.PrefixHitRate();
     }},
    {"preemptions", 0,
     [](const CurvePoint& p) -> Value {
       return static_cast<double>(p.run.summary.preemptions);
     }},
    {"steps", 0,
     [](const CurvePoint& p) -> Value {
       return static_cast<double>(p.run.summary.steps);
     }},
    {"batch_mean", 3,
     [](const CurvePoint& p) -> Value { return p.run.summary.batch_mean; }},
    {"step_compute_share", 6,
     [](const CurvePoint& p) -> Value {
       return ShareOf(p, StepBound::kCompute);
     }},
    {"step_memory_share", 6,
     [](const CurvePoint& p) -> Value {
       return ShareOf(p, StepBound::kMemory);
     }},
    {"step_collectives_share", 6,
     [](const CurvePoint& p) -> Value {
       return ShareOf(p, StepBound::kCollectives);
     }},
    {"step_host_share", 6,
     [](const CurvePoint& p) -> Value { return ShareOf(p, StepBound::kHost); }},
};

struct CurveLatency {
  std::string_view name;
  TimeFigures ServingSummary::*figures;
};

constexpr CurveLatency kLatencies[] = {{"queueing", &ServingSummary::queueing},
                                       {"ttft", &ServingSummary::ttft},
                                       {"tpot", &ServingSummary::tpot},
                                       {"itl", &ServingSummary::itl},
                                       {"e2e", &ServingSummary::e2e}};

struct CurveFigure {
  std::string_view name;
  double TimeFigures::*value;
};

constexpr CurveFigure kFigures[] = {{"mean", &TimeFigures::mean},
                                    {"p50", &TimeFigures::p50},
                                    {"p90", &TimeFigures::p90},
                                    {"p95", &TimeFigures::p95},
                                    {"p99", &TimeFigures::p99}};

std::string CellOf(const CurveColumn& column, const CurvePoint& point) {
  const Value value = column.value(point);
  if (!value) return "";
  ASTRA_CHECK(std::isfinite(*value) && *value >= 0, "{} is {}", column.name,
              *value);
  return fmt::format("{:.{}f}", *value, column.decimals);
}

std::string LineOfCsv(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += cell;
  }
  return line + '\n';
}

bool IsOpen(const SimaiServingOptions& options) {
  return options.points.front().in_flight == 0;
}

std::string NameOf(const LoadPoint& load) {
  return load.in_flight > 0 ? fmt::format("concurrency {}", load.in_flight)
                            : fmt::format("rate {:g}", load.rate);
}

}  // namespace

double CurvePoint::OutputRatePerGpu() const {
  return run.summary.PerSecond(run.summary.output_tokens) /
         static_cast<double>(gpus);
}

std::optional<double> Interactivity(const ServingSummary& summary) {
  if (summary.tpot.mean <= 0) return std::nullopt;
  return kPsPerSecond / summary.tpot.mean;
}

std::vector<std::string> CurveNames() {
  std::vector<std::string> names;
  for (const CurveColumn& column : kLoadColumns) {
    names.emplace_back(column.name);
  }
  for (const CurveLatency& latency : kLatencies) {
    for (const CurveFigure& figure : kFigures) {
      names.push_back(fmt::format("{}_{}_ms", latency.name, figure.name));
    }
  }
  for (const CurveColumn& column : kStepColumns) {
    names.emplace_back(column.name);
  }
  return names;
}

std::vector<std::string> CurveCells(const CurvePoint& point) {
  std::vector<std::string> cells;
  for (const CurveColumn& column : kLoadColumns) {
    cells.push_back(CellOf(column, point));
  }
  for (const CurveLatency& latency : kLatencies) {
    const TimeFigures& figures = point.run.summary.*latency.figures;
    for (const CurveFigure& figure : kFigures) {
      cells.push_back(
          figures.count == 0
              ? std::string()
              : fmt::format("{:.6f}", kMsPerPs * figures.*figure.value));
    }
  }
  for (const CurveColumn& column : kStepColumns) {
    cells.push_back(CellOf(column, point));
  }
  return cells;
}

std::string CurveCsv(absl::Span<const CurvePoint> points) {
  std::string csv = LineOfCsv(CurveNames());
  for (const CurvePoint& point : points) csv += LineOfCsv(CurveCells(point));
  return csv;
}

std::string CurveHeader(const SimaiServingOptions& options) {
  std::string line = fmt::format(
      "{:>11} {:>11} {:>13} {:>13} {:>12} {:>9} {:>12} {:>9} {:>8}",
      IsOpen(options) ? "rate" : "concurrency", "requests/s", "tokens/s/GPU",
      "tokens/s/user", "ttft p50 ms", "p99", "tpot p50 ms", "p99", "cache %");
  if (options.answers.limits.any()) {
    AppendFormat(&line, " {:>9} {:>9}", "within %", "goodput/s");
  }
  return line + "\n";
}

std::string CurveLine(const CurvePoint& point) {
  const ServingSummary& s = point.run.summary;
  const auto of_tokens = [&s](std::optional<double> value, int decimals) {
    return s.tpot.count == 0 || !value
               ? std::string("-")
               : fmt::format("{:.{}f}", *value, decimals);
  };
  std::string line = fmt::format(
      "{:>11} {:>11.3f} {:>13.1f} {:>13} {:>12.1f} {:>9.1f} {:>12} "
      "{:>9} {:>8.1f}",
      point.load.in_flight > 0 ? fmt::format("{}", point.load.in_flight)
                               : fmt::format("{:g}", point.load.rate),
      s.PerSecond(s.requests), point.OutputRatePerGpu(),
      of_tokens(Interactivity(s), 1), kMsPerPs * s.ttft.p50,
      kMsPerPs * s.ttft.p99, of_tokens(kMsPerPs * s.tpot.p50, 2),
      of_tokens(kMsPerPs * s.tpot.p99, 2), 100 * s.kv_use_mean);
  if (point.run.limits.any()) {
    AppendFormat(&line, " {:>9.1f} {:>9.3f}", 100 * s.ShareWithinLimits(),
                 s.PerSecond(s.requests_within_limits));
  }
  return line + "\n";
}

std::string CurveResult(absl::Span<const CurvePoint> points) {
  const auto goodput = [](const CurvePoint& point) {
    const ServingSummary& s = point.run.summary;
    return point.run.limits.any() ? s.PerSecond(s.requests_within_limits)
                                  : s.PerSecond(s.output_tokens);
  };
  const CurvePoint& best =
      *std::max_element(points.begin(), points.end(),
                        [&](const CurvePoint& a, const CurvePoint& b) {
                          return goodput(a) < goodput(b);
                        });
  if (!best.run.limits.any()) {
    std::string text =
        fmt::format("most at {}: {:.1f} output tokens/s for each GPU",
                    NameOf(best.load), best.OutputRatePerGpu());
    if (const auto user = Interactivity(best.run.summary)) {
      AppendFormat(&text, ", {:.1f} for each user", *user);
    }
    return text;
  }
  if (goodput(best) == 0) return "no request keeps the limits";
  return fmt::format(
      "highest goodput at {}: {:.3f} requests/s within the limits, {:.1f} % of "
      "all",
      NameOf(best.load), goodput(best),
      100 * best.run.summary.ShareWithinLimits());
}

}  // namespace astra
