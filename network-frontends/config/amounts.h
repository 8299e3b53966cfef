// Reads and writes times, rates and sizes as network files spell them.

#ifndef NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_
#define NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

// Parses a size such as "82B", "800kB" or "64MiB": a whole number, zero or
// more, and one of the units B, kB, MB, GB (powers of 1000), KiB, MiB, GiB
// (powers of 1024).
//
// Errors: InvalidArgument, which quotes the text, if the text is not a size or
// the size is above 2^53 bytes.
absl::StatusOr<Bytes> ParseSize(std::string_view text);

// Write a value as a whole number of the largest unit that fits, so that
// parsing returns the same value. Require a value of at least 0.
std::string SizeText(Bytes size);
std::string TimeText(TimePs time);
std::string RateText(Bandwidth rate);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_AMOUNTS_H_
