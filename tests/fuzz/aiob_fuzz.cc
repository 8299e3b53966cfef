// Any bytes are an AIOB file or an error of one line; a file, once written, is
// read back as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "tests/fuzz/memory_meter.h"
#include "workload/operators/aiob_file.h"

namespace astra {
namespace {

// A section takes some 50 bytes of text and 250 in memory; one that is not
// complete takes three.
constexpr size_t kMaxBytesPerByte = 200;
constexpr size_t kMaxBytesForAny = size_t{1} << 16;

void Check(std::string_view contents) {
  const testing::MemoryMeter meter;
  const absl::StatusOr<AiobFile> file = ParseAiob("file", contents);
  ASTRA_CHECK(
      meter.peak() <= kMaxBytesForAny + kMaxBytesPerByte * contents.size(),
      "{} bytes of memory for a file of {}", meter.peak(), contents.size());
  if (!file.ok()) {
    ASTRA_CHECK(file.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  const std::string text = FormatAiob(*file);
  const absl::StatusOr<AiobFile> again = ParseAiob("file", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *file, "read back as another");
  ASTRA_CHECK(FormatAiob(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
