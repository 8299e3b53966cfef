// How much more than the mean the busiest rank of a mixture of experts has to
// do, if the tokens are spread over the experts by a power law.
//
// The load of an expert has the density x^-a on [1, most]; here the loads of E
// experts are its quantiles at (i + 1/2)/E. The experts lie on the ranks by
// chance, so the load of the busiest rank is the mean over many ways to place
// them.
//
// Source: the power laws with exponents 1.01 and 1.2 by which NVIDIA's
// AIConfigurator spreads tokens when it measures experts.

#ifndef WORKLOAD_MODULES_EXPERT_SKEW_H_
#define WORKLOAD_MODULES_EXPERT_SKEW_H_

#include <cstdint>

namespace astra {

// Returns the load of the busiest of `ranks` over the mean. `most` is that of
// the busiest expert over that of the idlest. Deterministic. Requires that the
// ranks divide the experts, exponent >= 0 and most >= 1.
double PowerLawLoad(double exponent, double most, int64_t experts,
                    int64_t ranks);

}  // namespace astra

#endif  // WORKLOAD_MODULES_EXPERT_SKEW_H_
