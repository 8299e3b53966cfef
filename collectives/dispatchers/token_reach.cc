#include "collectives/dispatchers/token_reach.h"

#include <algorithm>
#include <cmath>

namespace astra {
namespace {

// log C(n, k) for real n >= k.
double LogChoose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// C(m - held, k) / C(m, k): the share of choices of k out of m that avoid
// `held` of them.
double AvoidingShare(double m, double held, double k) {
  if (m - held < k) return 0;
  return std::exp(LogChoose(m - held, k) - LogChoose(m, k));
}

// Returns the probability that no expert of a token is in `own` whole groups.
double AvoidsGroups(const ExpertRouting& routing, double own) {
  const auto k = static_cast<double>(routing.top_k);
  const auto groups = static_cast<double>(routing.groups);
  const auto chosen = static_cast<double>(routing.top_groups);
  const double group_size = static_cast<double>(routing.experts) / groups;
  double avoided = 0;
  for (double j = std::max(0.0, chosen + own - groups);
       j <= std::min(own, chosen); ++j) {
    const double probability =
        std::exp(LogChoose(own, j) + LogChoose(groups - own, chosen - j) -
                 LogChoose(groups, chosen));
    avoided +=
        probability * AvoidingShare(chosen * group_size, j * group_size, k);
  }
  return avoided;
}

}  // namespace

double PartsReached(const ExpertRouting& routing, uint32_t parts) {
  const auto experts = static_cast<double>(routing.experts);
  const auto groups = static_cast<double>(routing.groups);
  if (parts >= routing.groups) {  // A part lies in one group.
    const double chosen = static_cast<double>(routing.top_groups) / groups;
    return parts * chosen *
           (1 - AvoidingShare(chosen * experts, experts / parts,
                              static_cast<double>(routing.top_k)));
  }
  const double own = groups / parts;  // Groups of a part.
  const double whole = std::floor(own);
  double avoided = AvoidsGroups(routing, whole);
  if (own > whole) {
    avoided += (own - whole) * (AvoidsGroups(routing, whole + 1) - avoided);
  }
  return parts * (1 - avoided);
}

}  // namespace astra
