// Any bytes are a fabric of ibnetdiscover or an error of one line. What a small
// fabric draws is a topology that is valid, or an error.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "topology/discovered/discovered_fabric.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

void CheckMessage(std::string_view message) {
  ASTRA_CHECK(message.find('\n') == std::string_view::npos,
              "a message of several lines");
}

void Check(std::string_view input) {
  const absl::StatusOr<IbFabric> fabric = ParseIbnetdiscover("f", input);
  CheckMessage(std::string(fabric.status().message()));
  constexpr size_t kSmall = 1000;
  if (!fabric.ok() || fabric->nodes.size() > kSmall) return;
  Warnings warnings;
  ServerType type;
  type.name = "a server";
  const std::vector<FabricHost> found = FindHosts("f", *fabric, &warnings);
  AddNicsOfMostHosts(found, &type.server);
  const auto hosts = MatchNics(found, type, false, "f", *fabric, &warnings);
  CheckMessage(std::string(hosts.status().message()));
  if (!hosts.ok()) return;
  const absl::StatusOr<Topology> topology = DrawDiscoveredFabric(
      "f", *fabric, *hosts, type.server, {"", "500ns", "0"}, &warnings);
  CheckMessage(std::string(topology.status().message()));
  for (const std::string& warning : warnings) CheckMessage(warning);
  if (!topology.ok()) return;
  ASTRA_CHECK(ParseTopology("t", FormatTopology(*topology)).ok(),
              "its own file");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
