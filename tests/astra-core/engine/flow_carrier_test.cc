#include "astra-core/engine/flow_carrier.h"

#include <vector>

#include "astra-core/base/units.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three GPUs at 1 GB/s, without delay: 1000 bytes take 1 us.
class FlowCarrierTest : public ::testing::Test {
 protected:
  // From rank 0, to the rank of another port for each flow.
  void Leave(uint64_t flow, TimePs before, TimePs after, int64_t bytes = 1000) {
    carrier_.Leave({.flow = FlowId(flow)},
                   {.id = {},
                    .source = NodeId(0),
                    .target = NodeId(flow % 2 == 0 ? 1 : 2),
                    .bytes = Bytes(bytes)},
                   before, after);
  }

  std::vector<uint64_t> AdvanceTo(TimePs limit) {
    std::vector<CarriedFlow> done;
    carrier_.AdvanceTo(limit, &done);
    std::vector<uint64_t> flows;
    for (const CarriedFlow& flow : done) flows.push_back(flow.flow.index());
    return flows;
  }

  Topology mesh_ = FullMesh(3, "8Gbps", "0ns");
  Routes routes_{mesh_};
  AnalyticalBackend network_{routes_};
  FlowCarrier carrier_{network_};
};

TEST_F(FlowCarrierTest, AFlowIsDoneAfterItsDelaysAndItsMessage) {
  Leave(0, TimePs(5), TimePs(7));
  EXPECT_EQ(carrier_.num_under_way(), 1u);
  EXPECT_THAT(AdvanceTo(Microseconds(1) + TimePs(11)), IsEmpty());
  EXPECT_EQ(network_.now(), Microseconds(1) + TimePs(11));
  EXPECT_THAT(AdvanceTo(kNever), ElementsAre(0));
  EXPECT_EQ(network_.now(), Microseconds(1) + TimePs(12));
  EXPECT_EQ(carrier_.num_under_way(), 0u);
}

// Flow 1 is ready when flow 0 has arrived, and when its delay ends.
TEST_F(FlowCarrierTest, FlowsOfOneInstantComeInTheirOrder) {
  Leave(1, Nanoseconds(500), TimePs(0), 500);
  Leave(0, TimePs(0), TimePs(0));
  EXPECT_THAT(AdvanceTo(kNever), ElementsAre(0, 1));
  EXPECT_EQ(network_.now(), Microseconds(1));
}

// Both take the port at one instant: the lower flow goes first, though the
// other one has the lower slot.
TEST_F(FlowCarrierTest, MessagesOfOneInstantLeaveInTheOrderOfFlows) {
  Leave(2, TimePs(5), TimePs(0));
  Leave(0, TimePs(5), TimePs(0));
  EXPECT_THAT(AdvanceTo(kNever), ElementsAre(0));
  EXPECT_EQ(network_.now(), Microseconds(1) + TimePs(5));
  EXPECT_THAT(AdvanceTo(kNever), ElementsAre(2));
}

TEST_F(FlowCarrierTest, KnowsWhatIsUnderWay) {
  Leave(2, TimePs(0), TimePs(0));
  Leave(1, TimePs(0), TimePs(9));
  Leave(0, Microseconds(9), TimePs(0));
  carrier_.Leave({.communicator = 3, .number = 4, .flow = FlowId(8)},
                 {.id = {}, .source = NodeId(1), .target = NodeId(2)},
                 Microseconds(9), TimePs(0));
  EXPECT_THAT(AdvanceTo(Microseconds(1)), ElementsAre(2));
  EXPECT_THAT(carrier_.UnderWay(0, 0),
              ElementsAre(CarriedFlow{.flow = FlowId(0)},
                          CarriedFlow{.flow = FlowId(1)}));
  EXPECT_THAT(carrier_.UnderWay(3, 4),
              ElementsAre(CarriedFlow{3, 4, FlowId(8)}));
  EXPECT_THAT(carrier_.UnderWay(3, 5), IsEmpty());
}

}  // namespace
}  // namespace astra
