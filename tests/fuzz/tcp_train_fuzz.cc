// Any bytes are a train or an error; the runs of a train are whole IPv4 packets
// that carry its payload between them.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/apps/testbed/tcp_train.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

void Check(absl::Span<const uint8_t> piece) {
  const absl::StatusOr<TcpTrain> train = TcpTrain::Parse(piece);
  if (!train.ok()) return;
  const uint32_t packets = train->num_packets();
  const uint32_t step = 1 + packets / 5;
  size_t payload = 0;
  for (uint32_t first = 0; first < packets; first += step) {
    const uint32_t count = std::min(step, packets - first);
    const TcpTrain::Run run = train->Cut(piece, first, count);
    ASTRA_CHECK(run.headers_size <= run.headers.size(), "{}", run.headers_size);
    ASTRA_CHECK(run.payload_begin + run.payload_size <= piece.size(), "{} + {}",
                run.payload_begin, run.payload_size);
    payload += run.payload_size;
  }
  const TcpTrain::Run whole = train->Cut(piece, 0, packets);
  ASTRA_CHECK(payload == whole.payload_size, "{} of {}", payload,
              whole.payload_size);
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({data, size});
  return 0;
}
