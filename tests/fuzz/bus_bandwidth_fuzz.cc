// The bus bandwidth reader on any bytes: it must not crash, and what it accepts
// must give times that make sense.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/bus_bandwidth_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<astra::BusBandwidths> file =
      astra::ParseBusBandwidths("f", text);
  if (!file.ok()) return 0;
  for (const auto& [key, gb_per_s] : file->entries()) {
    const astra::ClosedForm form =
        astra::AtBusBandwidth(key.second, 8, gb_per_s);
    ASTRA_CHECK(form.TimeOf(astra::MiB(1)) >= astra::TimePs(0), "{} GB/s",
                gb_per_s);
  }
  return 0;
}
