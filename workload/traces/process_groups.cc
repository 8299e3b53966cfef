// The part of chakra_trace.h about the file of groups.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "workload/traces/chakra_trace.h"

namespace astra {
namespace {

// Reads the ranks of a group. The first error is kept in `document`.
std::vector<RankId> RanksOf(const YamlValue& list, uint32_t num_ranks,
                            YamlDocument& document) {
  std::vector<RankId> ranks;
  if (list.kind != YamlValue::Kind::kList || list.children.empty()) {
    document.Error(list, "a group is a list of ranks");
    return ranks;
  }
  for (const YamlField& item : list.children) {
    const std::string& text = item.value.text;
    const absl::StatusOr<int64_t> rank =
        ParseInteger("rank", text, 0, int64_t{num_ranks} - 1);
    if (!rank.ok()) {
      document.Error(item.value,
                     fmt::format("{} is no rank: the trace has ranks 0 to {}",
                                 Quoted(text), num_ranks - 1));
      return ranks;
    }
    ranks.emplace_back(static_cast<uint32_t>(*rank));
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice != ranks.end()) {
    document.Error(list, fmt::format("rank {} is in the group twice", *twice));
  }
  return ranks;
}

}  // namespace

// JSON is YAML, so that its errors have their line and column.
absl::StatusOr<std::vector<ProcessGroup>> ParseProcessGroups(
    std::string_view file, std::string_view contents, uint32_t num_ranks) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("the groups of a trace");
  std::vector<ProcessGroup> groups;
  for (const std::string& name : fields.keys()) {
    const YamlValue* list = fields.Value(name);
    groups.push_back({.name = name,
                      .dimension = DimensionOf(name),
                      .ranks = RanksOf(*list, num_ranks, document)});
    if (!document.status().ok()) break;
  }
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return groups;
}

std::string FormatProcessGroups(absl::Span<const ProcessGroup> groups) {
  std::string text = "{";
  for (const ProcessGroup& group : groups) {
    if (group.name.empty()) continue;  // That of all ranks needs no file.
    text +=
        fmt::format("{}\n  \"{}\": [", text.size() == 1 ? "" : ",", group.name);
    for (size_t i = 0; i < group.ranks.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", group.ranks[i]);
    }
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace astra
