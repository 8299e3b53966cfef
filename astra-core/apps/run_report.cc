#include "astra-core/apps/run_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/network_charts.h"
#include "astra-core/apps/report_charts.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/time_limit.h"
#include "astra-core/engine/work_rates.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "astra-core/results/changes_table.h"
#include "fmt/core.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

using Facts = std::vector<std::pair<std::string_view, std::string>>;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostRows = 200;

std::string Ms(TimePs time) {
  return fmt::format("{:.6f}", ToMilliseconds(time));
}

std::string LayoutText(const ParallelSizes& sizes) {
  return fmt::format(
      "TP {}, CP {}, EP {}, PP {}, DP {}; {} micro-batches", sizes.tensor,
      sizes.context, sizes.expert, sizes.pipeline,
      sizes.num_ranks / (sizes.tensor * sizes.context * sizes.pipeline),
      sizes.micro_batches);
}

// Adds the rates of a program, as far as it says what it computes.
void AddRates(const Program& program, TimePs iteration, Facts& facts) {
  if (iteration == TimePs(0)) return;
  const WorkRates rates = RatesOf(program, iteration);
  if (rates.tokens_per_second > 0) {
    facts.emplace_back(
        "Tokens",
        fmt::format("{:.0f} per second, {:.1f} per GPU",
                    rates.tokens_per_second, rates.tokens_per_second_per_gpu));
  }
  if (rates.utilisation > 0) {
    facts.emplace_back(
        "Model FLOPs",
        fmt::format("{:.1f} TFLOP/s per GPU, MFU {:.1f} %",
                    rates.tflops_per_gpu, 100 * rates.utilisation));
  }
}

Facts FactsOf(const RunSubject& subject, const RunResult& run) {
  const Topology& topology = subject.topology;
  const SimulationResult& result = run.result;
  Facts facts = {{"Iteration", Ms(result.total()) + " ms"}};
  if (subject.program != nullptr) {
    facts.emplace_back("Layout", LayoutText(subject.program->sizes()));
  } else {
    facts.emplace_back(
        "Trace", fmt::format("{} ranks, {} nodes", subject.trace->ranks.size(),
                             subject.trace->num_nodes()));
  }
  facts.emplace_back(
      "Cluster", fmt::format("{} {} in {} servers, {} links",
                             topology.num_gpus(), topology.gpu_type(),
                             topology.num_servers(), topology.links().size()));
  facts.emplace_back("Fidelity", std::string(Name(subject.fidelity)));
  facts.emplace_back("Compute",
                     Ms(result.compute) + " ms of the rank that finishes last");
  if (subject.program != nullptr) {
    AddRates(*subject.program, result.total(), facts);
  }
  if (run.explanation) {
    const Bounds& bounds = run.explanation->bounds;
    facts.emplace_back("With an ideal network",
                       Ms(bounds.ideal_network) + " ms");
    facts.emplace_back("Communication alone", Ms(bounds.ideal_compute) + " ms");
  }
  if (run.healthy) {
    facts.emplace_back("Without the events", Ms(run.healthy->total()) + " ms");
  }
  return facts;
}

std::string EventsSection(const RunSubject& subject, const RunResult& run) {
  if (!run.healthy) return "";
  std::string html = "<ul>\n";
  for (const std::string& event : subject.events.texts) {
    html += "<li>" + HtmlText(event) + "</li>\n";
  }
  html += "</ul>\n";
  Rows rows;
  for (const CollectiveChange& change : ChangesOf(*run.healthy, run.result)) {
    if (rows.size() == kMostRows) break;
    rows.push_back(
        {change.layer, std::string(Name(change.phase)),
         std::string(Name(change.dimension)), std::string(Name(change.kind)),
         fmt::format("{}", change.count), Ms(change.healthy),
         Ms(change.with_events), fmt::format("{:.3f}", change.ratio())});
  }
  html += HtmlTable(
      "class=\"sortable\" aria-label=\"Collectives with and "
      "without the events\"",
      {{{subject.part_name(), false},
        {"phase", false},
        {"group", false},
        {"collective", false},
        {"count", true},
        {"without ms", true},
        {"with ms", true},
        {"ratio", true}}},
      rows);
  return HtmlSection("events", "What happened", html);
}

std::string PathSection(const RunSubject& subject, const RunResult& run) {
  if (!run.explanation || run.explanation->path.empty()) return "";
  const SimulationResult& result = run.result;
  Rows rows;
  for (const PathPart& part : PartsOf(run.explanation->path, result)) {
    if (rows.size() == kMostRows) break;
    const std::string what =
        part.kind == PathKind::kCompute || part.kind == PathKind::kHost
            ? std::string(Name(part.kind))
            : fmt::format("{} over {}", Name(part.communication.kind),
                          Name(part.communication.dimension));
    rows.push_back({result.layer_names[part.layer.index()],
                    std::string(Name(part.phase)), what,
                    fmt::format("{}", part.count), Ms(part.time),
                    fmt::format("{:.2f}", 100 * ToMilliseconds(part.time) /
                                              ToMilliseconds(result.total()))});
  }
  return HtmlSection(
      "path", "What bounds the iteration",
      HtmlNote("The critical path: computations and transfers, each of which "
               "begins when the one before it ends. They add up to the "
               "iteration.") +
          HtmlTable("class=\"sortable\" aria-label=\"Critical path\"",
                    {{{subject.part_name(), false},
                      {"phase", false},
                      {"what", false},
                      {"count", true},
                      {"ms", true},
                      {"% of the iteration", true}}},
                    rows));
}

// The collectives of one kind that modules, or nodes of a trace, of one name
// call in one phase.
struct CollectiveSum {
  int64_t count = 0;
  TimePs all;
  TimePs longest;
  Bytes bytes;
  uint32_t num_ranks = 0;
  std::string algorithm;
  std::string bound;
};

// By the first layer of the name.
using CollectiveSums =
    std::map<std::tuple<uint32_t, Phase, ParallelDimension, CollectiveKind>,
             CollectiveSum>;

CollectiveSums CollectiveSumsOf(const Topology& topology,
                                const SimulationResult& result) {
  CollectiveSums sums;
  std::map<std::string_view, uint32_t> first_of;  // First layer of a name.
  for (uint32_t i = 0; i < result.layer_names.size(); ++i) {
    first_of.try_emplace(result.layer_names[i], i);
  }
  for (const CollectiveRecord& record : result.collectives) {
    const Communication& what = record.communication;
    const uint32_t layer =
        first_of.at(result.layer_names[record.layer.index()]);
    CollectiveSum& sum = sums[{layer, record.phase, what.dimension, what.kind}];
    sum.count += record.count;
    Add(record.count, record.time, sum.all);
    if (record.time < sum.longest) continue;
    sum.longest = record.time;
    sum.bytes = what.bytes;
    sum.num_ranks = record.num_ranks;
    sum.algorithm = fmt::format("{} {}", record.algorithm, record.protocol);
    sum.bound = record.is_latency_bound ? "latency"
                                        : topology.LinkName(record.bottleneck);
  }
  return sums;
}

std::string CollectivesSection(const RunSubject& subject,
                               const SimulationResult& result) {
  const CollectiveSums sums = CollectiveSumsOf(subject.topology, result);
  if (sums.empty()) return "";
  Rows rows;
  for (const auto& [key, sum] : sums) {
    if (rows.size() == kMostRows) break;
    const auto& [layer, phase, dimension, kind] = key;
    rows.push_back(
        {result.layer_names[layer], std::string(Name(phase)),
         std::string(Name(dimension)), std::string(Name(kind)),
         fmt::format("{}", sum.num_ranks),
         fmt::format("{:.3f}", static_cast<double>(sum.bytes.count()) * 1e-6),
         fmt::format("{}", sum.count), Ms(sum.all), Ms(sum.longest),
         sum.algorithm, sum.bound});
  }
  return HtmlSection(
      "collectives", "Collectives",
      HtmlNote("Times are those from the last rank's start to the last result, "
               "summed over the collectives that were run. The longest gives "
               "size, algorithm and bound. collectives.csv has each.") +
          HtmlTable("class=\"sortable\" aria-label=\"Collectives\"",
                    {{{subject.part_name(), false},
                      {"phase", false},
                      {"group", false},
                      {"collective", false},
                      {"ranks", true},
                      {"MB", true},
                      {"count", true},
                      {"all ms", true},
                      {"longest ms", true},
                      {"algorithm", false},
                      {"bound by", false}}},
                    rows));
}

}  // namespace

std::string RunReport(std::string_view name, const RunSubject& subject,
                      const RunResult& run, const MessageTimes* messages) {
  Page page(name);
  std::string sections = EventsSection(subject, run);
  if (subject.has_stages() || subject.trace != nullptr) {
    sections += BreakdownSection(subject.has_stages(), run.result, page);
    sections += TimelineSection(subject.has_stages(), run.result, page);
  }
  sections += PathSection(subject, run);
  sections += CollectivesSection(subject, run.result);
  sections += LinksSection(subject.topology, run.result);
  sections +=
      QueuesSection(subject.topology, run.network,
                    subject.network.packet.record.sample_interval, page);
  if (messages != nullptr) sections += MessagesSection(*messages, page);
  if (run.explanation && subject.program != nullptr) {
    sections += MemorySection(*subject.program, run.explanation->memory, page);
  }
  return page.Html(HtmlFacts(FactsOf(subject, run)), sections);
}

}  // namespace astra
