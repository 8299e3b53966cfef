#include "workload/vidur/vidur_metrics.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kSecondsPerPs = 1e-12;

double Seconds(TimePs time) {
  return kSecondsPerPs * static_cast<double>(time.count());
}

// A request, with what its columns are made of.
struct Row {
  const RequestResult& result;
  std::optional<TimePs> gap;  // None for the first request.
  bool has_host_time;

  double prefill() const { return static_cast<double>(result.prompt_tokens); }
  double decode() const { return static_cast<double>(result.output_tokens); }
  double end_to_end() const { return Seconds(result.times.end_to_end()); }
  double executed() const { return Seconds(result.times.executed); }
  double scheduled() const {
    return Seconds(result.times.last_token - result.times.first_scheduled);
  }
  double prefilled() const {
    return Seconds(result.times.first_token - result.times.first_scheduled);
  }
};

struct Column {
  std::string_view name;
  std::optional<double> (*value)(const Row&);
};

constexpr Column kColumns[] = {
    {"request_e2e_time",
     [](const Row& r) -> std::optional<double> { return r.end_to_end(); }},
    {"request_e2e_time_normalized",
     [](const Row& r) -> std::optional<double> {
       return r.end_to_end() / r.decode();
     }},
    {"request_execution_time",
     [](const Row& r) -> std::optional<double> { return r.executed(); }},
    {"request_execution_time_normalized",
     [](const Row& r) -> std::optional<double> {
       return r.executed() / r.decode();
     }},
    {"request_model_execution_time",
     [](const Row& r) -> std::optional<double> {
       return r.has_host_time ? std::nullopt : std::optional(r.executed());
     }},
    {"request_model_execution_time_normalized",
     [](const Row& r) -> std::optional<double> {
       return r.has_host_time ? std::nullopt
                              : std::optional(r.executed() / r.decode());
     }},
    {"request_preemption_time",
     [](const Row& r) -> std::optional<double> {
       return r.scheduled() - r.executed();
     }},
    {"request_scheduling_delay",
     [](const Row& r) -> std::optional<double> {
       return Seconds(r.result.times.queueing());
     }},
    {"request_execution_plus_preemption_time",
     [](const Row& r) -> std::optional<double> { return r.scheduled(); }},
    {"request_execution_plus_preemption_time_normalized",
     [](const Row& r) -> std::optional<double> {
       return r.scheduled() / r.decode();
     }},
    {"prefill_e2e_time",
     [](const Row& r) -> std::optional<double> {
       return Seconds(r.result.times.to_first_token());
     }},
    {"prefill_time_execution_plus_preemption",
     [](const Row& r) -> std::optional<double> { return r.prefilled(); }},
    {"prefill_time_execution_plus_preemption_normalized",
     [](const Row& r) -> std::optional<double> {
       return r.prefilled() / r.prefill();
     }},
    {"decode_time_execution_plus_preemption_normalized",
     [](const Row& r) -> std::optional<double> {
       return Seconds(r.result.times.last_token - r.result.times.first_token) /
              r.decode();
     }},
    {"request_inter_arrival_delay",
     [](const Row& r) -> std::optional<double> {
       return r.gap ? std::optional(Seconds(*r.gap)) : std::nullopt;
     }},
    {"request_num_tokens",
     [](const Row& r) -> std::optional<double> {
       return r.prefill() + r.decode();
     }},
    {"request_num_prefill_tokens",
     [](const Row& r) -> std::optional<double> { return r.prefill(); }},
    {"request_num_decode_tokens",
     [](const Row& r) -> std::optional<double> { return r.decode(); }},
    {"request_pd_ratio",
     [](const Row& r) -> std::optional<double> {
       return r.prefill() / r.decode();
     }},
    {"request_num_restarts",
     [](const Row& r) -> std::optional<double> {
       return static_cast<double>(r.result.times.preemptions);
     }},
};

}  // namespace

std::string VidurRequestMetrics(std::vector<RequestResult> results,
                                bool has_host_time) {
  std::sort(results.begin(), results.end(),
            [](const RequestResult& a, const RequestResult& b) {
              return a.id < b.id;
            });
  std::string text = "Request Id";
  for (const Column& column : kColumns) AppendFormat(&text, ",{}", column.name);
  text += "\n";
  for (size_t i = 0; i < results.size(); ++i) {
    Row row{results[i], std::nullopt, has_host_time};
    if (i > 0)
      row.gap = results[i].times.arrival - results[i - 1].times.arrival;
    AppendFormat(&text, "{}", results[i].id);
    for (const Column& column : kColumns) {
      const std::optional<double> value = column.value(row);
      text += value ? fmt::format(",{:.12g}", *value) : ",";
    }
    text += "\n";
  }
  return text;
}

}  // namespace astra
