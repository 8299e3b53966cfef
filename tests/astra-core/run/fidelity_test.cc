#include "astra-core/run/fidelity.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TEST(FidelityTest, EveryNetworkIsAFidelity) {
  for (const BackendEntry& network : Backends()) {
    const Fidelity fidelity = ValueOrDie(FindFidelity(network.name));
    EXPECT_EQ(NetworkOf(fidelity), &network);
    EXPECT_EQ(Name(fidelity), network.name);
    EXPECT_EQ(Describe(fidelity), network.description);
  }
  EXPECT_EQ(std::size(kFidelities), Backends().size() + 1);
}

TEST(FidelityTest, TheClosedFormHasNoNetwork) {
  EXPECT_EQ(NetworkOf(ValueOrDie(FindFidelity("closed-form"))), nullptr);
}

TEST(FidelityTest, OthersAreRefused) {
  EXPECT_THAT(FindFidelity("packets"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unknown --fidelity \"packets\"; did you mean "
                       "\"packet\"? (known: closed-form, analytical, flow, "
                       "packet)"));
}

}  // namespace
}  // namespace astra
