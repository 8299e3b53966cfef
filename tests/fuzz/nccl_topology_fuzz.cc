// Any bytes are a topology file of NCCL or an error of one line. The server
// that a file gives draws two servers on one switch.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "astra-core/base/check.h"
#include "topology/discovered/nccl_topology.h"

namespace astra {
namespace {

void CheckMessage(std::string_view message) {
  ASTRA_CHECK(message.find('\n') == std::string_view::npos,
              "a message of several lines");
}

void Check(std::string_view input) {
  Warnings warnings;
  const absl::StatusOr<ServerType> type =
      ParseNcclTopology("f", input, &warnings);
  for (const std::string& warning : warnings) CheckMessage(warning);
  CheckMessage(std::string(type.status().message()));
  if (!type.ok()) return;
  const ServerSpec& server = type->server;
  ASTRA_CHECK(server.gpus > 0, "a server without GPUs");
  ASTRA_CHECK(server.nics.empty() == type->nic.rate.empty(),
              "NICs without a rate");
  for (const ServerNic& nic : server.nics) {
    ASTRA_CHECK(!nic.gpus.empty(), "a NIC of no GPU");
    for (const uint32_t gpu : nic.gpus) {
      ASTRA_CHECK(gpu < server.gpus, "a NIC of a GPU that is not there");
    }
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
