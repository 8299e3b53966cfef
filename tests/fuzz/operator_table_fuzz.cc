// Any bytes are a table of measured operators, in our own form, Vidur's or the
// estimator's, or an error of one line; its samples, once written in our own
// form, are read back as the same.
//
// The first line is the name of the file, which in the estimator's form counts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "tests/fuzz/memory_meter.h"
#include "workload/operators/operator_table.h"

namespace astra {
namespace {

// A row of Vidur's takes some 40 bytes of text and ten samples of 250 bytes,
// which may double as the table grows, and the name of the file in each.
constexpr size_t kMaxBytesPerByte = 200;
constexpr size_t kMaxBytesForAny = size_t{1} << 18;
constexpr size_t kMaxNameSize = 64;

void Check(std::string_view input) {
  const size_t end = input.substr(0, kMaxNameSize).find('\n');
  if (end == std::string_view::npos) return;
  const std::string_view file = input.substr(0, end);
  const std::string_view contents = input.substr(end + 1);
  Warnings warnings;
  const testing::MemoryMeter meter;
  const absl::StatusOr<OperatorSamples> samples =
      ParseAnyOperatorTable(file, contents, "GPU", &warnings);
  ASTRA_CHECK(meter.peak() <= kMaxBytesForAny + kMaxBytesPerByte * input.size(),
              "{} bytes of memory for a file of {}", meter.peak(),
              input.size());
  if (!samples.ok()) {
    ASTRA_CHECK(
        samples.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  const std::string text = FormatOperatorTable(*samples);
  const absl::StatusOr<OperatorSamples> again =
      ParseOperatorTable("file", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *samples, "read back as another");
  ASTRA_CHECK(FormatOperatorTable(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
