#include "astra-core/apps/events_report.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "astra-core/results/changes_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMostShown = 4;

std::string DescribeChange(const CollectiveChange& change) {
  return fmt::format(
      "  {} over {} of {} ({}): {} x {:.6f} ms without, {:.6f} ms with them\n",
      Name(change.kind), Name(change.dimension), change.layer,
      Name(change.phase), change.count, ToMilliseconds(change.healthy),
      ToMilliseconds(change.with_events));
}

// The ranks that others waited for longest, where ranks differ.
std::string DescribeAwaited(const SimulationResult& result) {
  std::vector<RankResult> ranks = result.ranks;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankResult& a, const RankResult& b) {
                     return a.kept_waiting > b.kept_waiting;
                   });
  std::string text = "  others waited longest for";
  for (size_t i = 0; i < std::min(kMostShown, ranks.size()); ++i) {
    text += fmt::format("{} rank {}, {:.6f} ms in all", i == 0 ? "" : ";",
                        ranks[i].rank, ToMilliseconds(ranks[i].kept_waiting));
  }
  return text + '\n';
}

}  // namespace

std::string DescribeEvents(const RunEvents& events, const RunResult& run) {
  std::string text;
  for (size_t i = 0; i < events.texts.size(); ++i) {
    const bool is_late =
        run.status.ok() && events.starts[i] >= run.result.total();
    text += fmt::format("event      {}{}\n", events.texts[i],
                        is_late ? ": the run ended before" : "");
  }
  if (run.healthy && run.healthy->total() > TimePs(0)) {
    text += fmt::format(
        "events     {:.6f} ms without them; {:.3f} times as long with them\n",
        ToMilliseconds(run.healthy->total()),
        static_cast<double>(run.result.total().count()) /
            static_cast<double>(run.healthy->total().count()));
    const std::vector<CollectiveChange> changes =
        ChangesOf(*run.healthy, run.result);
    for (size_t i = 0; i < std::min(kMostShown, changes.size()); ++i) {
      if (changes[i].added_us() > 0) text += DescribeChange(changes[i]);
    }
    if (!events.links.empty()) {
      text +=
          "  \"bound by\" names the links that would bound collectives without "
          "the events\n";
    }
  }
  const bool is_told = run.status.ok() && !events.speeds.empty();
  return is_told ? text + DescribeAwaited(run.result) : text;
}

}  // namespace astra
