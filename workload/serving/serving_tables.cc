#include "workload/serving/serving_tables.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

template <class Row>
struct TableColumn {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  void (*append)(const Row& row, std::string* text);
};

void AppendTime(TimePs time, std::string* text) {
  ASTRA_CHECK(time >= TimePs(0), "a time is {} ps", time.count());
  AppendFormat(text, "{}.{:06}", time.count() / kPsPerUs,
               time.count() % kPsPerUs);
}

void AppendCount(int64_t count, std::string* text) {
  ASTRA_CHECK(count >= 0, "a count is {}", count);
  AppendFormat(text, "{}", count);
}

// A request with the limits that it is held to.
struct Result : RequestResult {
  LatencyLimits limits;
};

constexpr TableColumn<Result> kRequestColumns[] = {
    {"id", "", "number of the request, counted from 0 in order of arrival",
     [](const Result& r, std::string* text) { AppendCount(r.id, text); }},
    {"arrival_us", "us", "when it arrived",
     [](const Result& r, std::string* text) {
       AppendTime(r.times.arrival, text);
     }},
    {"queueing_us", "us", "from its arrival to its first step",
     [](const Result& r, std::string* text) {
       AppendTime(r.times.queueing(), text);
     }},
    {"ttft_us", "us", "from its arrival to its first token",
     [](const Result& r, std::string* text) {
       AppendTime(r.times.to_first_token(), text);
     }},
    {"e2e_us", "us", "from its arrival to its last token",
     [](const Result& r, std::string* text) {
       AppendTime(r.times.end_to_end(), text);
     }},
    {"tpot_us", "us", "(e2e - ttft) / (output tokens - 1); empty for one token",
     [](const Result& r, std::string* text) {
       const std::optional<TimePs> tpot = TimePerOutputToken(r);
       if (tpot.has_value()) AppendTime(*tpot, text);
     }},
    {"kv_transfer_us", "us",
     "from the end of its prompt until the decode pool had its KV cache; empty "
     "if it did not move",
     [](const Result& r, std::string* text) {
       const std::optional<TimePs> transfer = r.times.kv_transfer();
       if (transfer.has_value()) AppendTime(*transfer, text);
     }},
    {"prompt_tokens", "", "tokens of its prompt",
     [](const Result& r, std::string* text) {
       AppendCount(r.prompt_tokens, text);
     }},
    {"output_tokens", "", "tokens that it got",
     [](const Result& r, std::string* text) {
       AppendCount(r.output_tokens, text);
     }},
    {"cached_tokens", "", "prompt tokens found in the cache when it started",
     [](const Result& r, std::string* text) {
       AppendCount(r.times.cached_tokens, text);
     }},
    {"preemptions", "", "how often it lost its blocks",
     [](const Result& r, std::string* text) {
       AppendCount(r.times.preemptions, text);
     }},
    {"replica", "", "replica that computed its prompt, counted over all pools",
     [](const Result& r, std::string* text) { AppendCount(r.replica, text); }},
    {"decode_replica", "", "replica that gave its last token",
     [](const Result& r, std::string* text) {
       AppendCount(r.decode_replica, text);
     }},
    {"within_limits", "",
     "1 if it kept all limits, 0 if not; empty without limits",
     [](const Result& r, std::string* text) {
       if (r.limits.any()) AppendCount(KeepsLimits(r, r.limits) ? 1 : 0, text);
     }},
};

template <auto kField>
void AppendField(const StepRecord& step, std::string* text) {
  AppendCount(step.*kField, text);
}

constexpr TableColumn<StepRecord> kStepColumns[] = {
    {"start_us", "us", "when the step began",
     [](const StepRecord& step, std::string* text) {
       AppendTime(step.start, text);
     }},
    {"duration_us", "us", "how long it took",
     [](const StepRecord& step, std::string* text) {
       AppendTime(step.duration, text);
     }},
    {"replica", "", "replica, counted over all pools",
     AppendField<&StepRecord::replica>},
    {"sequences", "", "sequences of the batch",
     AppendField<&StepRecord::sequences>},
    {"prompt_tokens", "", "positions of prompts that it computed",
     AppendField<&StepRecord::prompt_tokens>},
    {"decodes", "", "sequences that computed one position",
     AppendField<&StepRecord::decodes>},
    {"draft_tokens", "", "positions of drafts that these verified",
     AppendField<&StepRecord::draft_tokens>},
    {"decode_context", "", "positions in the cache of all of these",
     AppendField<&StepRecord::decode_context>},
    {"samples", "", "output tokens that came out",
     AppendField<&StepRecord::samples>},
    {"running", "", "sequences that ran, in the batch or not",
     AppendField<&StepRecord::running>},
    {"waiting", "", "sequences that waited", AppendField<&StepRecord::waiting>},
    {"used_blocks", "", "blocks that sequences held",
     AppendField<&StepRecord::used_blocks>},
    {"cached_blocks", "", "blocks of prefixes that no sequence held",
     AppendField<&StepRecord::cached_blocks>},
    {"preemptions", "", "sequences that lost their blocks to it",
     AppendField<&StepRecord::preemptions>},
};

struct FigureRow {
  std::string_view name;
  std::string_view unit;  // "us" for times; else a plain number.
  std::string_view meaning;
  double (*value)(const ServingSummary& summary);
};

constexpr FigureRow kRates[] = {
    {"duration", "us", "from the first arrival to the last token",
     [](const ServingSummary& s) {
       return ToMicroseconds(s.last_token - s.first_arrival);
     }},
    {"request_rate", "1/s", "requests over the duration",
     [](const ServingSummary& s) { return s.PerSecond(s.requests); }},
    {"output_token_rate", "1/s", "output tokens over the duration",
     [](const ServingSummary& s) { return s.PerSecond(s.output_tokens); }},
    {"total_token_rate", "1/s", "prompt and output tokens over the duration",
     [](const ServingSummary& s) {
       return s.PerSecond(s.prompt_tokens + s.output_tokens);
     }},
    {"goodput", "1/s", "requests within all limits over the duration",
     [](const ServingSummary& s) {
       return s.PerSecond(s.requests_within_limits);
     }},
    {"goodput_token_rate", "1/s",
     "output tokens of requests within all limits over the duration",
     [](const ServingSummary& s) {
       return s.PerSecond(s.output_tokens_within_limits);
     }},
    {"share_within_limits", "", "share of the requests within all limits",
     [](const ServingSummary& s) { return s.ShareWithinLimits(); }},
    {"kv_use_mean", "", "share of the blocks in use, weighted by step times",
     [](const ServingSummary& s) { return s.kv_use_mean; }},
    {"kv_use_peak", "", "the largest share of any step",
     [](const ServingSummary& s) { return s.kv_use_peak; }},
    {"prefix_hit_rate", "", "share of the prompt tokens found in the cache",
     [](const ServingSummary& s) { return s.PrefixHitRate(); }},
    {"batch_mean", "", "sequences in a step, weighted by step times",
     [](const ServingSummary& s) { return s.batch_mean; }},
};

struct CountRow {
  std::string_view name;
  std::string_view meaning;
  int64_t ServingSummary::*count;
};

constexpr CountRow kCounts[] = {
    {"requests", "requests that ended", &ServingSummary::requests},
    {"requests_within_limits", "those that kept all limits, if there are any",
     &ServingSummary::requests_within_limits},
    {"prompt_tokens", "tokens of their prompts",
     &ServingSummary::prompt_tokens},
    {"output_tokens", "tokens that they got", &ServingSummary::output_tokens},
    {"preemptions", "how often sequences lost their blocks",
     &ServingSummary::preemptions},
    {"steps", "steps of all ranks", &ServingSummary::steps},
};

struct LatencyRow {
  std::string_view name;
  std::string_view meaning;
  TimeFigures ServingSummary::*figures;
};

constexpr LatencyRow kLatencies[] = {
    {"queueing", "from the arrival to the first step",
     &ServingSummary::queueing},
    {"ttft", "from the arrival to the first token", &ServingSummary::ttft},
    {"tpot", "(e2e - ttft) / (output tokens - 1); empty if all have one token",
     &ServingSummary::tpot},
    {"itl", "gaps between successive tokens; empty if all have one token",
     &ServingSummary::itl},
    {"e2e", "from the arrival to the last token", &ServingSummary::e2e},
    {"normalized_e2e", "e2e / output tokens", &ServingSummary::normalized_e2e},
    {"kv_transfer",
     "from the end of the prompt until the decode pool has the KV cache; only "
     "with a decode pool",
     &ServingSummary::kv_transfer},
};

void AppendFigure(std::string_view name, std::string_view unit, double value,
                  std::string* text) {
  ASTRA_CHECK(std::isfinite(value) && value >= 0, "{} is {}", name, value);
  AppendFormat(text, "{},{},{:.6f}\n", name, unit, value);
}

void AppendLatency(std::string_view name, const TimeFigures& figures,
                   std::string* text) {
  const struct {
    std::string_view suffix;
    double value;
  } all[] = {{"_mean", figures.mean}, {"_p50", figures.p50},
             {"_p90", figures.p90},   {"_p95", figures.p95},
             {"_p99", figures.p99},   {"_max", figures.max}};
  for (const auto& figure : all) {
    std::string full(name);
    full += figure.suffix;
    if (figures.count == 0) {
      AppendFormat(text, "{},us,\n", full);
      continue;
    }
    AppendFigure(full, "us", figure.value * 1e-6, text);
  }
}

template <class Row>
std::string HeaderOf(absl::Span<const TableColumn<Row>> columns) {
  std::string text;
  for (const TableColumn<Row>& column : columns) {
    if (!text.empty()) text += ',';
    text += column.name;
  }
  return text + '\n';
}

template <class Row>
void AppendRow(absl::Span<const TableColumn<Row>> columns, const Row& row,
               std::string* text) {
  for (const TableColumn<Row>& column : columns) {
    if (&column != &columns.front()) *text += ',';
    column.append(row, text);
  }
  *text += '\n';
}

}  // namespace

std::string RequestsHeader() { return HeaderOf<Result>(kRequestColumns); }

void AppendRequestRow(const RequestResult& result, const LatencyLimits& limits,
                      std::string* text) {
  AppendRow<Result>(kRequestColumns, {result, limits}, text);
}

std::string StepsHeader() { return HeaderOf<StepRecord>(kStepColumns); }

void AppendStepRow(const StepRecord& step, std::string* text) {
  AppendRow<StepRecord>(kStepColumns, step, text);
}

std::string MetricsCsv(const ServingSummary& summary) {
  std::string text = "metric,unit,value\n";
  for (const CountRow& row : kCounts) {
    AppendFormat(&text, "{},,", row.name);
    AppendCount(summary.*row.count, &text);
    text += '\n';
  }
  for (const FigureRow& row : kRates) {
    AppendFigure(row.name, row.unit, row.value(summary), &text);
  }
  for (const LatencyRow& row : kLatencies) {
    const bool is_kv = row.figures == &ServingSummary::kv_transfer;
    if (is_kv && summary.kv_transfers == 0) continue;
    AppendLatency(row.name, summary.*row.figures, &text);
  }
  return text;
}

std::vector<ServingColumn> ServingColumns() {
  std::vector<ServingColumn> columns;
  for (const auto& column : kRequestColumns) {
    columns.push_back(
        {"requests.csv", column.name, column.unit, column.meaning});
  }
  for (const auto& column : kStepColumns) {
    columns.push_back({"steps.csv", column.name, column.unit, column.meaning});
  }
  for (const CountRow& row : kCounts) {
    columns.push_back({"metrics.csv", row.name, "", row.meaning});
  }
  for (const FigureRow& row : kRates) {
    columns.push_back({"metrics.csv", row.name, row.unit, row.meaning});
  }
  for (const LatencyRow& row : kLatencies) {
    columns.push_back({"metrics.csv", row.name, "us", row.meaning});
  }
  return columns;
}

}  // namespace astra
