// Any bytes are a network, which is written so that it is read back as it was,
// or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "network-frontends/config/network_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const absl::StatusOr<PacketOptions> options =
      ParseNetworkFile("file", contents);
  ASTRA_CHECK(options.status().message().find('\n') == absl::string_view::npos,
              "a message of several lines");
  if (!options.ok()) return;
  const std::string text = WriteNetworkFile(*options);
  const absl::StatusOr<PacketOptions> again = ParseNetworkFile("written", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(WriteNetworkFile(*again) == text, "{}", text);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
