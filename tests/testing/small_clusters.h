// The clusters that tests of collectives and of the engine run on.

#ifndef TESTS_TESTING_SMALL_CLUSTERS_H_
#define TESTS_TESTING_SMALL_CLUSTERS_H_

#include <cstdint>
#include <string>

#include "tests/testing/topologies.h"

namespace astra::testing {

// One server of `num_gpus` below one NVSwitch.
inline Topology OneServer(uint32_t num_gpus, const std::string& rate,
                          const std::string& latency) {
  Drawing drawing(num_gpus, num_gpus, 1, 0);
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    drawing.Cable(gpu, num_gpus, rate, latency);
  }
  return drawing.Build();
}

// Every GPU linked to every other, without a switch; one server.
inline Topology FullMesh(uint32_t num_gpus, const std::string& rate,
                         const std::string& latency) {
  Drawing drawing(num_gpus, num_gpus, 0, 0);
  for (uint32_t a = 0; a < num_gpus; ++a) {
    for (uint32_t b = a + 1; b < num_gpus; ++b) {
      drawing.Cable(a, b, rate, latency);
    }
  }
  return drawing.Build();
}

// Servers of `per_server` GPUs: an NVSwitch of 800 Gbps in each, and one switch
// for all, to which each GPU has 400 Gbps. No propagation delay.
inline Topology Star(uint32_t num_servers, uint32_t per_server) {
  const uint32_t num_gpus = num_servers * per_server;
  Drawing drawing(num_gpus, per_server, num_servers, 1);
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    drawing.Cable(gpu, num_gpus + gpu / per_server, "800Gbps", "0ns");
    drawing.Cable(gpu, num_gpus + num_servers, "400Gbps", "0ns");
  }
  return drawing.Build();
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_SMALL_CLUSTERS_H_
