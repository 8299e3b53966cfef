// To how many ranks and servers a token goes.
//
// Experts lie on the ranks in order, equally many on each. Routers are taken to
// choose at random: first `top_groups` of the groups, then `top_k` of the
// experts of these. So a part of 1/u of the experts, which holds whole groups
// or lies in one, is visited with the probability
//
//   1 - sum over j of P(j of its groups are chosen)
//           C(m - j e, k) / C(m, k)
//
// for m = experts of the chosen groups, j e of them in the part, and k = top_k;
// P is hypergeometric. Times u, that is the number of parts visited.
//
// Sources: DeepSeek-V3, arXiv 2412.19437, section 2.1.2 (node-limited routing);
// DeepEP, tests/test_internode.py, whose tokens are routed like this.

#ifndef COLLECTIVES_DISPATCHERS_TOKEN_REACH_H_
#define COLLECTIVES_DISPATCHERS_TOKEN_REACH_H_

#include <cstdint>

#include "astra-core/base/expert_routing.h"

namespace astra {

// Returns on average how many of `parts` equal parts of the experts (those of
// ranks or of servers) hold an expert of a token. Requires experts and top_k of
// 1 or more, top_k at most the experts of the chosen groups, and 1 part or
// more. Parts that do not divide the experts count with the share that they
// would have, and those that do not divide the groups with the mean of parts of
// one group less and one more, by their share.
double PartsReached(const ExpertRouting& routing, uint32_t parts);

}  // namespace astra

#endif  // COLLECTIVES_DISPATCHERS_TOKEN_REACH_H_
