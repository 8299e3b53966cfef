#include "network-frontends/config/amounts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Unit {
  std::string_view name;
  int64_t scale;
};

// Units in the order in which they are tried. A size that is a multiple of a
// power of 1000 is written so, unless it is a whole number of MiB.
constexpr Unit kSizes[] = {{"GiB", int64_t{1} << 30},
                           {"MiB", int64_t{1} << 20},
                           {"GB", 1'000'000'000},
                           {"MB", 1'000'000},
                           {"kB", 1'000},
                           {"KiB", 1 << 10},
                           {"B", 1}};
constexpr Unit kTimes[] = {{"s", 1'000'000'000'000},
                           {"ms", 1'000'000'000},
                           {"us", 1'000'000},
                           {"ns", 1'000},
                           {"ps", 1}};
constexpr Unit kRates[] = {{"Tbps", 1'000'000'000'000},
                           {"Gbps", 1'000'000'000},
                           {"Mbps", 1'000'000},
                           {"kbps", 1'000},
                           {"bps", 1}};

constexpr int64_t kMaxSize = int64_t{1} << 53;

std::string Written(int64_t count, absl::Span<const Unit> units) {
  if (count == 0) return fmt::format("0{}", units.back().name);
  const auto unit = std::find_if(
      units.begin(), units.end(),
      [&](const Unit& candidate) { return count % candidate.scale == 0; });
  return fmt::format("{}{}", count / unit->scale, unit->name);
}

}  // namespace

absl::StatusOr<Bytes> ParseSize(std::string_view text) {
  const size_t end =
      std::min(text.find_first_not_of("0123456789"), text.size());
  const auto unit =
      std::find_if(std::begin(kSizes), std::end(kSizes),
                   [&](const Unit& u) { return u.name == text.substr(end); });
  if (unit != std::end(kSizes)) {
    const absl::StatusOr<int64_t> count =
        ParseInteger("", text.substr(0, end), 0, kMaxSize / unit->scale);
    if (count.ok()) return Bytes(*count * unit->scale);
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} is not a size: expected a whole number and a unit of B, kB, MB, GB, "
      "KiB, MiB or GiB, such as 64MiB",
      Quoted(text)));
}

std::string SizeText(Bytes size) { return Written(size.count(), kSizes); }
std::string TimeText(TimePs time) { return Written(time.count(), kTimes); }
std::string RateText(Bandwidth rate) { return Written(rate.count(), kRates); }

}  // namespace astra
