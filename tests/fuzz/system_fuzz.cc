// Any bytes are an interconnect, a transport or a system, or an error of one
// line; a system is written so that it is read back as it was.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/systems/system_library.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(status.message().find('\n') == absl::string_view::npos,
              "a message of several lines");
}

void Check(std::string_view contents) {
  CheckMessage(ParseInterconnect("file", contents).status());
  CheckMessage(ParseTransport("file", contents).status());
  const absl::StatusOr<SystemSpec> system =
      ParseSystem("file", contents, BundledParts());
  CheckMessage(system.status());
  if (!system.ok()) return;
  const std::string text = WriteSystem(*system);
  const absl::StatusOr<SystemSpec> again =
      ParseSystem("written", text, BundledParts());
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(WriteSystem(*again) == text, "{}", text);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
