#include "topology/fabrics/server.h"

#include <algorithm>

namespace astra {

std::vector<ServerNic> EvenNics(uint32_t gpus, uint32_t per_gpu,
                                uint32_t gpus_per_nic) {
  std::vector<ServerNic> nics;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    if (gpu % gpus_per_nic != 0) {
      nics.back().gpus.push_back(gpu);
      continue;
    }
    for (uint32_t i = 0; i < per_gpu; ++i) nics.push_back({.gpus = {gpu}});
  }
  return nics;
}

bool HasGpuWithSeveralNics(const ServerSpec& server) {
  std::vector<bool> has_nic(server.gpus);
  for (const ServerNic& nic : server.nics) {
    for (const uint32_t gpu : nic.gpus) {
      if (has_nic[gpu]) return true;
      has_nic[gpu] = true;
    }
  }
  return false;
}

void KeepGpus(uint32_t gpus, ServerSpec* server) {
  server->gpus = gpus;
  if (gpus == 1) server->nv_switches = 0;
  std::erase_if(server->gpu_cables, [&](const GpuCable& each) {
    return std::max(each.a, each.b) >= gpus;
  });
  for (ServerNic& nic : server->nics) {
    std::erase_if(nic.gpus, [&](uint32_t gpu) { return gpu >= gpus; });
  }
  std::erase_if(server->nics,
                [](const ServerNic& nic) { return nic.gpus.empty(); });
}

}  // namespace astra
