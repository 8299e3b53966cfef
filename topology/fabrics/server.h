// What a server, which is an NVLink domain, is made of: GPUs, what joins them,
// and NICs. A file says it in numbers, or names a type of server.

#ifndef TOPOLOGY_FABRICS_SERVER_H_
#define TOPOLOGY_FABRICS_SERVER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/fabrics/cable.h"

namespace astra {

// A cable between two GPUs of a server, by their numbers in the server.
struct GpuCable {
  uint32_t a = 0;
  uint32_t b = 0;
  CableSpec cable;

  friend bool operator==(const GpuCable&, const GpuCable&) = default;
};

// A NIC of a server, or a port of a NIC with several.
struct ServerNic {
  // GPUs that send through this NIC, by their numbers in the server. If there
  // are several, they share the rate of the NIC.
  std::vector<uint32_t> gpus;
  std::string name = {};  // Name on the host, such as "mlx5_0"; may be empty.
  uint32_t port = 1;      // Number of the port.
};

struct ServerSpec {
  static constexpr uint32_t kMaxGpus = 16'384;  // Of a server, or of a rack.
  static constexpr uint32_t kMaxNics = 65'536;

  uint32_t count = 1;
  uint32_t gpus = 8;
  std::string gpu_type = "H100";
  // Switches within the server, or none. With several trays each tray of GPUs
  // has `nv_switches` of its own, and `second_level` switches join all trays.
  uint32_t nv_switches = 1;
  uint32_t trays = 1;
  uint32_t second_level = 0;
  CableSpec nvlink = {"3600Gbps", "25ns", "0"};
  std::vector<GpuCable> gpu_cables;
  std::vector<ServerNic> nics;  // Ordered by the lowest of their GPUs.
};

// The cables of NICs. Each NIC has a port to each of `planes` fabrics.
struct NicSpec {
  uint32_t planes = 1;
  CableSpec cable = {"400Gbps", "500ns", "0"};
};

// A server that is known by name, or from the files of a real one.
struct ServerType {
  std::string name;
  // Its `count` is unused. The rate of `nvlink` is that of all NVSwitches
  // together, which are drawn as one: NVLink spreads each message over them.
  ServerSpec server;
  CableSpec nic =
      {};  // Cable of each NIC. The rate is empty if there is no NIC.
};

// Where types of servers come from. The functions return errors whose messages
// say what was expected.
struct ServerTypeSources {
  // Finds a type by name.
  std::function<absl::StatusOr<ServerType>(const std::string& name)> named;
  // Reads a type from a topology file that NCCL wrote.
  std::function<absl::StatusOr<ServerType>(const std::string& path)>
      nccl_topology;
};

// Returns the NICs of `gpus` GPUs: `per_gpu` NICs of each GPU, or, if
// `gpus_per_nic` is above 1, a NIC for that many successive GPUs. The last NIC
// has the GPUs that are left.
std::vector<ServerNic> EvenNics(uint32_t gpus, uint32_t per_gpu,
                                uint32_t gpus_per_nic);

// Returns whether some GPU sends through more than one NIC.
bool HasGpuWithSeveralNics(const ServerSpec& server);

// Takes away all GPUs but the first `gpus`, with the cables and NICs that no
// GPU is left for. Requires at least one GPU.
void KeepGpus(uint32_t gpus, ServerSpec* server);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_SERVER_H_
