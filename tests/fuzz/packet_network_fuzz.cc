// Any bytes are a small packet network with options and messages, of which
// random_network.h says what must hold.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "tests/network-frontends/packet/random_network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using astra::testing::Choices;
  Choices choices(absl::MakeConstSpan(data, size));
  const astra::testing::RandomNetwork network =
      astra::testing::DrawNetwork(choices);
  const absl::Status status = astra::testing::CheckNetwork(network);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  const auto skipped = astra::testing::CheckSkipping(network);
  ASTRA_CHECK(skipped.ok(), "{}", skipped.status().ToString());
  return 0;
}
