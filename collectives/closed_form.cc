#include "collectives/closed_form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/collective_request.h"
#include "collectives/group_layout.h"
#include "collectives/reduction_tree.h"

namespace astra {
namespace {

constexpr double kPsPerSecond = 1e12;

// `value` with its lowest bits cleared by rounding.
double Rounded(double value) {
  constexpr int kSignificantBits = 44;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // 0.5 to 1, or 0.
  return std::ldexp(std::round(std::ldexp(mantissa, kSignificantBits)),
                    exponent - kSignificantBits);
}

// The flows of steps that happen at once, each as often as it repeats; the
// phase as a whole happens `repeat` times, one after the other.
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

// The groups that share a schedule.
struct Cohort {
  struct Member {
    size_t group;               // Its position in the list of groups.
    std::vector<NodeId> nodes;  // By member of the group.
  };
  std::vector<Phase> phases;
  std::vector<Member> members;
};

absl::StatusOr<std::vector<Cohort>> FormCohorts(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, const Topology& topology) {
  // Large, so that bytes which do not divide evenly do not count.
  constexpr Bytes kBytes(int64_t{1} << 38);
  std::map<GroupLayout, size_t> place_of;
  std::vector<Cohort> cohorts;
  for (size_t i = 0; i < groups.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(PlacedGroup group,
                           PlaceGroup(algorithm, groups[i], topology));
    const auto layout =
        std::make_shared<const GroupLayout>(std::move(group.layout));
    const auto [place, is_new] = place_of.try_emplace(*layout, cohorts.size());
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

absl::StatusOr<Route> RouteOf(const StepFlow& flow,
                              absl::Span<const NodeId> nodes, Routes& routes) {
  return routes.FindNodes(nodes[flow.source.index()],
                          nodes[flow.target.index()]);
}

// What phases put on the links, for a buffer of one byte.
class LinkLoad {
 public:
  explicit LinkLoad(Routes& routes)
      : routes_(routes), link_bytes_(routes.topology().links().size()) {}

  // Adds what one group, of `nodes`, sends in `phase`.
  absl::Status Add(const Phase& phase, absl::Span<const NodeId> nodes) {
    for (const ScheduleStep& step : phase.steps) {
      for (const StepFlow& flow : step.flows) {
        ASTRA_ASSIGN_OR_RETURN(const Route route,
                               RouteOf(flow, nodes, routes_));
        AddRoute(route, static_cast<double>(step.repeat) * flow.share);
      }
    }
    return absl::OkStatus();
  }

  // By link. After all Add(): spreads what crosses the fabric over its links.
  const std::vector<double>& Spread() {
    for (uint32_t i = 0; i < fabric_bytes_.size(); ++i) {
      if (fabric_bytes_[i] == 0) continue;
      AddRuns(routes_.fabric_route(FabricRouteId(i)).links, fabric_bytes_[i]);
    }
    fabric_bytes_.clear();
    return link_bytes_;
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
  std::vector<double> fabric_bytes_;  // By fabric route.
};

// What a phase costs a group where the links carry that much.
class PhaseCosts {
 public:
  PhaseCosts(Routes& routes, absl::Span<const double> link_bytes,
             absl::Span<const double> link_efficiency)
      : routes_(routes),
        link_bytes_(link_bytes),
        link_efficiency_(link_efficiency),
        busiest_(routes.num_fabric_routes()) {}

  absl::StatusOr<ClosedForms::Group> CostOf(const Phase& phase,
                                            absl::Span<const NodeId> nodes) {
    TimePs latency;
    Load worst;
    for (const ScheduleStep& step : phase.steps) {
      TimePs longest;
      for (const StepFlow& flow : step.flows) {
        ASTRA_ASSIGN_OR_RETURN(const Route route,
                               RouteOf(flow, nodes, routes_));
        longest = std::max(longest, route.latency);
        worst = Worse(worst, Busiest(route.first));
        for (const Route::Part& part : route.parts) {
          worst = Worse(worst, BusiestOf(part.fabric));
        }
        worst = Worse(worst, Busiest(route.last));
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

  // Found when a flow first takes the fabric route.
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
  std::vector<std::optional<Load>> busiest_;  // By fabric route.
};

// What all cohorts put on the links in their phase `p`, by how often it repeats
// there; a cohort may have fewer phases than others.
absl::StatusOr<std::map<int64_t, LinkLoad>> LoadsOf(
    absl::Span<const Cohort> cohorts, size_t p, Routes& routes) {
  std::map<int64_t, LinkLoad> loads;
  for (const Cohort& cohort : cohorts) {
    if (p >= cohort.phases.size()) continue;
    const Phase& phase = cohort.phases[p];
    LinkLoad& load = loads.try_emplace(phase.repeat, routes).first->second;
    for (const Cohort::Member& member : cohort.members) {
      ASTRA_RETURN_IF_ERROR(load.Add(phase, member.nodes));
    }
  }
  return loads;
}

// Adds phase `p` of all cohorts, which happens at the same time, to `result`.
// `slowest`, by group, is the cost of its slowest phase so far.
absl::Status AddPhase(absl::Span<const Cohort> cohorts, size_t p,
                      absl::Span<const double> link_efficiency, Routes& routes,
                      std::vector<double>& slowest, ClosedForms& result) {
  ASTRA_ASSIGN_OR_RETURN(auto loads, LoadsOf(cohorts, p, routes));
  std::vector<double> at_once(result.link_bytes_per_byte.size());
  for (auto& [repeat, load] : loads) {
    const std::vector<double>& link_bytes = load.Spread();
    for (size_t link = 0; link < link_bytes.size(); ++link) {
      at_once[link] += link_bytes[link];
      result.link_bytes_per_byte[link] +=
          static_cast<double>(repeat) * link_bytes[link];
    }
  }
  PhaseCosts costs(routes, at_once, link_efficiency);
  for (const Cohort& cohort : cohorts) {
    if (p >= cohort.phases.size()) continue;
    const Phase& phase = cohort.phases[p];
    for (const auto& [group, nodes] : cohort.members) {
      ASTRA_ASSIGN_OR_RETURN(const ClosedForms::Group cost,
                             costs.CostOf(phase, nodes));
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
  return absl::OkStatus();
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
  const size_t num_links = routes.topology().links().size();
  ASTRA_CHECK(link_efficiency.empty() || link_efficiency.size() == num_links,
              "{} efficiencies for {} links", link_efficiency.size(),
              num_links);
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Cohort> cohorts,
                         FormCohorts(algorithm, groups, routes.topology()));
  size_t num_phases = 0;
  for (const Cohort& cohort : cohorts) {
    num_phases = std::max(num_phases, cohort.phases.size());
  }
  ClosedForms result;
  result.groups.resize(groups.size());
  result.link_bytes_per_byte.resize(num_links);
  std::vector<double> slowest(groups.size(), -1);
  for (size_t p = 0; p < num_phases; ++p) {
    ASTRA_RETURN_IF_ERROR(
        AddPhase(cohorts, p, link_efficiency, routes, slowest, result));
  }
  return result;
}

}  // namespace astra
