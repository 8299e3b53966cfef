#include "network-frontends/traffic/patterns.h"

#include "astra-core/base/names.h"

namespace astra {
namespace {

constexpr std::string_view kIncastKeys[] = {"senders", "stride", "target"};
constexpr std::string_view kPermutationKeys[] = {"shift"};

constexpr PatternEntry kPatterns[] = {
    {"incast", "some ranks send to one", kIncastKeys, IncastSenders},
    {"permutation", "each rank sends to one other and receives from one other",
     kPermutationKeys, PermutationSenders},
    {"all-to-all", "each rank sends to each other", {}, AllToAllSenders},
};

}  // namespace

absl::Span<const PatternEntry> Patterns() { return kPatterns; }

absl::StatusOr<const PatternEntry*> FindPattern(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PatternEntry& entry : kPatterns) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return absl::InvalidArgumentError(UnknownName("pattern", name, names));
}

}  // namespace astra
