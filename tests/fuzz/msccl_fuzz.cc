// Any bytes are an algorithm of MSCCL or an error of one line; what of it can
// be written as YAML is read as it was written.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/schedules/msccl_file.h"
#include "collectives/schedules/schedule_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  Warnings warnings;
  const auto schedule = ParseMsccl("file", contents, &warnings);
  for (const std::string& warning : warnings) {
    ASTRA_CHECK(warning.find('\n') == std::string::npos,
                "a warning of several lines");
  }
  if (!schedule.ok()) {
    ASTRA_CHECK(
        schedule.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  const auto written = WriteSchedule(*schedule);
  if (!written.ok()) return;
  const auto again = ParseSchedule("written", *written);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(again->flows() == schedule->flows(), "another schedule");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
