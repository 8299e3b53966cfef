// Any bytes are tables of a profile or an error of one line; times of tables
// are finite and above 0, a line can be fitted to them, and what is written of
// them reads back as the same.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/planner/internevo/evo_profile.h"

namespace astra {
namespace {

void CheckError(const absl::Status& status) {
  ASTRA_CHECK(status.message().find('\n') == absl::string_view::npos,
              "a message of several lines");
}

void CheckCurve(const EvoCurve& curve) {
  for (const double size : {1.0, 1e6, 1e12, 1e25}) {
    const double seconds = curve.Seconds(size);
    ASTRA_CHECK(std::isfinite(seconds) && seconds > 0, "{} s", seconds);
  }
  const EvoLine line = FitLine(curve);
  ASTRA_CHECK(line.start >= 0 && line.rate > 0 && std::isfinite(line.rate) &&
                  std::isfinite(line.worst_error),
              "{} s, {} a second", line.start, line.rate);
}

void Check(std::string_view contents) {
  const absl::StatusOr<EvoCurve> products = ReadEvoProducts("f", contents);
  if (products.ok()) {
    CheckCurve(*products);
  } else {
    CheckError(products.status());
  }
  const auto collectives = ReadEvoCollectives("f", contents);
  if (!collectives.ok()) return CheckError(collectives.status());
  for (const auto& [key, curve] : *collectives) CheckCurve(curve);
  const std::string text = FormatEvoCollectives(*collectives);
  const auto again = ReadEvoCollectives("written", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(FormatEvoCollectives(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
