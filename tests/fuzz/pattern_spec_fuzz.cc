// Any bytes are patterns, or an error of one line. What is parsed is drawn on
// small clusters, unless it asks for many messages.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "network-frontends/traffic/traffic_draw.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(IsPlain(std::string(status.message())), "{}", status.ToString());
}

bool IsSmall(const PatternSpec& spec) {
  constexpr double kMostBits = 1e6;
  if (!spec.rate) return true;
  return static_cast<double>(spec.rate->count()) * 1e-12 *
             static_cast<double>(spec.duration.count()) <
         kMostBits;
}

void Check(std::string_view contents) {
  const absl::StatusOr<std::vector<PatternSpec>> specs =
      ParsePatterns(contents);
  CheckMessage(specs.status());
  if (!specs.ok()) return;
  ASTRA_CHECK(!specs->empty(), "no pattern");
  constexpr size_t kMostPatterns = 4;
  if (specs->size() > kMostPatterns) return;
  for (const PatternSpec& spec : *specs) {
    if (!IsSmall(spec)) return;
  }
  for (const uint32_t num_ranks : {1U, 2U, 6U}) {
    const absl::StatusOr<Traffic> traffic = DrawTraffic(*specs, num_ranks, 1);
    CheckMessage(traffic.status());
    if (!traffic.ok()) continue;
    ASTRA_CHECK(!traffic->messages.empty(), "no message");
    TimePs last;
    for (const TrafficMessage& message : traffic->messages) {
      ASTRA_CHECK(message.start >= last, "{} after {}", message.start, last);
      last = message.start;
      ASTRA_CHECK(message.source != message.target &&
                      message.source.index() < num_ranks &&
                      message.target.index() < num_ranks &&
                      message.bytes >= Bytes(1),
                  "{} to {}", message.source, message.target);
    }
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
