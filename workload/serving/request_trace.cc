#include "workload/serving/request_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "astra-core/base/csv_reader.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/json_lines.h"
#include "workload/serving/trace_instant.h"

namespace astra {
namespace {

constexpr double kMaxSeconds = 1e11;  // The year 5138, as seconds since 1970.

// A request with its time on the clock of the trace.
struct Row {
  TraceInstant time;
  uint32_t line = 0;
  Request request;
};

// What reading a file gathers.
struct Rows {
  std::vector<Row> rows;
  int64_t without_tokens = 0;
  int64_t too_long = 0;
};

// Adds a row unless it is left out. Returns false when there are enough.
bool AddRow(const TraceOptions& options, Row row, Rows* rows) {
  if (row.request.prompt_tokens == 0 || row.request.output_tokens == 0) {
    ++rows->without_tokens;
  } else if (options.max_tokens > 0 &&
             row.request.tokens() > options.max_tokens) {
    ++rows->too_long;
  } else {
    rows->rows.push_back(std::move(row));
  }
  const int64_t limit =
      options.max_requests > 0 ? options.max_requests : kMaxTraceRequests;
  return static_cast<int64_t>(rows->rows.size()) < limit;
}

struct CsvForm {
  std::string_view name;
  std::string_view time;
  bool is_date;
  bool needs_time;
  std::string_view prompt;
  std::string_view output;
  std::vector<std::string_view> others;  // Columns without use here.
};

std::vector<CsvForm> CsvForms() {
  return {
      {"vidur",
       "arrived_at",
       false,
       false,
       "num_prefill_tokens",
       "num_decode_tokens",
       {"num_total_tokens", "pd_ratio"}},
      {"azure",
       "TIMESTAMP",
       true,
       true,
       "ContextTokens",
       "GeneratedTokens",
       {}},
      {"burstgpt",
       "Timestamp",
       false,
       true,
       "Request tokens",
       "Response tokens",
       {"Session ID", "Elapsed time", "Model", "Total tokens", "Log Type"}},
  };
}

absl::StatusOr<CsvForm> FormOf(const CsvReader& csv, std::string_view file) {
  std::string known;
  for (CsvForm& form : CsvForms()) {
    if (csv.Find(form.prompt).has_value()) return std::move(form);
    known += fmt::format("{}{},{},{} ({})", known.empty() ? "" : ", or ",
                         form.time, form.prompt, form.output, form.name);
  }
  return absl::InvalidArgumentError(fmt::format(
      "{}:1:1: expected the columns of a trace of requests: {}; or an object "
      "of JSON in each line",
      file, known));
}

TraceInstant ReadTime(const CsvForm& form, size_t column, CsvReader* csv) {
  if (!form.is_date) {
    return InstantOf(csv->Number(column, -kMaxSeconds, kMaxSeconds));
  }
  const CsvCell& cell = csv->cell(column);
  const std::optional<TraceInstant> time = ParseDateTime(cell.text);
  if (!time.has_value()) {
    csv->Fail(cell, fmt::format("{} is {}: expected a date and time, as in "
                                "2023-11-16 18:17:03.9799600",
                                form.time, Quoted(cell.text)));
    return {};
  }
  return *time;
}

absl::Status ReadCsv(std::string_view file, std::string_view contents,
                     const TraceOptions& options, Rows* rows,
                     RequestTrace* trace, Warnings* warnings) {
  CsvReader csv(file, contents);
  ASTRA_RETURN_IF_ERROR(csv.status());
  ASTRA_ASSIGN_OR_RETURN(const CsvForm form, FormOf(csv, file));
  trace->form = form.name;
  const size_t prompt = csv.Column(form.prompt);
  const size_t output = csv.Column(form.output);
  std::optional<size_t> time = csv.Find(form.time);
  if (form.needs_time) {
    time = csv.Column(form.time);
  } else if (!time.has_value()) {
    warnings->push_back(
        fmt::format("{}: there is no column {}: all requests arrive at once",
                    file, form.time));
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  std::vector<std::string_view> known = form.others;
  known.insert(known.end(), {form.time, form.prompt, form.output});
  csv.WarnOfOthers(known, warnings);
  while (csv.NextRow()) {
    Row row;
    row.line = csv.cell(prompt).line;
    row.request.prompt_tokens = csv.Integer(prompt, 0, kMaxRequestTokens);
    row.request.output_tokens = csv.Integer(output, 0, kMaxRequestTokens);
    if (time.has_value()) row.time = ReadTime(form, *time, &csv);
    if (!csv.status().ok() || !AddRow(options, std::move(row), rows)) break;
  }
  return csv.status();
}

// What a key of a JSON object says.
enum Role { kTimeMs, kTimeS, kPrompt, kOutput, kHashes, kNoUse };
constexpr size_t kRoles = kNoUse;

struct JsonKey {
  std::string_view name;
  Role role;
};

constexpr JsonKey kJsonKeys[] = {
    {"timestamp", kTimeMs},
    {"arrival_time", kTimeS},
    {"arrived_at", kTimeS},
    {"input_length", kPrompt},
    {"input_toks", kPrompt},
    {"input_tokens", kPrompt},
    {"prompt_tokens", kPrompt},
    {"num_prefill_tokens", kPrompt},
    {"output_length", kOutput},
    {"output_toks", kOutput},
    {"output_tokens", kOutput},
    {"num_decode_tokens", kOutput},
    {"hash_ids", kHashes},
    // Names and measured times of requests.
    {"request_id", kNoUse},
    {"session_id", kNoUse},
    {"queued_ts", kNoUse},
    {"scheduled_ts", kNoUse},
    {"first_token_ts", kNoUse},
    {"last_token_ts", kNoUse},
};

// A reader of the JSON lines of one file.
class JsonTrace {
 public:
  JsonTrace(std::string_view file, std::string_view contents,
            Warnings* warnings)
      : file_(file), json_(file, contents), warnings_(warnings) {}

  absl::Status Read(const TraceOptions& options, Rows* rows) {
    while (json_.NextObject()) {
      Row row;
      row.line = json_.line();
      if (!ReadObject(&row) || !AddRow(options, std::move(row), rows)) break;
    }
    ASTRA_RETURN_IF_ERROR(json_.status());
    if (!has_times_ && !rows->rows.empty()) {
      warnings_->push_back(fmt::format(
          "{}: there is no key arrival_time or timestamp: all requests arrive "
          "at once",
          file_));
    }
    return absl::OkStatus();
  }

  bool is_mooncake() const { return is_mooncake_; }

 private:
  bool ReadObject(Row* row) {
    std::string_view seen[kRoles];
    while (json_.NextKey()) {
      const Role role = RoleOf(json_.key());
      if (role != kNoUse) {
        if (!seen[role].empty()) {
          json_.FailAtKey(
              fmt::format("{} comes beside {}", json_.key(), seen[role]));
        }
        seen[role] = json_.key();
      }
      ReadValue(role, row);
    }
    if (!json_.status().ok()) return false;
    CheckKeys(seen);
    ChainHashes(&row->request);
    return json_.status().ok();
  }

  Role RoleOf(std::string_view key) {
    for (const JsonKey& known : kJsonKeys) {
      if (known.name == key) return known.role;
    }
    if (!has_warned_) {
      warnings_->push_back(fmt::format("{}:{}: the key {} has no effect", file_,
                                       json_.line(), Quoted(key)));
      has_warned_ = true;
    }
    return kNoUse;
  }

  void ReadValue(Role role, Row* row) {
    Request& request = row->request;
    switch (role) {
      case kTimeMs:
        row->time = InstantOf(json_.Number(-kMaxSeconds, kMaxSeconds), 1000);
        return;
      case kTimeS:
        row->time = InstantOf(json_.Number(-kMaxSeconds, kMaxSeconds));
        return;
      case kPrompt:
        request.prompt_tokens = json_.Integer(0, kMaxRequestTokens);
        return;
      case kOutput:
        request.output_tokens = json_.Integer(0, kMaxRequestTokens);
        return;
      case kHashes:
        json_.Integers(2 * kMaxRequestTokens / kMooncakeBlockTokens,
                       &request.prefix.hashes);
        return;
      case kNoUse:
        json_.Skip();
    }
  }

  void CheckKeys(const std::string_view (&seen)[kRoles]) {
    const bool has_time = !seen[kTimeMs].empty() || !seen[kTimeS].empty();
    if (!seen[kTimeMs].empty() && !seen[kTimeS].empty()) {
      json_.FailAtObject(fmt::format("the request has {} and {}: expected one",
                                     seen[kTimeMs], seen[kTimeS]));
    }
    if (seen[kPrompt].empty()) {
      json_.FailAtObject(
          "the request has no prompt: expected the key input_length or "
          "input_toks");
    }
    if (seen[kOutput].empty()) {
      json_.FailAtObject(
          "the request has no output: expected the key output_length or "
          "output_toks");
    }
    if (!is_first_ && has_time != has_times_) {
      json_.FailAtObject(has_time ? "the request has a time: none before has"
                                  : "the request has no time: expected the key "
                                    "timestamp (ms) or arrival_time (s)");
    }
    is_first_ = false;
    has_times_ = has_time;
    is_mooncake_ |= !seen[kHashes].empty() || !seen[kTimeMs].empty();
  }

  // Mooncake's ids already depend on what comes before; chaining them once more
  // makes that certain.
  void ChainHashes(Request* request) {
    std::vector<uint64_t>& hashes = request->prefix.hashes;
    if (hashes.empty()) return;
    request->prefix.block_tokens = kMooncakeBlockTokens;
    const int64_t most =
        (request->tokens() + kMooncakeBlockTokens - 1) / kMooncakeBlockTokens;
    if (static_cast<int64_t>(hashes.size()) > most) {
      json_.FailAtObject(fmt::format(
          "hash_ids has {} items: expected at most {}, one for each {} tokens",
          hashes.size(), most, kMooncakeBlockTokens));
    }
    uint64_t before = 0;
    for (uint64_t& hash : hashes) hash = before = HashOf(before, hash);
  }

  std::string_view file_;
  JsonLines json_;
  Warnings* warnings_;
  bool is_first_ = true;
  bool has_times_ = false;
  bool is_mooncake_ = false;
  bool has_warned_ = false;
};

void WarnOfLeftOut(std::string_view file, const TraceOptions& options,
                   const Rows& rows, Warnings* warnings) {
  if (rows.without_tokens > 0) {
    warnings->push_back(
        fmt::format("{}: {} requests have no prompt or no output and are left "
                    "out",
                    file, rows.without_tokens));
  }
  if (rows.too_long > 0) {
    warnings->push_back(
        fmt::format("{}: {} requests have more than {} tokens and are left out",
                    file, rows.too_long, options.max_tokens));
  }
}

// Counts the times from the first, sorts by them, and numbers the requests.
absl::Status Arrange(std::string_view file, const TraceOptions& options,
                     Rows* rows, std::vector<Request>* requests) {
  if (rows->rows.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: expected a request", file));
  }
  std::stable_sort(rows->rows.begin(), rows->rows.end(),
                   [](const Row& a, const Row& b) { return a.time < b.time; });
  const TraceInstant first = rows->rows.front().time;
  for (Row& row : rows->rows) {
    const std::optional<TimePs> arrival =
        TimeBetween(first, row.time, options.speed_up);
    if (!arrival.has_value()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}:{}:1: the request arrives more than 100 days after the first, "
          "with a speed-up of {}",
          file, row.line, options.speed_up));
    }
    row.request.arrival = *arrival;
    row.request.id = static_cast<int64_t>(requests->size());
    requests->push_back(std::move(row.request));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const TraceOptions& options) {
  if (!(options.speed_up >= 1e-6 && options.speed_up <= 1e6)) {
    return FieldError(
        "speed_up",
        fmt::format("speed_up is {}: expected 1e-6 to 1e6", options.speed_up));
  }
  if (options.max_requests < 0 || options.max_requests > kMaxTraceRequests) {
    return FieldError("max_requests",
                      fmt::format("max_requests is {}: expected 0 to {}",
                                  options.max_requests, kMaxTraceRequests));
  }
  if (options.max_tokens < 0) {
    return FieldError("max_tokens",
                      fmt::format("max_tokens is {}: expected 0 or more",
                                  options.max_tokens));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RequestTrace> ParseRequestTrace(std::string_view file,
                                               std::string_view contents,
                                               const TraceOptions& options,
                                               Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(CheckOptions(options));
  RequestTrace trace;
  Rows rows;
  const size_t begin = contents.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && contents[begin] == '{') {
    JsonTrace json(file, contents, warnings);
    ASTRA_RETURN_IF_ERROR(json.Read(options, &rows));
    trace.form = json.is_mooncake() ? "mooncake" : "jsonl";
  } else {
    ASTRA_RETURN_IF_ERROR(
        ReadCsv(file, contents, options, &rows, &trace, warnings));
  }
  WarnOfLeftOut(file, options, rows, warnings);
  ASTRA_RETURN_IF_ERROR(Arrange(file, options, &rows, &trace.requests));
  return trace;
}

}  // namespace astra
