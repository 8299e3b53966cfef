// Any bytes are a log of nccl-tests or an error of one line; its rows become a
// table of as many.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/measurements/nccl_tests_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<astra::NcclTestsLog> log =
      astra::ParseNcclTestsLog("f", input);
  if (!log.ok()) {
    const std::string message(log.status().message());
    ASTRA_CHECK(message.find('\n') == std::string::npos,
                "a message of several lines");
    return 0;
  }
  ASTRA_CHECK(!log->rows.empty(), "a log without rows");
  const astra::MeasuredTable table = astra::TabulateLog(*log, {});
  ASTRA_CHECK(table.rows.size() == log->rows.size(), "{} rows became {}",
              log->rows.size(), table.rows.size());
  return 0;
}
