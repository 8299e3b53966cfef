#include "network-frontends/packet/congestion/registry.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"

namespace astra {
namespace {

template <class Control>
std::unique_ptr<CongestionControl> Make(const CongestionOptions& options) {
  return std::make_unique<Control>(options.of<Control>());
}

// Returns the entries of all controls, ordered by name.
constexpr auto MakeEntries() {
  std::array<CongestionControlEntry, std::tuple_size_v<CongestionControlTypes>>
      entries{};
  size_t next = 0;
  CongestionOptions::ForEach([&]<class Control>() {
    entries[next++] = {Control::kName, Control::kDescription, &Make<Control>};
  });
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

constexpr auto kControls = MakeEntries();

}  // namespace

absl::Span<const CongestionControlEntry> CongestionControls() {
  return kControls;
}

absl::StatusOr<const CongestionControlEntry*> FindCongestionControl(
    std::string_view name) {
  std::vector<std::string_view> known;
  for (const CongestionControlEntry& control : kControls) {
    if (control.name == name) return &control;
    known.push_back(control.name);
  }
  return absl::InvalidArgumentError(
      UnknownName("congestion control", name, known));
}

}  // namespace astra
