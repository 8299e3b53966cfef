#include "workload/serving/serving_tables.h"

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

void AppendTime(TimePs time, std::string* text) {
  constexpr int64_t kPsPerUs = 1'000'000;
  ASTRA_CHECK(time >= TimePs(0), "a time is {} ps", time.count());
  AppendFormat(text, "{}.{:06}", time.count() / kPsPerUs,
               time.count() % kPsPerUs);
}

void AppendTimes(std::initializer_list<TimePs> times, std::string* text) {
  for (const TimePs time : times) {
    AppendTime(time, text);
    *text += ',';
  }
}

void AppendMetric(std::string_view name, std::string_view unit, double value,
                  std::string* text) {
  ASTRA_CHECK(std::isfinite(value) && value >= 0, "{} is {}", name, value);
  AppendFormat(text, "{},{},{:.6f}\n", name, unit, value);
}

void AppendCount(std::string_view name, int64_t value, std::string* text) {
  ASTRA_CHECK(value >= 0, "{} is {}", name, value);
  AppendFormat(text, "{},,{}\n", name, value);
}

void AppendFigures(std::string_view name, const TimeFigures& figures,
                   std::string* text) {
  const struct {
    std::string_view name;
    double value;
  } all[] = {{"mean", figures.mean}, {"p50", figures.p50},
             {"p90", figures.p90},   {"p95", figures.p95},
             {"p99", figures.p99},   {"max", figures.max}};
  for (const auto& figure : all) {
    AppendMetric(std::string(name) + "_" + std::string(figure.name), "us",
                 figure.value * 1e-6, text);
  }
}

}  // namespace

std::string RequestsHeader() {
  return "id,arrival_us,queueing_us,ttft_us,e2e_us,tpot_us,prompt_tokens,"
         "output_tokens,cached_tokens,preemptions,replica,decode_replica\n";
}

void AppendRequestRow(const RequestResult& result, std::string* text) {
  const RequestTimes& times = result.times;
  AppendFormat(text, "{},", result.id);
  AppendTimes({times.arrival, times.queueing(), times.to_first_token(),
               times.end_to_end()},
              text);
  const std::optional<TimePs> tpot = TimePerOutputToken(result);
  if (tpot.has_value()) AppendTime(*tpot, text);
  AppendFormat(text, ",{},{},{},{},{},{}\n", result.prompt_tokens,
               result.output_tokens, times.cached_tokens, times.preemptions,
               result.replica, result.decode_replica);
}

std::string StepsHeader() {
  return "start_us,duration_us,replica,sequences,prompt_tokens,decodes,"
         "decode_context,samples,running,waiting,used_blocks,cached_blocks,"
         "preemptions\n";
}

void AppendStepRow(const StepRecord& step, std::string* text) {
  AppendTimes({step.start, step.duration}, text);
  AppendFormat(text, "{},{},{},{},{},{},{},{},{},{},{}\n", step.replica,
               step.sequences, step.prompt_tokens, step.decodes,
               step.decode_context, step.samples, step.running, step.waiting,
               step.used_blocks, step.cached_blocks, step.preemptions);
}

std::string MetricsCsv(const ServingSummary& summary) {
  std::string text = "metric,unit,value\n";
  AppendCount("requests", summary.requests, &text);
  AppendCount("prompt_tokens", summary.prompt_tokens, &text);
  AppendCount("output_tokens", summary.output_tokens, &text);
  AppendMetric("duration", "us",
               ToMicroseconds(summary.last_token - summary.first_arrival),
               &text);
  AppendMetric("request_rate", "1/s", summary.PerSecond(summary.requests),
               &text);
  AppendMetric("output_token_rate", "1/s",
               summary.PerSecond(summary.output_tokens), &text);
  AppendMetric("total_token_rate", "1/s",
               summary.PerSecond(summary.prompt_tokens + summary.output_tokens),
               &text);
  AppendCount("requests_within_limits", summary.requests_within_limits, &text);
  AppendMetric("goodput", "1/s",
               summary.PerSecond(summary.requests_within_limits), &text);
  AppendFigures("queueing", summary.queueing, &text);
  AppendFigures("ttft", summary.ttft, &text);
  AppendFigures("tpot", summary.tpot, &text);
  AppendFigures("itl", summary.itl, &text);
  AppendFigures("e2e", summary.e2e, &text);
  AppendFigures("normalized_e2e", summary.normalized_e2e, &text);
  AppendMetric("kv_use_mean", "", summary.kv_use_mean, &text);
  AppendMetric("kv_use_peak", "", summary.kv_use_peak, &text);
  AppendMetric("prefix_hit_rate", "", summary.PrefixHitRate(), &text);
  AppendMetric("batch_mean", "", summary.batch_mean, &text);
  AppendCount("preemptions", summary.preemptions, &text);
  AppendCount("steps", summary.steps, &text);
  return text;
}

}  // namespace astra
