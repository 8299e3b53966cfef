#include "astra-core/results/changes_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/numeric/int128.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kFile = "changes.csv";
constexpr int kDecimals = 6;

constexpr Column<CollectiveChange> kColumns[] = {
    {"layer", "", "layer or module; pipeline for messages between stages",
     [](const CollectiveChange& row, std::string* text) {
       AppendField(row.layer, text);
     }},
    {"phase", "", "fwd, ig or wg",
     [](const CollectiveChange& row, std::string* text) {
       *text += Name(row.phase);
     }},
    {"group", "", "TP, DP, ... or PP",
     [](const CollectiveChange& row, std::string* text) {
       *text += Name(row.dimension);
     }},
    {"collective", "", "kind",
     [](const CollectiveChange& row, std::string* text) {
       *text += Name(row.kind);
     }},
    {"count", "", "how many, over all groups",
     [](const CollectiveChange& row, std::string* text) {
       AppendInteger(row.count, text);
     }},
    {"healthy_us", "us", "mean time without the events",
     [](const CollectiveChange& row, std::string* text) {
       AppendUs(row.healthy, text);
     }},
    {"events_us", "us", "mean time with the events",
     [](const CollectiveChange& row, std::string* text) {
       AppendUs(row.with_events, text);
     }},
    {"ratio", "", "events_us / healthy_us",
     [](const CollectiveChange& row, std::string* text) {
       AppendNumber(row.ratio(), kDecimals, text);
     }},
    {"added_us", "us", "what all of them took longer; below 0: less long",
     [](const CollectiveChange& row, std::string* text) {
       *text += fmt::format("{:.6f}", row.added_us());
     }},
};

using Key = std::tuple<uint32_t, Phase, ParallelDimension, CollectiveKind>;
struct Sum {
  int64_t count = 0;
  absl::int128 time = 0;  // In ps.

  TimePs mean() const {
    return count == 0 ? TimePs() : TimePs(static_cast<int64_t>(time / count));
  }
};

std::map<Key, Sum> SumsOf(const SimulationResult& result) {
  std::map<Key, Sum> sums;
  for (const CollectiveRecord& record : result.collectives) {
    Sum& sum =
        sums[{record.layer.index(), record.phase,
              record.communication.dimension, record.communication.kind}];
    const int64_t count = record.count * record.num_groups;
    sum.count += count;
    sum.time += absl::int128(count) * record.time.count();
  }
  return sums;
}

}  // namespace

double CollectiveChange::ratio() const {
  if (healthy == TimePs(0)) return 1;
  return static_cast<double>(with_events.count()) /
         static_cast<double>(healthy.count());
}

double CollectiveChange::added_us() const {
  return static_cast<double>(count) * ToMicroseconds(with_events - healthy);
}

std::vector<CollectiveChange> ChangesOf(const SimulationResult& healthy,
                                        const SimulationResult& with_events) {
  std::vector<CollectiveChange> changes;
  const std::map<Key, Sum> before = SumsOf(healthy);
  for (const auto& [key, sum] : SumsOf(with_events)) {
    const auto& [layer, phase, dimension, kind] = key;
    const auto known = before.find(key);
    if (known == before.end()) continue;
    changes.push_back({.layer = with_events.layer_names[layer],
                       .phase = phase,
                       .dimension = dimension,
                       .kind = kind,
                       .count = sum.count,
                       .healthy = known->second.mean(),
                       .with_events = sum.mean()});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const CollectiveChange& a, const CollectiveChange& b) {
                     return a.added_us() > b.added_us();
                   });
  return changes;
}

std::string ChangesCsv(absl::Span<const CollectiveChange> changes) {
  std::string text = HeaderOf<CollectiveChange>(kColumns);
  for (const CollectiveChange& change : changes) {
    AppendRow<CollectiveChange>(kColumns, change, &text);
  }
  return text;
}

void AppendChangesColumns(std::vector<ColumnText>* texts) {
  AppendTexts<CollectiveChange>(kFile, kColumns, texts);
}

}  // namespace astra
