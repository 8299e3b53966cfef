// Any bytes are a program or an error of one line; a program, once written, is
// read back as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/program_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const absl::StatusOr<Program> program = ParseProgram("file", contents);
  if (!program.ok()) {
    ASTRA_CHECK(
        program.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  const std::string text = FormatProgram(*program);
  ASTRA_CHECK(IsProgram(text), "not known as a program");
  const absl::StatusOr<Program> again = ParseProgram("file", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *program, "read back as another");
  ASTRA_CHECK(FormatProgram(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
