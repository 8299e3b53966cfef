#include "astra-core/apps/served_report.h"

#include "astra-core/results/latencies_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;

// Returns a line for one latency; "" if no request has it.
std::string DescribeLatency(const JobLatency& latency) {
  const auto figures = [](const TimeFigures& times) {
    return fmt::format("mean {:.3f} ms, p50 {:.3f}, p90 {:.3f}, p99 {:.3f}",
                       kMsPerPs * times.mean, kMsPerPs * times.p50,
                       kMsPerPs * times.p90, kMsPerPs * times.p99);
  };
  if (latency.beside.count == 0) return "";
  std::string text =
      fmt::format("  {:<12}{}", latency.name, figures(latency.beside));
  if (latency.alone) text += "; alone " + figures(*latency.alone);
  return text + '\n';
}

}  // namespace

std::string LatenciesCsv(absl::Span<const JobRow> jobs) {
  std::string text;
  for (const JobRow& job : jobs) {
    if (!job.served) continue;
    if (text.empty()) text = LatenciesHeader();
    AppendLatencies(job.name, *job.served, &text);
  }
  return text;
}

std::string DescribeServed(const JobRow& job) {
  const ServedRow& served = *job.served;
  std::string text = fmt::format(
      "job        {}: {} GPUs on servers {}, {} request{} of {:.6f} ms{}",
      job.name, job.num_gpus, job.servers, served.requests,
      served.requests == 1 ? "" : "s", kMsPerPs * served.end_to_end.beside.mean,
      served.requests == 1 ? "" : " on average");
  if (served.end_to_end.alone) {
    text +=
        fmt::format("; alone {:.6f} ms: {:.3f} times as long",
                    kMsPerPs * served.end_to_end.alone->mean, job.slowdown());
  }
  text += '\n';
  for (const JobLatency& latency : served.others) {
    text += DescribeLatency(latency);
  }
  return text + DescribeLatency(served.end_to_end);
}

}  // namespace astra
