// Tests that CheckPacketOptions refuses options that do not fit a topology.

#include "network-frontends/packet/packet_options.h"

#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.

// A full packet of 4096 B and 82 B of headers takes 11.606 ns at 2880 Gbps, and
// one of 9052 B 25.144 ns.
TEST(PacketOptionsTest, AFullPacketTakesAWholeStepOfTheResolution) {
  const Topology topology = Drawing(2, 1, 0, 1)
                                .Cable(0, 2, "2880Gbps", "25ns")
                                .Cable(1, 2, "400Gbps", "500ns")
                                .Build();
  PacketOptions options;
  for (const TimePs step : {TimePs(1), Nanoseconds(1), Nanoseconds(11)}) {
    options.time_resolution = step;
    EXPECT_TRUE(CheckPacketOptions(options, topology).ok()) << step.count();
  }
  options.time_resolution = Nanoseconds(100);
  EXPECT_THAT(
      CheckPacketOptions(options, topology),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "time_resolution is 100 ns, but a full packet of 4178 B takes "
               "11.606 ns on the fastest link, at 2880 Gbps: expected no more "
               "than that"));
  options.nic.payload = Bytes(9000);
  options.nic.header = Bytes(52);
  options.time_resolution = Nanoseconds(25);
  EXPECT_TRUE(CheckPacketOptions(options, topology).ok());
}

TEST(PacketOptionsTest, BackgroundNeedsAnEnd) {
  PacketOptions options;
  options.background = {{.source = NodeId(0),
                         .target = NodeId(1),
                         .bytes = KiB(1),
                         .interval = Microseconds(1),
                         .start = {},
                         .stop = {}}};
  EXPECT_THAT(CheckPacketOptions(options, Chain(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "background needs stop, a time after start"));
}

}  // namespace
}  // namespace astra
