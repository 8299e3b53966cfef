#include "network-frontends/flow/fair_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "astra-core/base/check.h"

namespace astra {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Largest relative change of a rate that counts as rounding. The old rate is
// then kept, so that equal flows whose rates were computed differently end
// together.
constexpr double kSameRate = 1e-12;

}  // namespace

FairRates::FairRates(const std::vector<double>& capacities) {
  links_.resize(capacities.size());
  for (size_t i = 0; i < capacities.size(); ++i) {
    links_[i].capacity = capacities[i];
    links_[i].touched = kNone;
  }
}

uint32_t FairRates::AddClass(absl::Span<const uint32_t> path) {
  const auto id = static_cast<uint32_t>(classes_.size());
  classes_.push_back({places_.size(), static_cast<uint32_t>(path.size())});
  for (const uint32_t link : path) places_.push_back({link, 0});
  return id;
}

void FairRates::AddFlows(uint32_t flow_class, int64_t change) {
  FlowClass& c = classes_[flow_class];
  ASTRA_DCHECK(c.count + change >= 0, "{} flows and {}", c.count, change);
  if (!c.is_free) Free(flow_class);
  c.count += change;
  for (const Place& place : PlacesOf(c)) {
    links_[place.link].num_flows += change;
  }
}

// The flows of the link are solved for again.
void FairRates::SetCapacity(uint32_t link, double capacity) {
  links_[link].capacity = capacity;
  const std::vector<uint32_t> classes = links_[link].classes;
  for (const uint32_t flow_class : classes) {
    if (!classes_[flow_class].is_free) Free(flow_class);
  }
}

void FairRates::List(uint32_t flow_class) {
  classes_[flow_class].is_listed = true;
  for (Place& place : PlacesOf(classes_[flow_class])) {
    std::vector<uint32_t>& list = links_[place.link].classes;
    place.position = static_cast<uint32_t>(list.size());
    list.push_back(flow_class);
  }
}

// Removes the class from the lists of its links. The last class of each list
// takes its position.
void FairRates::Unlist(uint32_t flow_class) {
  classes_[flow_class].is_listed = false;
  for (const Place& place : PlacesOf(classes_[flow_class])) {
    std::vector<uint32_t>& list = links_[place.link].classes;
    const uint32_t last = list.back();
    list[place.position] = last;
    list.pop_back();
    for (Place& other : PlacesOf(classes_[last])) {
      if (other.link == place.link) other.position = place.position;
    }
  }
}

void FairRates::Free(uint32_t flow_class) {
  FlowClass& c = classes_[flow_class];
  c.is_free = true;
  free_.push_back(flow_class);
  const double load = static_cast<double>(c.count) * c.rate;
  for (const Place& place : PlacesOf(c)) {
    Link& link = links_[place.link];
    if (link.touched == kNone) {
      link.touched = static_cast<uint32_t>(touched_.size());
      touched_.push_back(place.link);
    }
    if (!c.is_listed) continue;
    link.load -= load;
    ++link.num_updates;
    if (--link.num_fixed == 0) link.load = link.max_rate = 0;
  }
  if (c.is_listed) {
    --links_[c.bottleneck].num_limited;
  } else {
    List(flow_class);
  }
}

void FairRates::Solve(std::vector<uint32_t>* changed) {
  if (free_.empty()) return;
  do {
    SolveFree();
    TryRates();
  } while (FreeMore());
  FixFree(changed);
  SumUpLoads();
  for (const uint32_t link : touched_) links_[link].touched = kNone;
  touched_.clear();
  free_.clear();
}

// Solves for the free classes. Classes without flows are left out, so the
// classes after them have lower numbers in the problem.
void FairRates::SolveFree() {
  problem_.Clear();
  for (const uint32_t id : touched_) {
    const Link& link = links_[id];
    problem_.capacities.push_back(std::max(0.0, link.capacity - link.load));
  }
  for (const uint32_t id : free_) {
    const FlowClass& c = classes_[id];
    if (c.count == 0) continue;
    path_.clear();
    for (const Place& place : PlacesOf(c)) {
      path_.push_back(links_[place.link].touched);
    }
    problem_.AddClass(path_, c.count);
  }
  num_solved_classes_ += problem_.num_classes();
  solver_.Solve(problem_, &result_);
}

void FairRates::TryRates() {
  trials_.assign(touched_.size(), Trial());
  for (size_t i = 0; i < problem_.num_classes(); ++i) {
    const double rate = result_.rates[i];
    for (const uint32_t link : problem_.path(i)) {
      trials_[link].load += static_cast<double>(problem_.counts[i]) * rate;
      trials_[link].max_rate = std::max(trials_[link].max_rate, rate);
    }
    trials_[result_.bottlenecks[i]].level = rate;
  }
}

// Frees the fixed classes that would have no bottleneck any more, and those
// that would be faster than free classes at the bottleneck of the free classes.
// Returns whether there were any.
bool FairRates::FreeMore() {
  to_free_.clear();
  for (size_t i = 0; i < touched_.size(); ++i) {
    Link& link = links_[touched_[i]];
    const Trial& trial = trials_[i];
    const double unused = link.capacity - link.load - trial.load;
    if (link.num_limited > 0 &&
        (unused > kTolerance * link.capacity ||
         trial.max_rate > link.level * (1 + kTolerance))) {
      for (const uint32_t id : link.classes) {
        const FlowClass& c = classes_[id];
        if (!c.is_free && c.bottleneck == touched_[i]) to_free_.push_back(id);
      }
    }
    // In the final rates a bottleneck grants at least an equal share.
    if (trial.level < 0) continue;
    const double equal_share =
        link.capacity / static_cast<double>(link.num_flows);
    FreeFaster(link, std::max(trial.level * (1 + kTolerance), equal_share));
  }
  const size_t before = free_.size();
  for (const uint32_t id : to_free_) {
    if (!classes_[id].is_free) Free(id);
  }
  return free_.size() > before;
}

void FairRates::FreeFaster(Link& link, double rate) {
  if (link.max_rate <= rate) return;
  link.max_rate = 0;
  for (const uint32_t id : link.classes) {
    const FlowClass& c = classes_[id];
    if (c.is_free) continue;
    link.max_rate = std::max(link.max_rate, c.rate);
    if (c.rate > rate) to_free_.push_back(id);
  }
}

void FairRates::FixFree(std::vector<uint32_t>* changed) {
  size_t i = 0;  // Number of the class in the problem.
  for (const uint32_t id : free_) {
    FlowClass& c = classes_[id];
    c.is_free = false;
    if (c.count == 0) {
      c.rate = 0;
      Unlist(id);
      continue;
    }
    const double rate = result_.rates[i];
    if (std::abs(rate - c.rate) > kSameRate * c.rate) {
      c.rate = rate;
      changed->push_back(id);
    }
    Fix(id, c.rate, touched_[result_.bottlenecks[i]]);
    ++i;
  }
}

void FairRates::Fix(uint32_t flow_class, double rate, uint32_t bottleneck) {
  FlowClass& c = classes_[flow_class];
  c.bottleneck = bottleneck;
  ++links_[bottleneck].num_limited;
  links_[bottleneck].level = rate;
  const double load = static_cast<double>(c.count) * rate;
  for (const Place& place : PlacesOf(c)) {
    Link& link = links_[place.link];
    link.load += load;
    link.max_rate = std::max(link.max_rate, rate);
    ++link.num_fixed;
    ++link.num_updates;
  }
}

// Computes the loads of links with many updates anew, so that the rounding of
// the updates does not add up.
void FairRates::SumUpLoads() {
  constexpr size_t kLeastUpdates = 64;
  for (const uint32_t id : touched_) {
    Link& link = links_[id];
    if (link.num_updates < kLeastUpdates + 2 * link.classes.size()) continue;
    link.num_updates = 0;
    link.load = 0;
    for (const uint32_t c : link.classes) {
      link.load += static_cast<double>(classes_[c].count) * classes_[c].rate;
    }
  }
}

}  // namespace astra
