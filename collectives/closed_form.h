// How long a collective takes on the links of a topology, as a formula.
//
// Each step of the algorithm is laid on the routed links of all groups at once,
// since all ranks of a job run the same program. Equal-cost paths share evenly.
// A group's step then takes
//
//   t = a + b S
//
// for a buffer of S bytes, where a is the propagation delay of its longest path
// and b the largest, over the links it uses, of (bytes that all groups put on
// the link) / (S x rate of the link). The steps follow one another; but those
// of a pipelined schedule work at once, so what all of them put on a link adds
// up before the busiest is taken, and only their delays follow one another.
//
// What it leaves out: pipelining between the steps of other schedules, queues,
// and other collectives that run at the same time.
//
// Source: the bandwidth and latency terms are those of R. Thakur et al.,
// "Optimization of Collective Communication Operations in MPICH", 2005; the
// laying on links replaces their one rate by that of the busiest link.

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

// The time of a collective of one group: a + b S.
struct ClosedForm {
  TimePs latency;
  double ps_per_byte = 0;

  // a + b S, rounded to the nearest picosecond; at most kMaxCollectiveTime.
  TimePs TimeOf(Bytes bytes) const;

  friend auto operator<=>(const ClosedForm&, const ClosedForm&) = default;
};

// What TimeOf never exceeds: 26 days, far beyond anything that is simulated.
inline constexpr TimePs kMaxCollectiveTime(int64_t{1} << 61);

// A collective of all the groups of a dimension at once.
struct ClosedForms {
  struct Group {
    ClosedForm form;
    LinkId bottleneck;  // The busiest of the links that the group uses.
  };
  std::vector<Group> groups;  // In the order given.

  // By link: the bytes it carries for each byte of the buffer, from all groups.
  std::vector<double> link_bytes_per_byte;
};

// Lays `algorithm` over `groups`, each a list of ranks in group order, two or
// more. Costs are rounded to 44 significant bits, so that equal groups have
// equal costs, whatever the order in which shares were added up.
//
// A link carries `link_efficiency` times its rate, above 0 and at most 1, by
// link; none is 1 for all.
//
// Errors: those of the algorithm; those of FindReductionTree if it needs
// reducers; FailedPrecondition if two members that exchange data cannot reach
// one another.
absl::StatusOr<ClosedForms> LayOnLinks(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes,
    absl::Span<const double> link_efficiency = {});

// The link_bytes_per_byte of LayOnLinks() alone, in about half of its time.
// Errors: as above.
absl::StatusOr<std::vector<double>> LinkBytesPerByte(
    const CollectiveAlgorithm& algorithm,
    absl::Span<const std::vector<RankId>> groups, Routes& routes);

}  // namespace astra

#endif  // COLLECTIVES_CLOSED_FORM_H_
