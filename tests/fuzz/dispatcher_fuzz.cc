// Any bytes are a dispatcher, or a routing, or errors of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/dispatchers/token_reach.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(status.message().find('\n') == absl::string_view::npos,
              "a message of several lines");
}

void Check(std::string_view contents) {
  CheckMessage(ParseDispatcher("file", contents).status());
  const absl::StatusOr<ExpertDispatch> routing = ParseRouting(contents);
  if (!routing.ok()) return;
  for (const uint32_t parts : {1U, 3U, 64U}) {
    const double reached = PartsReached(routing->routing, parts);
    ASTRA_CHECK(reached >= 0 && reached <= parts + 1e-6, "{} of {}", reached,
                parts);
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
