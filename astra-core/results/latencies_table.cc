#include "astra-core/results/latencies_table.h"

namespace astra {
namespace {

constexpr std::string_view kFile = "latencies.csv";
constexpr int kDecimals = 6;
constexpr double kUsPerPs = 1e-6;

struct LatencyRow {
  std::string_view job;
  const JobLatency& latency;
};

// Appends a figure of the latency; nothing where no request has it.
void AppendFigure(const std::optional<TimeFigures>& figures,
                  double TimeFigures::*figure, std::string* text) {
  if (!figures || figures->count == 0) return;
  AppendNumber(kUsPerPs * (*figures).*figure, kDecimals, text);
}

template <double TimeFigures::*figure>
void AppendBeside(const LatencyRow& row, std::string* text) {
  AppendFigure(row.latency.beside, figure, text);
}

template <double TimeFigures::*figure>
void AppendAlone(const LatencyRow& row, std::string* text) {
  AppendFigure(row.latency.alone, figure, text);
}

double Ratio(double beside, double alone) {
  return alone == 0 ? 1 : beside / alone;
}

constexpr Column<LatencyRow> kColumns[] = {
    {"job", "", "name",
     [](const LatencyRow& row, std::string* text) {
       AppendField(row.job, text);
     }},
    {"latency", "",
     "ttft, time to the first token; tpot, (e2e - ttft) / (tokens - 1) of a "
     "request; itl, gap between two tokens; e2e, from the arrival of a request "
     "to its last token; queueing; kv_transfer, from the prompt's end to the "
     "other pool",
     [](const LatencyRow& row, std::string* text) {
       *text += row.latency.name;
     }},
    {"count", "", "how many there are of it",
     [](const LatencyRow& row, std::string* text) {
       AppendInteger(row.latency.beside.count, text);
     }},
    {"mean_us", "us", "beside the other jobs, as the next five",
     AppendBeside<&TimeFigures::mean>},
    {"p50_us", "us", "half are at most as long",
     AppendBeside<&TimeFigures::p50>},
    {"p90_us", "us", "90 % are at most as long",
     AppendBeside<&TimeFigures::p90>},
    {"p95_us", "us", "95 % are at most as long",
     AppendBeside<&TimeFigures::p95>},
    {"p99_us", "us", "99 % are at most as long",
     AppendBeside<&TimeFigures::p99>},
    {"max_us", "us", "the longest", AppendBeside<&TimeFigures::max>},
    {"alone_mean_us", "us",
     "mean_us without the other jobs; empty, as the next six, if the job never "
     "ran without",
     AppendAlone<&TimeFigures::mean>},
    {"alone_p50_us", "us", "p50_us without the other jobs",
     AppendAlone<&TimeFigures::p50>},
    {"alone_p90_us", "us", "p90_us without the other jobs",
     AppendAlone<&TimeFigures::p90>},
    {"alone_p95_us", "us", "p95_us without the other jobs",
     AppendAlone<&TimeFigures::p95>},
    {"alone_p99_us", "us", "p99_us without the other jobs",
     AppendAlone<&TimeFigures::p99>},
    {"alone_max_us", "us", "max_us without the other jobs",
     AppendAlone<&TimeFigures::max>},
    {"slowdown", "", "mean_us / alone_mean_us",
     [](const LatencyRow& row, std::string* text) {
       const JobLatency& latency = row.latency;
       if (!latency.alone || latency.beside.count == 0) return;
       AppendNumber(Ratio(latency.beside.mean, latency.alone->mean), kDecimals,
                    text);
     }},
};

}  // namespace

double ServedRow::slowdown() const {
  return Ratio(end_to_end.beside.mean, end_to_end.alone->mean);
}

std::string LatenciesHeader() { return HeaderOf<LatencyRow>(kColumns); }

void AppendLatencies(std::string_view job, const ServedRow& served,
                     std::string* text) {
  for (const JobLatency& latency : served.others) {
    AppendRow<LatencyRow>(kColumns, {job, latency}, text);
  }
  AppendRow<LatencyRow>(kColumns, {job, served.end_to_end}, text);
}

void AppendLatenciesColumns(std::vector<ColumnText>* texts) {
  AppendTexts<LatencyRow>(kFile, kColumns, texts);
}

}  // namespace astra
