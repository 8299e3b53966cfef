// Any bytes are a workload or an error, at no more memory than their length
// warrants; a workload, once written, is read back as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "tests/fuzz/memory_meter.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

// A layer takes 24 bytes of text or more and some 200 in memory, which may
// double as the table grows; a word of one letter takes two and 24.
constexpr size_t kMaxBytesPerByte = 200;
constexpr size_t kMaxBytesForAny = size_t{1} << 16;

void Check(std::string_view contents) {
  Warnings warnings;
  const testing::MemoryMeter meter;
  const absl::StatusOr<SimaiText> workload =
      ParseSimaiText("file", contents, &warnings);
  ASTRA_CHECK(
      meter.peak() <= kMaxBytesForAny + kMaxBytesPerByte * contents.size(),
      "{} bytes of memory for a file of {}", meter.peak(), contents.size());
  if (!workload.ok()) {
    ASTRA_CHECK(
        workload.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  // Whether it is a program or an error.
  const absl::StatusOr<Program> program =
      ParseSimaiProgram("file", contents, &warnings);
  ASTRA_CHECK(program.ok() || program.status().message().find('\n') ==
                                  absl::string_view::npos,
              "a message of several lines");
  const std::string text = FormatSimaiText(*workload);
  const absl::StatusOr<SimaiText> again =
      ParseSimaiText("file", text, &warnings);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *workload, "read back as another");
  ASTRA_CHECK(FormatSimaiText(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
