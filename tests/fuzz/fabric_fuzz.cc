// Any bytes are a fabric, or an error of one line. A small fabric draws a
// topology that is valid, or an error.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "tests/testing/server_types.h"
#include "topology/fabrics/fabric_file.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(std::string(status.message()).find('\n') == std::string::npos,
              "a message of several lines");
}

void Check(std::string_view input) {
  constexpr int64_t kSmall = 1000;
  Warnings warnings;
  const absl::StatusOr<FabricSpec> spec =
      ParseFabric("f", input, testing::SmallServerTypes(), &warnings);
  CheckMessage(spec.status());
  for (const std::string& warning : warnings) {
    CheckMessage(absl::InvalidArgumentError(warning));
  }
  if (!spec.ok()) return;
  const ServerSpec& servers = spec->servers;
  const int64_t per_server = static_cast<int64_t>(2 * servers.nics.size()) +
                             int64_t{servers.trays} * servers.nv_switches +
                             servers.second_level;
  if (servers.count * per_server * spec->nics.planes > kSmall) return;
  if (spec->storage &&
      int64_t{spec->storage->servers} * spec->storage->nics > kSmall) {
    return;
  }
  if (servers.nv_switches > 50 || servers.second_level > 50) return;
  const absl::StatusOr<Topology> topology = DrawFabric(*spec);
  CheckMessage(topology.status());
  if (!topology.ok() || topology->links().size() > 10 * kSmall) return;
  ASTRA_CHECK(ParseTopology("t", FormatTopology(*topology)).ok(),
              "its own file");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
