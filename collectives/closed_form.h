// Computes how long a collective takes on the links of a topology, as a
// formula.
//
// Each step of the algorithm is laid on the routed links of all groups at once,
// since all ranks of a job run the same program. Equal-cost paths share evenly.
// A step of a group then takes
//
//   t = a + b S
//
// for a buffer of S bytes, where a is the propagation delay of its longest path
// and b is the largest, over the links that the group uses, of (bytes that all
// groups put on the link) / (S x rate of the link). Steps follow one another.
// The steps of a pipelined schedule work at once: their bytes on a link are
// added up before the busiest link is taken, and only their delays follow one
// another.
//
// Left out: pipelining between the steps of other schedules, queues, and other
// collectives that run at the same time.
//
// Source: R. Thakur et al., "Optimization of Collective Communication
// Operations in MPICH", 2005, for the terms of bandwidth and latency. Here the
// rate of the busiest link replaces their one rate.

#ifndef COLLECTIVES_CLOSED_FORM_H_
#define COLLECTIVES_CLOSED_FORM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/registry.h"
#include "topology/routes.h"

namespace astra {

// Time of a collective of one group: a + b S.
struct ClosedForm {
  TimePs latency;
  double ps_per_byte = 0;

  // Returns a + b S, rounded to a picosecond; at most kMaxCollectiveTime.
  TimePs TimeOf(Bytes bytes) const;

  friend auto operator<=>(const ClosedForm&, const ClosedForm&) = default;
};

// Largest result of TimeOf: 26 days, far beyond anything that is simulated.
inline constexpr TimePs kMaxCollectiveTime(int64_t{1} << 61);

// Costs of a collective that all groups of a dimension run at once.
struct ClosedForms {
  struct Group {
    ClosedForm form;
    LinkId bottleneck;  // The busiest link that the group uses.
  };
  std::vector<Group> groups;  // Costs by group, in the order given.

  // By link: bytes from all groups for each byte of the buffer.
  std::vector<double> link_bytes_per_byte;
};

// Lays `algorithm` over `groups`, each a list of two or more ranks in group
// order. Costs are rounded to 44 significant bits, so that equal groups have
// equal costs, whatever the order in which shares were added up.
//
// `link_efficiency` holds, by link, the share of its rate that a link reaches,
// above 0 and at most 1. If it is empty, all links reach their rate.
//
// Errors: those of the algorithm; those of FindReductionTree if it needs
// reducers; FailedPrecondition if two members that exchange data cannot reach
// one another.
absl::StatusOr<ClosedForms> LayOnLinks(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes,
    absl::Span<const double> link_efficiency = {});

// The same where groups run different algorithms of one kind. `algorithms` has
// one entry for each group, in the same order.
absl::StatusOr<ClosedForms> LayOnLinks(
    absl::Span<const CollectiveAlgorithm> algorithms,
    absl::Span<const std::vector<RankId>> groups, Routes& routes,
    absl::Span<const double> link_efficiency = {});

// Returns only the link_bytes_per_byte of LayOnLinks(), in about half of its
// time. Errors: those of LayOnLinks().
absl::StatusOr<std::vector<double>> LinkBytesPerByte(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes);

}  // namespace astra

#endif  // COLLECTIVES_CLOSED_FORM_H_
