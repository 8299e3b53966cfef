#include "astra-core/apps/collective/simai_collective_output.h"

#include <algorithm>
#include <string_view>

#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/base/csv.h"
#include "astra-core/command_line/version.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBitsPerByte = 8;

std::string_view RedopOf(const SimaiCollectiveOptions& options) {
  return HasRedop(*options.kind) ? std::string_view(options.redop) : "none";
}

std::string RootOf(const SimaiCollectiveOptions& options) {
  return HasRoot(*options.kind) ? fmt::format("{}", options.root) : "-1";
}

double AverageBusBandwidth(const CollectiveSweep& sweep) {
  double sum = 0;
  for (const CollectiveSweepRow& row : sweep.rows)
    sum += row.estimate.busbw_GBps;
  return sum / static_cast<double>(sweep.rows.size());
}

size_t AlgorithmWidth(const CollectiveSweep& sweep) {
  size_t width = std::string_view("algorithm").size();
  for (const CollectiveSweepRow& row : sweep.rows) {
    width = std::max(width, row.estimate.algorithm.size());
  }
  return width;
}

std::string RowText(const SimaiCollectiveOptions& options,
                    const CollectiveSweepRow& row, size_t algorithm_width) {
  const CollectiveEstimate& e = row.estimate;
  return fmt::format(
      "{:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {}  {}  {}  {:<{}}  {:<8}  {:>8}  "
      "{}\n",
      row.buffer.bytes.count(), row.buffer.count, options.type.name,
      RedopOf(options), RootOf(options), NcclTestsNumber(e.time_us, 7),
      NcclTestsNumber(e.algbw_GBps, 6), NcclTestsNumber(e.busbw_GBps, 6),
      e.algorithm, algorithm_width, e.protocol, e.channels,
      e.is_latency_bound ? "latency" : e.bottleneck);
}

std::string TuningTexts(const CollectiveSweep& sweep) {
  std::string text;
  for (const CollectiveSweepRow& row : sweep.rows) {
    if (row.tuning.empty()) continue;
    text += fmt::format("# what NCCL predicts for {} B\n{}#\n",
                        row.buffer.bytes.count(), row.tuning);
  }
  return text;
}

std::string SweepCsv(const SimaiCollectiveOptions& options,
                     const CollectiveSweep& sweep) {
  std::string text =
      "bytes,count,type,redop,root,time_us,algbw_GBps,busbw_GBps,algorithm,"
      "protocol,channels,bound_by,bottleneck_link,source\n";
  for (const CollectiveSweepRow& row : sweep.rows) {
    const CollectiveEstimate& e = row.estimate;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.buffer.bytes.count(),
        row.buffer.count, options.type.name, RedopOf(options), RootOf(options),
        e.time_us, e.algbw_GBps, e.busbw_GBps, CsvField(e.algorithm),
        e.protocol, e.channels, e.is_latency_bound ? "latency" : "bandwidth",
        CsvField(e.bottleneck), Name(e.source));
  }
  return text;
}

Json ClusterJson(const SimaiCollectiveOptions& options,
                 const CollectiveSweep& sweep) {
  const SystemSpec& system = sweep.cluster.system();
  const Topology& topology = sweep.cluster.topology();
  Json json = {{"system", system.name},
               {"gpu", system.gpu},
               {"topology", options.cluster.topology_file.value_or("")},
               {"gpus", topology.num_gpus()},
               {"gpus_per_server", topology.gpus_per_server()},
               {"interconnect", system.interconnect.name},
               {"interconnect_GBps", system.interconnect.GBps},
               {"transport", system.transport.name},
               {"nics_per_server", system.nics_per_server},
               {"nic_Gbps", system.nic_GBps * kBitsPerByte},
               {"sharp", system.sharp},
               {"ranks", Json::array()}};
  for (const RankId rank : options.cluster.ranks) {
    json["ranks"].push_back(rank.index());  // Empty: all.
  }
  return json;
}

Json NcclJson(const SimaiCollectiveOptions& options, const NcclOptions& nccl) {
  return {
      {"version", fmt::format("{}.{}", nccl.version.major, nccl.version.minor)},
      {"settings", options.nccl.list.value_or("")},
      {"settings_file", options.nccl.file.value_or("")},
      {"nvls", nccl.nvls},
      {"launch", Name(nccl.launch)},
      {"engine", options.nccl.engine.value_or("")},
      {"dispatcher", options.nccl.dispatcher.value_or("")},
      {"routing", options.nccl.routing.value_or("")},
      {"measured", options.nccl.measured},
      {"symmetric", nccl.symmetric}};
}

std::string RunJson(const SimaiCollectiveOptions& options,
                    const CollectiveSweep& sweep) {
  const SizeSweep& sizes = options.sizes;
  const Json json = {
      {"program", "simai_collective"},
      {"version", Version()},
      {"name", options.name},
      {"collective",
       {{"op", NcclTestsName(*options.kind)},
        {"type", options.type.name},
        {"redop", RedopOf(options)},
        {"root", RootOf(options)},
        {"min_bytes", sizes.min.count()},
        {"max_bytes", sizes.max.count()},
        {"step_bytes", sizes.step.count()},
        {"step_factor", sizes.step > Bytes(0) ? 0 : sizes.factor}}},
      {"cluster", ClusterJson(options, sweep)},
      {"nccl", NcclJson(options, sweep.nccl)},
      {"model",
       {{"fidelity", Name(options.fidelity)},
        {"network", options.network_file.value_or("")},
        {"algorithm", options.algorithm.value_or("")}}},
      {"warnings", sweep.warnings},
      {"result",
       {{"sizes", sweep.rows.size()},
        {"average_busbw_GBps", AverageBusBandwidth(sweep)}}}};
  // Replaces text that is not UTF-8, such as a name in an input file.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string SweepText(const SimaiCollectiveOptions& options,
                      const CollectiveSweep& sweep) {
  const size_t algorithm_width = AlgorithmWidth(sweep);
  std::string text = fmt::format("# simai_collective {}: {}\n", Version(),
                                 NcclTestsName(*options.kind));
  text += DescribeCluster(options.cluster, sweep.cluster, sweep.nccl);
  text += "#\n" + TuningTexts(sweep);
  text += fmt::format(
      "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:<{}}  "
      "{:<8}  {:>8}  {}\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw",
      "algorithm", algorithm_width, "protocol", "channels", "bottleneck");
  text +=
      fmt::format("#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}\n",
                  "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
  for (const CollectiveSweepRow& row : sweep.rows) {
    text += RowText(options, row, algorithm_width);
  }
  return text + fmt::format("# Avg bus bandwidth    : {:g}\n",
                            AverageBusBandwidth(sweep));
}

}  // namespace

std::string NcclTestsNumber(double value, int width) {
  int digits = 1;
  for (double rest = value; rest >= 10; rest /= 10) ++digits;
  // Each decimal needs a column, and the first also one for the point.
  const int decimals = digits + 3 <= width ? 2 : digits + 2 <= width ? 1 : 0;
  if (digits > width) return fmt::format("{:>{}.1e}", value, width);
  return fmt::format("{:>{}.{}f}", value, width, decimals);
}

CollectiveReport ReportSweep(const SimaiCollectiveOptions& options,
                             const CollectiveSweep& sweep) {
  return {.page = SweepText(options, sweep),
          .files = {{"collective.csv", SweepCsv(options, sweep)},
                    {"run.json", RunJson(options, sweep)}},
          .num_rows = sweep.rows.size(),
          .warnings = sweep.warnings};
}

}  // namespace astra
