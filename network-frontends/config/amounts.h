// Times, rates and sizes as network files spell them.

#ifndef NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_
#define NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

// A size such as "82B", "800kB" or "64MiB", zero or more: B, kB, MB, GB (powers
// of 1000) or KiB, MiB, GiB (of 1024), a whole number of them.
//
// Errors: InvalidArgument, with the text, if it is none, or above 2^53.
absl::StatusOr<Bytes> ParseSize(std::string_view text);

// In a large unit of which it is a whole number; reads back as it was. Requires
// a value of at least 0.
std::string SizeText(Bytes size);
std::string TimeText(TimePs time);
std::string RateText(Bandwidth rate);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_
