// A small cluster with rails.

#ifndef TESTS_TESTING_RAILS_H_
#define TESTS_TESTING_RAILS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "tests/testing/matchers.h"
#include "topology/topology.h"
#include "topology/topology_builder.h"

namespace astra::testing {

// Servers of two GPUs, each with an NVSwitch, and two switches: one for the
// first GPUs of all servers and one for the second, with links of 400 Gbps and
// 500 ns. Nodes are the GPUs, the NVSwitches and the two switches.
inline Topology Rails(uint32_t num_servers, const std::string& nvlink_latency) {
  TopologyBuilder builder(2 * num_servers, 2, "H100");
  const LinkTypeId nvlink =
      ValueOrDie(builder.AddLinkType("2880Gbps", nvlink_latency, "0"));
  const LinkTypeId fabric =
      ValueOrDie(builder.AddLinkType("400Gbps", "500ns", "0"));
  for (uint32_t gpu = 0; gpu < 2 * num_servers; gpu += 2) {
    const NodeId node = builder.AddSwitch(NodeKind::kNvSwitch);
    EXPECT_TRUE(builder.AddCable(NodeId(gpu), node, nvlink).ok());
    EXPECT_TRUE(builder.AddCable(NodeId(gpu + 1), node, nvlink).ok());
  }
  for (uint32_t rail = 0; rail < 2; ++rail) {
    const NodeId node = builder.AddSwitch(NodeKind::kSwitch);
    for (uint32_t gpu = rail; gpu < 2 * num_servers; gpu += 2) {
      EXPECT_TRUE(builder.AddCable(NodeId(gpu), node, fabric).ok());
    }
  }
  return ValueOrDie(std::move(builder).Build());
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_RAILS_H_
