// Strong types for the three quantities that every model exchanges:
//
//   TimePs     picoseconds; an instant is the time since the simulation began
//   Bytes      bytes; KiB, MiB and GiB are powers of 1024
//   Bandwidth  bits per second; Mbps and Gbps are powers of 1000
//
// Each type wraps one int64_t and costs as much. A TimePs spans 106 days.
// Operations without physical sense do not compile, such as a TimePs plus a
// Bytes. Arithmetic is on integers and exact, unless a function says how it
// rounds.

#ifndef ASTRA_CORE_BASE_UNITS_H_
#define ASTRA_CORE_BASE_UNITS_H_

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

#include "absl/numeric/int128.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {

// A signed count of one unit. `Unit` holds the unit's name, kSuffix, and keeps
// quantities of different units apart.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t count) : count_(count) {}

  constexpr int64_t count() const { return count_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.count_ + b.count_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.count_ - b.count_);
  }
  friend constexpr Quantity operator*(int64_t times, Quantity a) {
    return Quantity(times * a.count_);
  }
  constexpr Quantity& operator+=(Quantity b) { return *this = *this + b; }
  constexpr Quantity& operator-=(Quantity b) { return *this = *this - b; }

 private:
  int64_t count_ = 0;
};

struct PicosecondUnit {
  static constexpr std::string_view kSuffix = "ps";
};
struct ByteUnit {
  static constexpr std::string_view kSuffix = "B";
};
struct BitPerSecondUnit {
  static constexpr std::string_view kSuffix = "bps";
};

using TimePs = Quantity<PicosecondUnit>;
using Bytes = Quantity<ByteUnit>;
using Bandwidth = Quantity<BitPerSecondUnit>;

// The instant of what does not happen.
inline constexpr TimePs kNever(std::numeric_limits<int64_t>::max());

constexpr TimePs Nanoseconds(int64_t n) { return TimePs(n * 1'000); }
constexpr TimePs Microseconds(int64_t n) { return TimePs(n * 1'000'000); }
constexpr Bytes KiB(int64_t n) { return Bytes(n << 10); }
constexpr Bytes MiB(int64_t n) { return Bytes(n << 20); }
constexpr Bandwidth Mbps(int64_t n) { return Bandwidth(n * 1'000'000); }
constexpr Bandwidth Gbps(int64_t n) { return Bandwidth(n * 1'000'000'000); }

inline constexpr int64_t kPsPerUs = 1'000'000;
inline constexpr int64_t kPsPerSecond = 1'000'000'000'000;
inline constexpr double kPercent = 100;  // Times a share, in text.

// Conversions for reports.
constexpr double ToMicroseconds(TimePs t) {
  return static_cast<double>(t.count()) * 1e-6;
}
constexpr double ToMilliseconds(TimePs t) { return ToMicroseconds(t) * 1e-3; }
constexpr double ToSeconds(TimePs t) {
  return static_cast<double>(t.count()) * 1e-12;
}
inline constexpr double kBytesPerGib = 1 << 30;
constexpr double ToGib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / kBytesPerGib;
}
constexpr double ToGbps(Bandwidth rate) {
  return static_cast<double>(rate.count()) * 1e-9;
}

// Returns how fast `volume` moves in `time`, in GB/s (1 GB = 10^9 B, as in
// nccl-tests); 0 if no time passes.
constexpr double GigabytesPerSecond(Bytes volume, TimePs time) {
  if (time.count() == 0) return 0;
  return 1e3 * static_cast<double>(volume.count()) /
         static_cast<double>(time.count());
}

// Returns `share` times `time`, rounded to the nearest picosecond. Requires
// share >= 0.
inline TimePs ShareOf(double share, TimePs time) {
  return TimePs(std::llround(share * static_cast<double>(time.count())));
}

// Returns the time to serialise `volume` onto a link of `rate`. It is rounded
// up to a whole picosecond, so that a link is never faster than its rate.
// Requires volume >= 0 and rate > 0. The 128-bit division takes tens of
// nanoseconds; packet code calls this function once per link and packet size,
// not once per packet.
inline TimePs TransferTime(Bytes volume, Bandwidth rate) {
  ASTRA_CHECK(volume.count() >= 0, "volume {}", volume.count());
  ASTRA_CHECK(rate.count() > 0, "rate {}", rate.count());
  constexpr int64_t kBitPicosecondsPerByteSecond = 8 * 1'000'000'000'000;
  const absl::int128 bit_ps =
      absl::int128(volume.count()) * kBitPicosecondsPerByteSecond;
  const absl::int128 time_ps = (bit_ps + (rate.count() - 1)) / rate.count();
  return TimePs(static_cast<int64_t>(time_ps));
}

namespace internal {

// Writes "COUNTsuffix". The function is compiled once, so that sources that
// print quantities do not compile the formatting of integers again.
fmt::format_context::iterator FormatQuantity(int64_t count,
                                             std::string_view suffix,
                                             fmt::format_context& context);

}  // namespace internal
}  // namespace astra

// Prints a quantity as "1500ps", "64B" or "400000000000bps".
template <class Unit>
struct fmt::formatter<astra::Quantity<Unit>> {
  constexpr auto parse(format_parse_context& context) {
    return context.begin();
  }
  auto format(astra::Quantity<Unit> quantity, format_context& context) const {
    return astra::internal::FormatQuantity(quantity.count(), Unit::kSuffix,
                                           context);
  }
};

#endif  // ASTRA_CORE_BASE_UNITS_H_
