#include "astra-core/apps/pattern_page.h"

#include <utility>
#include <vector>

#include "astra-core/apps/network_charts.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string Us(TimePs time) {
  return fmt::format("{:.3f}", ToMicroseconds(time));
}

std::string FactsOf(const TrafficRunRequest& request, const RunResult& run) {
  const Topology& topology = request.topology;
  std::vector<std::pair<std::string_view, std::string>> facts = {
      {"Last arrival", Us(run.result.stage_time) + " us"},
      {"Messages", fmt::format("{}", request.traffic.messages.size())},
      {"Cluster", fmt::format("{} {} in {} servers, {} links",
                              topology.num_gpus(), topology.gpu_type(),
                              topology.num_servers(), topology.links().size())},
      {"Fidelity", std::string(Name(request.fidelity))}};
  if (NetworkOf(request.fidelity)->records_packets) {
    facts.emplace_back("Congestion control",
                       request.network.packet.congestion.name);
  }
  std::string html = HtmlFacts(facts);
  if (request.events.texts.empty()) return html;
  html += "<ul>\n";
  for (const std::string& event : request.events.texts) {
    html += "<li>" + HtmlText(event) + "</li>\n";
  }
  return html + "</ul>\n";
}

std::string CompletionsSection(absl::Span<const CompletionRow> rows) {
  constexpr double kMbPerByte = 1e-6;
  std::vector<std::vector<std::string>> cells;
  for (const CompletionRow& row : rows) {
    cells.push_back({row.pattern, fmt::format("{}", row.messages),
                     fmt::format("{:.6f}", kMbPerByte * static_cast<double>(
                                                            row.bytes.count())),
                     fmt::format("{:.3f}", row.mean_us), Us(row.median),
                     Us(row.p99), Us(row.longest), Us(row.last_finish),
                     fmt::format("{:.3f}", row.gigabytes_per_s())});
  }
  return HtmlSection(
      "completions", "Completion times",
      HtmlNote("From the start of a message to its arrival. The goodput is all "
               "bytes over the time from the first start to the last "
               "arrival.") +
          HtmlTable("aria-label=\"Completion times by pattern\"",
                    {{{"pattern", false},
                      {"messages", true},
                      {"MB", true},
                      {"mean us", true},
                      {"median us", true},
                      {"p99 us", true},
                      {"longest us", true},
                      {"last arrival us", true},
                      {"goodput GB/s", true}}},
                    cells));
}

}  // namespace

std::string PatternPage(std::string_view name, const TrafficRunRequest& request,
                        const RunResult& run,
                        absl::Span<const CompletionRow> rows,
                        const MessageTimes* messages) {
  Page page(name);
  std::string sections = CompletionsSection(rows);
  sections +=
      QueuesSection(request.topology, run.network,
                    request.network.packet.record.sample_interval, page);
  if (messages != nullptr) sections += MessagesSection(*messages, page);
  sections += LinksSection(request.topology, run.result);
  return page.Html(FactsOf(request, run), sections);
}

}  // namespace astra
