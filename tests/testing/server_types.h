// A type of server for tests of fabrics, which know no systems.

#ifndef TESTS_TESTING_SERVER_TYPES_H_
#define TESTS_TESTING_SERVER_TYPES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "topology/fabrics/server.h"

namespace astra::testing {

// "quad" has 4 GPUs at an NVSwitch and 2 NICs, each of which two GPUs share;
// "pair" has 2 GPUs that a cable joins, and no NIC.
inline ServerTypeSources SmallServerTypes() {
  return {.named = [](const std::string& name) -> absl::StatusOr<ServerType> {
    ServerType type;
    type.name = name;
    type.server.gpu_type = "A100";
    if (name == "quad") {
      type.server.gpus = 4;
      type.server.nvlink = {"2400Gbps", "250ns", "0"};
      type.server.nics = EvenNics(4, 1, 2);
      type.nic = {"200Gbps", "500ns", "0"};
      return type;
    }
    if (name != "pair") return absl::NotFoundError("no such type");
    type.server.gpus = 2;
    type.server.nv_switches = 0;
    type.server.gpu_cables = {{0, 1, {"800Gbps", "250ns", "0"}}};
    return type;
  }};
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_SERVER_TYPES_H_
