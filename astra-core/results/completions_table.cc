#include "astra-core/results/completions_table.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace astra {
namespace {

constexpr std::string_view kFile = "completions.csv";
constexpr TimePs kNone(0);

// Appends a time of messages that have arrived; nothing where none has.
template <TimePs CompletionRow::*time>
void AppendTime(const CompletionRow& row, std::string* text) {
  if (row.has_times()) AppendUs(row.*time, text);
}

constexpr Column<CompletionRow> kColumns[] = {
    {"pattern", "", "name; the second of a name is incast#2; all",
     [](const CompletionRow& row, std::string* text) {
       AppendField(row.pattern, text);
     }},
    {"messages", "", "number of messages",
     [](const CompletionRow& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.messages), text);
     }},
    {"arrived", "", "those that arrived before the run ended",
     [](const CompletionRow& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.arrived), text);
     }},
    {"bytes", "B", "of the messages that arrived, without headers",
     [](const CompletionRow& row, std::string* text) {
       AppendInteger(row.bytes.count(), text);
     }},
    {"mean_us", "us",
     "from the start of a message to its arrival, mean; empty, as the other "
     "times and goodput, if none arrived",
     [](const CompletionRow& row, std::string* text) {
       if (row.has_times()) AppendNumber(row.mean_us, 6, text);
     }},
    {"median_us", "us", "the same, of the middle message",
     AppendTime<&CompletionRow::median>},
    {"p99_us", "us", "the same, not exceeded by 99 % of the messages",
     AppendTime<&CompletionRow::p99>},
    {"max_us", "us", "the same, longest", AppendTime<&CompletionRow::longest>},
    {"first_start_us", "us", "when the first message started",
     [](const CompletionRow& row, std::string* text) {
       AppendUs(row.first_start, text);
     }},
    {"last_finish_us", "us", "when the last message arrived",
     AppendTime<&CompletionRow::last_finish>},
    {"goodput_GBps", "GB/s", "bytes / (last_finish_us - first_start_us)",
     [](const CompletionRow& row, std::string* text) {
       if (row.has_times()) AppendNumber(row.gigabytes_per_s(), 6, text);
     }},
};

// Returns the smallest of `sorted` that `percent` of them do not exceed.
TimePs PercentileOf(const std::vector<TimePs>& sorted, uint64_t percent) {
  if (sorted.empty()) return kNone;
  const uint64_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<uint64_t>(rank, 1) - 1];
}

// Returns the row of the messages of `pattern`; of all if it is absent.
CompletionRow RowOf(const Traffic& traffic, absl::Span<const TimePs> finish,
                    std::optional<uint32_t> pattern) {
  CompletionRow row;
  row.pattern = pattern ? traffic.patterns[*pattern] : "all";
  std::vector<TimePs> times;
  double sum_us = 0;
  for (size_t i = 0; i < traffic.messages.size(); ++i) {
    const TrafficMessage& message = traffic.messages[i];
    if (pattern && message.pattern != *pattern) continue;
    // Messages are ordered by their start.
    if (row.messages++ == 0) row.first_start = message.start;
    if (finish[i] < kNone) continue;
    row.bytes += message.bytes;
    row.last_finish = std::max(row.last_finish, finish[i]);
    times.push_back(finish[i] - message.start);
    sum_us += ToMicroseconds(times.back());
  }
  std::sort(times.begin(), times.end());
  row.arrived = times.size();
  row.median = PercentileOf(times, 50);
  row.p99 = PercentileOf(times, 99);
  row.longest = PercentileOf(times, 100);
  if (times.empty()) {
    row.last_finish = row.first_start;
  } else {
    row.mean_us = sum_us / static_cast<double>(times.size());
  }
  return row;
}

}  // namespace

std::vector<CompletionRow> CompletionsOf(const Traffic& traffic,
                                         absl::Span<const TimePs> finish) {
  std::vector<CompletionRow> rows;
  for (uint32_t i = 0; i < traffic.patterns.size(); ++i) {
    rows.push_back(RowOf(traffic, finish, i));
  }
  if (rows.size() > 1) rows.push_back(RowOf(traffic, finish, std::nullopt));
  return rows;
}

std::string CompletionsCsv(absl::Span<const CompletionRow> rows) {
  std::string text = HeaderOf<CompletionRow>(kColumns);
  for (const CompletionRow& row : rows) {
    AppendRow<CompletionRow>(kColumns, row, &text);
  }
  return text;
}

void AppendCompletionsColumns(std::vector<ColumnText>* texts) {
  AppendTexts<CompletionRow>(kFile, kColumns, texts);
}

}  // namespace astra
