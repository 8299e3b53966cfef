// Any bytes are a SimAI.conf, which can be written as a network file, or an
// error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "network-frontends/config/network_file.h"
#include "network-frontends/config/simai_conf.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  Warnings warnings;
  const absl::StatusOr<PacketOptions> options =
      ParseSimaiConf("file", contents, &warnings);
  ASTRA_CHECK(options.status().message().find('\n') == absl::string_view::npos,
              "a message of several lines");
  if (!options.ok()) return;
  const absl::Status written =
      ParseNetworkFile("written", WriteNetworkFile(*options)).status();
  ASTRA_CHECK(written.ok(), "{}", written.ToString());
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
