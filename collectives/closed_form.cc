#include "collectives/closed_form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/collective_request.h"
#include "collectives/group_layout.h"
#include "collectives/reduction_tree.h"

namespace astra {
namespace {

// Returns `value`, rounded to kSignificantBits.
double Rounded(double value) {
  constexpr int kSignificantBits = 44;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // 0.5 to 1, or 0.
  return std::ldexp(std::round(std::ldexp(mantissa, kSignificantBits)),
                    exponent - kSignificantBits);
}

// Steps that happen at once, each as often as it repeats. The phase as a whole
// happens `repeat` times, one after the other.
struct Phase {
  int64_t repeat = 1;
  std::vector<ScheduleStep> steps;
};

std::vector<Phase> PhasesOf(StepSchedule schedule) {
  if (schedule.is_pipelined) return {{1, std::move(schedule.steps)}};
  std::vector<Phase> phases;
  for (ScheduleStep& step : schedule.steps) {
    phases.push_back({std::exchange(step.repeat, 1), {}});
    phases.back().steps.push_back(std::move(step));
  }
  return phases;
}

// Groups that share a schedule.
struct Cohort {
  struct Member {
    size_t group;               // Index into the list of groups.
    std::vector<NodeId> nodes;  // Nodes by member of the group.
  };
  std::vector<Phase> phases;
  std::vector<Member> members;
};

absl::StatusOr<std::vector<Cohort>> FormCohorts(
    absl::Span<const CollectiveAlgorithm> algorithms,
    absl::Span<const std::vector<RankId>> groups, const Topology& topology) {
  // A large size, so that bytes that do not divide evenly have no weight.
  constexpr Bytes kBytes(int64_t{1} << 38);
  std::map<std::pair<std::string_view, GroupLayout>, size_t> place_of;
  std::vector<Cohort> cohorts;
  for (size_t i = 0; i < groups.size(); ++i) {
    const CollectiveAlgorithm& algorithm = algorithms[i];
    ASTRA_ASSIGN_OR_RETURN(PlacedGroup group,
                           PlaceGroup(algorithm, groups[i], topology));
    const auto layout =
        std::make_shared<const GroupLayout>(std::move(group.layout));
    const auto [place, is_new] = place_of.try_emplace(
        std::pair(algorithm.name, *layout), cohorts.size());
    if (is_new) {
      ASTRA_ASSIGN_OR_RETURN(
          const CollectiveRequest request,
          CollectiveRequest::Create(algorithm.kind, kBytes, layout));
      ASTRA_ASSIGN_OR_RETURN(StepSchedule schedule, algorithm.steps(request));
      cohorts.push_back({PhasesOf(std::move(schedule)), {}});
    }
    cohorts[place->second].members.push_back({i, std::move(group.nodes)});
  }
  return cohorts;
}

// Routes of flows that are visited several times in the same order. Stores the
// first `max_kept`, which take about 150 B each.
class RoutesOfFlows {
 public:
  RoutesOfFlows(size_t max_kept, Routes& routes)
      : max_kept_(max_kept), routes_(routes) {
    kept_.reserve(max_kept);
  }

  // Returns the route of the next flow, which is valid until the next call.
  absl::StatusOr<const Route*> Next(const StepFlow& flow,
                                    absl::Span<const NodeId> nodes) {
    if (next_ < kept_.size()) return &kept_[next_++];
    ASTRA_ASSIGN_OR_RETURN(Route route,
                           routes_.FindNodes(nodes[flow.source.index()],
                                             nodes[flow.target.index()]));
    if (kept_.size() == max_kept_) {
      other_ = std::move(route);
      return &other_;
    }
    ++next_;
    return &kept_.emplace_back(std::move(route));
  }

  // Goes back to the first flow.
  void Rewind() { next_ = 0; }

 private:
  size_t max_kept_;
  Routes& routes_;
  std::vector<Route> kept_;
  size_t next_ = 0;  // Index into kept_.
  Route other_;
};

// Bytes that phases put on the links, for a buffer of one byte.
class LinkLoad {
 public:
  explicit LinkLoad(Routes& routes)
      : routes_(routes), link_bytes_(routes.topology().links().size()) {}

  // Adds the bytes that one group, of `nodes`, sends in `phase`.
  absl::Status Add(const Phase& phase, absl::Span<const NodeId> nodes,
                   RoutesOfFlows& flow_routes) {
    for (const ScheduleStep& step : phase.steps) {
      for (const StepFlow& flow : step.flows) {
        ASTRA_ASSIGN_OR_RETURN(const Route* route,
                               flow_routes.Next(flow, nodes));
        AddRoute(*route, static_cast<double>(step.repeat) * flow.share);
      }
    }
    return absl::OkStatus();
  }

  // Returns the bytes by link, after all calls of Add(). Spreads what crosses
  // the fabric over its links.
  std::vector<double> Take() && {
    for (uint32_t i = 0; i < fabric_bytes_.size(); ++i) {
      if (fabric_bytes_[i] == 0) continue;
      AddRuns(routes_.fabric_route(FabricRouteId(i)).links, fabric_bytes_[i]);
    }
    return std::move(link_bytes_);
  }

 private:
  void AddRoute(const Route& route, double bytes) {
    AddLinks(route.first, bytes);
    for (const Route::Part& part : route.parts) {
      if (fabric_bytes_.size() <= part.fabric.index()) {
        fabric_bytes_.resize(routes_.num_fabric_routes());
      }
      fabric_bytes_[part.fabric.index()] += bytes * part.share;
    }
    AddLinks(route.last, bytes);
  }

  void AddRuns(absl::Span<const LinkRun> runs, double bytes) {
    for (const LinkRun& run : runs) {
      const double on_each = bytes * run.share;
      for (uint32_t i = 0; i < run.count; ++i) {
        link_bytes_[run.link(i).index()] += on_each;
      }
    }
  }

  void AddLinks(absl::Span<const LinkShare> links, double bytes) {
    for (const LinkShare& part : links) {
      link_bytes_[part.link.index()] += bytes * part.share;
    }
  }

  Routes& routes_;
  std::vector<double> link_bytes_;
  std::vector<double> fabric_bytes_;  // Bytes by fabric route.
};

// Costs of a phase for a group, given the bytes that each link carries.
class PhaseCosts {
 public:
  PhaseCosts(Routes& routes, absl::Span<const double> link_bytes,
             absl::Span<const double> link_efficiency)
      : routes_(routes),
        link_bytes_(link_bytes),
        link_efficiency_(link_efficiency),
        busiest_(routes.num_fabric_routes()) {}

  absl::StatusOr<ClosedForms::Group> CostOf(const Phase& phase,
                                            absl::Span<const NodeId> nodes,
                                            RoutesOfFlows& flow_routes) {
    TimePs latency;
    Load worst;
    for (const ScheduleStep& step : phase.steps) {
      TimePs longest;
      for (const StepFlow& flow : step.flows) {
        ASTRA_ASSIGN_OR_RETURN(const Route* route,
                               flow_routes.Next(flow, nodes));
        longest = std::max(longest, route->latency);
        worst = Worse(worst, Busiest(route->first));
        for (const Route::Part& part : route->parts) {
          worst = Worse(worst, BusiestOf(part.fabric));
        }
        worst = Worse(worst, Busiest(route->last));
      }
      latency += step.repeat * longest;
    }
    const double ps_per_byte = Rounded(worst.seconds_per_byte * kPsPerSecond);
    return ClosedForms::Group{{latency, ps_per_byte}, worst.link};
  }

 private:
  struct Load {
    double seconds_per_byte = 0;
    LinkId link;
  };

  Load Busiest(absl::Span<const LinkShare> links) const {
    Load busiest;
    for (const LinkShare& part : links) {
      busiest = Worse(busiest, LoadOf(part.link, RateOf(part.link)));
    }
    return busiest;
  }

  // Returns the busiest link of a fabric route; found when a flow first takes
  // it.
  const Load& BusiestOf(FabricRouteId id) {
    std::optional<Load>& busiest = busiest_[id.index()];
    if (busiest) return *busiest;
    busiest.emplace();
    for (const LinkRun& run : routes_.fabric_route(id).links) {
      const double rate = RateOf(run.first);
      for (uint32_t i = 0; i < run.count; ++i) {
        busiest = Worse(*busiest, LoadOf(run.link(i), rate));
      }
    }
    return *busiest;
  }

  double RateOf(LinkId link) const {
    return static_cast<double>(routes_.topology().type(link).bandwidth.count());
  }

  Load LoadOf(LinkId link, double rate) const {
    const size_t i = link.index();
    const double efficiency =
        link_efficiency_.empty() ? 1 : link_efficiency_[i];
    return {8 * link_bytes_[i] / (efficiency * rate), link};
  }

  static const Load& Worse(const Load& a, const Load& b) {
    return b.seconds_per_byte > a.seconds_per_byte ? b : a;
  }

  Routes& routes_;
  absl::Span<const double> link_bytes_;
  absl::Span<const double> link_efficiency_;
  std::vector<std::optional<Load>> busiest_;  // Busiest load by fabric route.
};

size_t NumFlows(absl::Span<const Cohort> cohorts, size_t p) {
  size_t num_flows = 0;
  for (const Cohort& cohort : cohorts) {
    if (p >= cohort.phases.size()) continue;
    for (const ScheduleStep& step : cohort.phases[p].steps) {
      num_flows += step.flows.size() * cohort.members.size();
    }
  }
  return num_flows;
}

// Returns what all cohorts put on the links in their phase `p`, by the number
// of times that the phase repeats. Some cohorts may have fewer phases.
absl::StatusOr<std::map<int64_t, LinkLoad>> LoadsOf(
    absl::Span<const Cohort> cohorts, size_t p, Routes& routes,
    RoutesOfFlows& flow_routes) {
  std::map<int64_t, LinkLoad> loads;
  for (const Cohort& cohort : cohorts) {
    if (p >= cohort.phases.size()) continue;
    const Phase& phase = cohort.phases[p];
    LinkLoad& load = loads.try_emplace(phase.repeat, routes).first->second;
    for (const Cohort::Member& member : cohort.members) {
      ASTRA_RETURN_IF_ERROR(load.Add(phase, member.nodes, flow_routes));
    }
  }
  return loads;
}

// Adds `repeat` times `more` to `sums`, which is empty before the first call.
// The first call reuses `more`, since a large cluster has millions of links.
void AddTimes(int64_t repeat, std::vector<double> more,
              std::vector<double>& sums) {
  const auto times = static_cast<double>(repeat);
  if (sums.empty()) {
    sums = std::move(more);
    if (repeat == 1) return;
    for (double& sum : sums) sum *= times;
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += times * more[i];
}

// Adds phase `p`, which all cohorts run at the same time, to `result`.
// `slowest` is the cost of the slowest phase so far, by group.
absl::Status AddPhase(absl::Span<const Cohort> cohorts, size_t p,
                      absl::Span<const double> link_efficiency, Routes& routes,
                      std::vector<double>& slowest, ClosedForms& result) {
  constexpr size_t kMaxKept = size_t{1} << 20;
  RoutesOfFlows flow_routes(std::min(NumFlows(cohorts, p), kMaxKept), routes);
  ASTRA_ASSIGN_OR_RETURN(auto loads, LoadsOf(cohorts, p, routes, flow_routes));
  const bool is_one_load = loads.size() == 1;
  std::vector<double> at_once;
  for (auto& [repeat, load] : loads) {
    std::vector<double> link_bytes = std::move(load).Take();
    if (!is_one_load) AddTimes(repeat, link_bytes, result.link_bytes_per_byte);
    AddTimes(1, std::move(link_bytes), at_once);
  }
  flow_routes.Rewind();
  PhaseCosts costs(routes, at_once, link_efficiency);
  for (const Cohort& cohort : cohorts) {
    if (p >= cohort.phases.size()) continue;
    const Phase& phase = cohort.phases[p];
    for (const auto& [group, nodes] : cohort.members) {
      ASTRA_ASSIGN_OR_RETURN(const ClosedForms::Group cost,
                             costs.CostOf(phase, nodes, flow_routes));
      ClosedForms::Group& total = result.groups[group];
      total.form.latency += phase.repeat * cost.form.latency;
      const double part =
          static_cast<double>(phase.repeat) * cost.form.ps_per_byte;
      total.form.ps_per_byte += part;
      if (part > slowest[group]) {
        slowest[group] = part;
        total.bottleneck = cost.bottleneck;
      }
    }
  }
  if (is_one_load) {
    AddTimes(loads.begin()->first, std::move(at_once),
             result.link_bytes_per_byte);
  }
  return absl::OkStatus();
}

size_t NumPhases(absl::Span<const Cohort> cohorts) {
  size_t num_phases = 0;
  for (const Cohort& cohort : cohorts) {
    num_phases = std::max(num_phases, cohort.phases.size());
  }
  return num_phases;
}

}  // namespace

TimePs ClosedForm::TimeOf(Bytes bytes) const {
  const double ps = ps_per_byte * static_cast<double>(bytes.count()) +
                    static_cast<double>(latency.count());
  if (ps >= static_cast<double>(kMaxCollectiveTime.count())) {
    return kMaxCollectiveTime;
  }
  return latency +
         TimePs(std::llround(ps_per_byte * static_cast<double>(bytes.count())));
}

absl::StatusOr<ClosedForms> LayOnLinks(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes,
    absl::Span<const double> link_efficiency) {
  return LayOnLinks(std::vector(groups.size(), algorithm), groups, routes,
                    link_efficiency);
}

absl::StatusOr<ClosedForms> LayOnLinks(
    absl::Span<const CollectiveAlgorithm> algorithms,
    absl::Span<const std::vector<RankId>> groups, Routes& routes,
    absl::Span<const double> link_efficiency) {
  ASTRA_CHECK(algorithms.size() == groups.size(), "{} algorithms for {} groups",
              algorithms.size(), groups.size());
  const size_t num_links = routes.topology().links().size();
  ASTRA_CHECK(link_efficiency.empty() || link_efficiency.size() == num_links,
              "{} efficiencies for {} links", link_efficiency.size(),
              num_links);
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Cohort> cohorts,
                         FormCohorts(algorithms, groups, routes.topology()));
  ClosedForms result;
  result.groups.resize(groups.size());
  std::vector<double> slowest(groups.size(), -1);
  for (size_t p = 0; p < NumPhases(cohorts); ++p) {
    ASTRA_RETURN_IF_ERROR(
        AddPhase(cohorts, p, link_efficiency, routes, slowest, result));
  }
  result.link_bytes_per_byte.resize(num_links);
  return result;
}

absl::StatusOr<std::vector<double>> LinkBytesPerByte(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Cohort> cohorts,
                         FormCohorts(std::vector(groups.size(), algorithm),
                                     groups, routes.topology()));
  std::vector<double> link_bytes;
  for (size_t p = 0; p < NumPhases(cohorts); ++p) {
    RoutesOfFlows visited_once(0, routes);
    ASTRA_ASSIGN_OR_RETURN(auto loads,
                           LoadsOf(cohorts, p, routes, visited_once));
    for (auto& [repeat, load] : loads) {
      AddTimes(repeat, std::move(load).Take(), link_bytes);
    }
  }
  link_bytes.resize(routes.topology().links().size());
  return link_bytes;
}

}  // namespace astra
