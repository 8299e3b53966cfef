#include "collectives/measurements/dispatch_tables.h"

#include <cstddef>
#include <cstdint>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMaxRows = 1'000'000;
constexpr int64_t kMaxCount = 1 << 24;
constexpr double kMaxTime = 1e12;
constexpr int64_t kScaleBlock = 128;  // Elements with one scale of 4 bytes.

int64_t Fp8Bytes(int64_t hidden) { return hidden + hidden / kScaleBlock * 4; }

// Holds what a line of either table says.
struct Line {
  std::string gpu;
  int64_t nodes = 1;
  int64_t gpus = 1;
  int64_t tokens = 0;
  int64_t hidden = 0;
  int64_t top_k = 0;
  int64_t experts = 0;
  std::string dispatcher;
  int64_t dispatch_bytes = 0;
  bool is_even = false;
};

std::vector<std::string> RowOf(const Line& line, std::string_view collective,
                               double time_us) {
  const int64_t combine_bytes = 2 * line.hidden;
  const int64_t token_bytes =
      collective == "combine" ? combine_bytes : line.dispatch_bytes;
  return {line.gpu,
          fmt::format("{}", line.nodes),
          fmt::format("{}", line.gpus),
          line.nodes > 1 ? "8x400 IB" : "none",
          "not stated",
          std::string(collective),
          fmt::format("{}", line.tokens * line.top_k * token_bytes),
          fmt::format("{:.9g}", time_us),
          fmt::format("prepared dispatcher={} routing=experts={},top_k={},"
                      "dispatch_bytes={},combine_bytes={}{}",
                      line.dispatcher, line.experts, line.top_k,
                      line.dispatch_bytes, combine_bytes,
                      line.is_even ? ",even" : "")};
}

Line SharedPart(CsvReader& csv) {
  Line line;
  line.gpu = csv.cell(csv.Column("device")).text;
  line.tokens = csv.Integer(csv.Column("tokens"), 1, kMaxCount);
  line.hidden = csv.Integer(csv.Column("hidden"), 1, kMaxCount);
  line.top_k = csv.Integer(csv.Column("topk"), 1, kMaxCount);
  line.experts = csv.Integer(csv.Column("experts"), 1, kMaxCount);
  return line;
}

absl::StatusOr<Rows> Finish(CsvReader& csv, Rows rows) {
  if (csv.status().ok() && rows.size() >= kMaxRows && csv.NextRow()) {
    csv.Fail(csv.cell(0), fmt::format("more than {} rows", kMaxRows));
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return rows;
}

// Returns the bytes of a dispatched token; 0 for another type.
int64_t BytesOfType(const std::string& type, int64_t hidden) {
  constexpr int64_t kNvfp4Block = 16;  // Elements with one scale of 1 byte.
  if (type == "bfloat16") return 2 * hidden;
  if (type == "fp8") return hidden;
  return type == "nvfp4" ? hidden / 2 + hidden / kNvfp4Block : 0;
}

}  // namespace

bool IsDeepEpTable(const CsvReader& csv) {
  return csv.Find("dispatch_us") && csv.Find("combine_us") && csv.Find("topk");
}

bool IsNvlinkAllToAllTable(const CsvReader& csv) {
  return csv.Find("kernel") && csv.Find("op") && csv.Find("topk") &&
         csv.Find("ep");
}

absl::StatusOr<Rows> ReadDeepEpTable(CsvReader& csv) {
  constexpr int64_t kGpusOfNode = 8;
  const size_t mode = csv.Column("mode");
  const size_t nodes = csv.Column("nodes");
  const size_t sms = csv.Column("sms");
  Rows rows;
  while (csv.NextRow() && rows.size() < kMaxRows) {
    Line line = SharedPart(csv);
    line.nodes = csv.Integer(nodes, 1, kMaxCount);
    line.gpus = line.nodes * kGpusOfNode;
    line.dispatch_bytes = Fp8Bytes(line.hidden);
    line.dispatcher = csv.cell(mode).text == "ll"
                          ? "deepep-ll"
                          : fmt::format("deepep@{}", csv.cell(sms).text);
    for (const std::string_view collective : {"dispatch", "combine"}) {
      const size_t time = csv.Column(fmt::format("{}_us", collective));
      rows.push_back(RowOf(line, collective, csv.Number(time, 0, kMaxTime)));
    }
  }
  return Finish(csv, std::move(rows));
}

absl::StatusOr<Rows> ReadNvlinkAllToAllTable(CsvReader& csv) {
  constexpr std::string_view kPrefix = "alltoall_";
  const size_t kernel = csv.Column("kernel");
  const size_t op = csv.Column("op");
  const size_t type = csv.Column("dtype");
  const size_t gpus = csv.Column("ep");
  const size_t distribution = csv.Column("distribution");
  const size_t time = csv.Column("latency_us");
  Rows rows;
  while (csv.NextRow() && rows.size() < kMaxRows) {
    Line line = SharedPart(csv);
    line.gpus = csv.Integer(gpus, 1, kMaxCount);
    line.dispatch_bytes = BytesOfType(csv.cell(type).text, line.hidden);
    line.dispatcher = csv.cell(kernel).text == "NVLinkOneSided"
                          ? "nvlink-one-sided"
                          : "nvlink-two-sided";
    line.is_even = true;
    std::string_view collective = csv.cell(op).text;
    if (collective.substr(0, kPrefix.size()) == kPrefix) {
      collective.remove_prefix(kPrefix.size());
    }
    if (collective == "prepare") collective = kPreparation;
    if (collective == "combine_low_precision") collective = kQuantisedCombine;
    if (csv.cell(distribution).text != "balanced") collective = "unbalanced";
    if (line.dispatch_bytes == 0) collective = "unknown type";
    rows.push_back(RowOf(line, collective, csv.Number(time, 0, kMaxTime)));
  }
  return Finish(csv, std::move(rows));
}

}  // namespace astra
