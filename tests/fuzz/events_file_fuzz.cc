// Any bytes are a file of events, or an error of one line. What is read happens
// in order, to cables and GPUs that exist.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/run/events_file.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

// Four GPUs, two a server, below switch 4, which switch 5 stands above.
Topology MakeTopology() {
  TopologyBuilder builder(4, 2, "H100");
  for (int i = 0; i < 2; ++i) builder.AddSwitch(NodeKind::kSwitch);
  const LinkTypeId type = *builder.AddLinkType("400Gbps", "500ns", "0");
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    ASTRA_CHECK(builder.AddCable(NodeId(gpu), NodeId(4), type).ok(), "GPU {}",
                gpu);
  }
  ASTRA_CHECK(builder.AddCable(NodeId(4), NodeId(5), type).ok(), "switch");
  return *std::move(builder).Build();
}

void Check(std::string_view input) {
  static const Topology topology = MakeTopology();
  const absl::StatusOr<RunEvents> events = ParseEvents("f", input, topology);
  if (!events.ok()) {
    ASTRA_CHECK(
        std::string(events.status().message()).find('\n') == std::string::npos,
        "a message of several lines");
    return;
  }
  ASTRA_CHECK(!events->empty() && !events->texts.empty(), "nothing happens");
  TimePs last;
  for (const LinkEvent& event : events->links) {
    ASTRA_CHECK(event.time >= last && event.rate_factor >= 0, "{}", event.time);
    ASTRA_CHECK(event.a < event.b && event.b.index() < topology.num_nodes(),
                "{} and {}", event.a, event.b);
    last = event.time;
  }
  for (const SpeedChange& change : events->speeds) {
    ASTRA_CHECK(change.rank.index() < topology.num_gpus() && change.speed >= 0,
                "{}", change.rank);
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
