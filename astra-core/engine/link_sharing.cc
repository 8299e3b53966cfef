#include "astra-core/engine/link_sharing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <tuple>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Loads that differ by less than a step are the same, so that few are distinct.
constexpr double kStepsOfLoad = 256;

}  // namespace

LinkSharing::LinkSharing(const CollectiveCosts& costs, const Topology& topology)
    : topology_(topology) {
  for (const auto& [key, cost] : costs) {
    if (cost.sized.empty()) {
      patterns_.push_back(
          {key, cost.algorithm.name, cost.forms.link_bytes_per_byte});
    }
    for (const auto& [name, bytes_per_byte] : cost.link_bytes_per_byte) {
      patterns_.push_back({key, name, bytes_per_byte});
    }
  }
}

LinkUse LinkSharing::UseOf(const CostKey& key,
                           const TimedCollective& timed) const {
  const auto pattern = std::find_if(
      patterns_.begin(), patterns_.end(), [&](const Pattern& each) {
        return each.key == key && each.registry_name == timed.registry_name;
      });
  ASTRA_CHECK(pattern != patterns_.end(), "no collective {} is laid on links",
              timed.registry_name);
  const double busy_share = timed.time == TimePs(0)
                                ? 0
                                : static_cast<double>(timed.transfer.count()) /
                                      static_cast<double>(timed.time.count());
  return {static_cast<uint32_t>(pattern - patterns_.begin()), busy_share};
}

void LinkSharing::FindLoads() {
  const absl::Span<const Link> links = topology_.links();
  const auto seconds = [&](size_t pattern, size_t link) {
    const LinkType& type = topology_.link_types()[links[link].type.index()];
    return patterns_[pattern].bytes_per_byte[link] /
           static_cast<double>(type.bandwidth.count());
  };
  std::vector<double> busiest(patterns_.size());
  for (size_t p = 0; p < patterns_.size(); ++p) {
    for (size_t link = 0; link < links.size(); ++link) {
      busiest[p] = std::max(busiest[p], seconds(p, link));
    }
  }
  std::set<std::vector<double>> loads;
  std::vector<double> load(patterns_.size());
  for (size_t link = 0; link < links.size(); ++link) {
    for (size_t p = 0; p < patterns_.size(); ++p) {
      if (busiest[p] == 0) continue;
      load[p] = std::round(kStepsOfLoad * seconds(p, link) / busiest[p]) /
                kStepsOfLoad;
    }
    loads.insert(load);
  }
  loads_.assign(loads.begin(), loads.end());
}

std::vector<double> LinkSharing::Speeds(absl::Span<const LinkUse> uses) {
  std::vector<LinkUse> distinct(uses.begin(), uses.end());
  // The largest use of each pattern comes first and is the one that counts.
  std::sort(distinct.begin(), distinct.end(),
            [](const LinkUse& a, const LinkUse& b) {
              return std::tie(a.pattern, b.busy_share) <
                     std::tie(b.pattern, a.busy_share);
            });
  const auto same_pattern = [](const LinkUse& a, const LinkUse& b) {
    return a.pattern == b.pattern;
  };
  distinct.erase(std::unique(distinct.begin(), distinct.end(), same_pattern),
                 distinct.end());
  if (distinct.size() < 2) return std::vector<double>(uses.size(), 1);
  if (loads_.empty()) FindLoads();
  const auto [known, is_new] = known_.try_emplace(distinct);
  if (is_new) known->second = Fill(distinct);
  std::vector<double> speeds;
  for (const LinkUse& use : uses) {
    const auto place = std::find_if(
        distinct.begin(), distinct.end(),
        [&](const LinkUse& each) { return same_pattern(each, use); });
    speeds.push_back(
        known->second[static_cast<size_t>(place - distinct.begin())]);
  }
  return speeds;
}

// Raises the common speed to the next full link, again and again.
std::vector<double> LinkSharing::Fill(const std::vector<LinkUse>& uses) const {
  std::vector<double> speeds(uses.size(), 1);
  std::vector<bool> is_fixed(uses.size());
  const auto load = [&](const std::vector<double>& loads, size_t use) {
    return loads[uses[use].pattern] * uses[use].busy_share;
  };
  while (true) {
    double common = 1;
    const std::vector<double>* full = nullptr;
    for (const std::vector<double>& loads : loads_) {
      double taken = 0;
      double growing = 0;
      for (size_t i = 0; i < uses.size(); ++i) {
        (is_fixed[i] ? taken : growing) += speeds[i] * load(loads, i);
      }
      if (growing == 0 || taken + growing <= 1) continue;
      const double speed = std::max(0.0, 1 - taken) / growing;
      if (speed >= common) continue;
      common = speed;
      full = &loads;
    }
    if (full == nullptr) return speeds;
    for (size_t i = 0; i < uses.size(); ++i) {
      if (is_fixed[i] || load(*full, i) == 0) continue;
      speeds[i] = common;
      is_fixed[i] = true;
    }
  }
}

}  // namespace astra
