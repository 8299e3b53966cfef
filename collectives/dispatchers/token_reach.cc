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

}  // namespace

double PartsReached(const ExpertRouting& routing, uint32_t parts) {
  const auto experts = static_cast<double>(routing.experts);
  const auto k = static_cast<double>(routing.top_k);
  const auto groups = static_cast<double>(routing.groups);
  const auto chosen = static_cast<double>(routing.top_groups);
  const double group_size = experts / groups;
  const double chosen_experts = chosen * group_size;
  const double held = experts / parts;
  if (parts >= routing.groups) {  // A part lies in one group.
    return parts * chosen / groups *
           (1 - AvoidingShare(chosen_experts, held, k));
  }
  const double own = groups / parts;  // Groups of a part.
  double avoided = 0;
  double sum = 0;
  for (double j = std::max(0.0, std::ceil(chosen + own - groups));
       j <= std::min(own, chosen); ++j) {
    const double probability =
        std::exp(LogChoose(own, j) + LogChoose(groups - own, chosen - j) -
                 LogChoose(groups, chosen));
    sum += probability;
    avoided += probability * AvoidingShare(chosen_experts, j * group_size, k);
  }
  return parts * (1 - avoided / sum);
}

}  // namespace astra
