#include "collectives/closed_form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/group_shape.h"

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

// The groups that share a schedule.
struct Cohort {
  StepSchedule schedule;
  std::vector<size_t> members;  // Positions in the list of groups.
};

// The load of one step, for a buffer of one byte.
class StepLoad {
 public:
  explicit StepLoad(Routes& routes)
      : routes_(routes), link_bytes_(routes.topology().links().size()) {}

  // Adds what one group sends in `step`.
  absl::Status Add(const ScheduleStep& step, absl::Span<const RankId> group) {
    for (const StepFlow& flow : step.flows) {
      ASTRA_ASSIGN_OR_RETURN(const Route route, RouteOf(flow, group));
      Add(route.first, flow.share);
      for (const Route::Part& part : route.parts) {
        if (fabric_bytes_.size() <= part.fabric.index()) {
          fabric_bytes_.resize(routes_.num_fabric_routes());
        }
        fabric_bytes_[part.fabric.index()] += flow.share * part.share;
      }
      Add(route.last, flow.share);
    }
    return absl::OkStatus();
  }

  // Spreads what crosses the fabric over its links. After all Add().
  void Spread() {
    for (uint32_t i = 0; i < fabric_bytes_.size(); ++i) {
      if (fabric_bytes_[i] == 0) continue;
      Add(routes_.fabric_route(FabricRouteId(i)).links, fabric_bytes_[i]);
    }
    for (uint32_t i = 0; i < fabric_bytes_.size(); ++i) {
      busiest_.push_back(Busiest(routes_.fabric_route(FabricRouteId(i)).links));
    }
  }

  // The cost of one step to one group. After Spread().
  absl::StatusOr<ClosedForms::Group> CostOf(
      const ScheduleStep& step, absl::Span<const RankId> group) const {
    TimePs latency;
    Load worst;
    for (const StepFlow& flow : step.flows) {
      ASTRA_ASSIGN_OR_RETURN(const Route route, RouteOf(flow, group));
      latency = std::max(latency, route.latency);
      worst = Worse(worst, Busiest(route.first));
      for (const Route::Part& part : route.parts) {
        worst = Worse(worst, busiest_[part.fabric.index()]);
      }
      worst = Worse(worst, Busiest(route.last));
    }
    const double ps_per_byte = Rounded(worst.seconds_per_byte * kPsPerSecond);
    return ClosedForms::Group{{latency, ps_per_byte}, worst.link};
  }

  const std::vector<double>& link_bytes() const { return link_bytes_; }

 private:
  struct Load {
    double seconds_per_byte = 0;
    LinkId link;
  };

  absl::StatusOr<Route> RouteOf(const StepFlow& flow,
                                absl::Span<const RankId> group) const {
    return routes_.Find(group[flow.source.index()], group[flow.target.index()]);
  }

  void Add(absl::Span<const LinkShare> links, double bytes) {
    for (const LinkShare& part : links) {
      link_bytes_[part.link.index()] += bytes * part.share;
    }
  }

  Load Busiest(absl::Span<const LinkShare> links) const {
    Load busiest;
    for (const LinkShare& part : links) {
      const auto rate = static_cast<double>(
          routes_.topology().type(part.link).bandwidth.count());
      busiest = Worse(busiest,
                      {8 * link_bytes_[part.link.index()] / rate, part.link});
    }
    return busiest;
  }

  static const Load& Worse(const Load& a, const Load& b) {
    return b.seconds_per_byte > a.seconds_per_byte ? b : a;
  }

  Routes& routes_;
  std::vector<double> link_bytes_;
  std::vector<double> fabric_bytes_;  // By fabric route.
  std::vector<Load> busiest_;         // By fabric route.
};

std::vector<Cohort> FormCohorts(const CollectiveAlgorithm& algorithm,
                                absl::Span<const std::vector<RankId>> groups,
                                const Topology& topology) {
  std::map<GroupShape, Cohort> cohorts;
  for (size_t i = 0; i < groups.size(); ++i) {
    const GroupShape shape = ShapeOf(groups[i], topology);
    Cohort& cohort = cohorts[shape];
    if (cohort.members.empty()) {
      cohort.schedule = algorithm.steps(algorithm.kind, shape);
    }
    cohort.members.push_back(i);
  }
  std::vector<Cohort> list;
  list.reserve(cohorts.size());
  for (auto& [_, cohort] : cohorts) list.push_back(std::move(cohort));
  return list;
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

// Adds the steps of all cohorts to one another: the s-th of each happen at the
// same time.
absl::StatusOr<ClosedForms> LayOnLinks(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes) {
  const std::vector<Cohort> cohorts =
      FormCohorts(algorithm, groups, routes.topology());
  ClosedForms result;
  result.groups.resize(groups.size());
  result.link_bytes_per_byte.resize(routes.topology().links().size());

  if (cohorts.empty()) return result;
  const size_t num_steps = cohorts.front().schedule.size();
  std::vector<double> slowest(groups.size(), -1);
  for (size_t s = 0; s < num_steps; ++s) {
    StepLoad load(routes);
    const int64_t repeat = cohorts.front().schedule[s].repeat;
    for (const Cohort& cohort : cohorts) {
      ASTRA_CHECK(cohort.schedule.size() == num_steps &&
                      cohort.schedule[s].repeat == repeat,
                  "groups of one size have the same steps");
      for (const size_t member : cohort.members) {
        ASTRA_RETURN_IF_ERROR(load.Add(cohort.schedule[s], groups[member]));
      }
    }
    load.Spread();
    for (const Cohort& cohort : cohorts) {
      const ScheduleStep& step = cohort.schedule[s];
      for (const size_t member : cohort.members) {
        ASTRA_ASSIGN_OR_RETURN(const ClosedForms::Group cost,
                               load.CostOf(step, groups[member]));
        ClosedForms::Group& total = result.groups[member];
        total.form.latency += repeat * cost.form.latency;
        const double part = static_cast<double>(repeat) * cost.form.ps_per_byte;
        total.form.ps_per_byte += part;
        if (part > slowest[member]) {
          slowest[member] = part;
          total.bottleneck = cost.bottleneck;
        }
      }
    }
    for (size_t link = 0; link < load.link_bytes().size(); ++link) {
      result.link_bytes_per_byte[link] +=
          static_cast<double>(repeat) * load.link_bytes()[link];
    }
  }
  return result;
}

}  // namespace astra
