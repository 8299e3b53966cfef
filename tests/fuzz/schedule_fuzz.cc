// Any bytes are a schedule or an error of one line; a schedule is read as it
// was written, and its graph has its flows.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "astra-core/base/check.h"
#include "collectives/schedules/schedule_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const auto schedule = ParseSchedule("file", contents);
  if (!schedule.ok()) {
    ASTRA_CHECK(
        schedule.status().message().find('\n') == absl::string_view::npos,
        "a message of several lines");
    return;
  }
  const auto written = WriteSchedule(*schedule);
  ASTRA_CHECK(written.ok(), "{}", written.status().ToString());
  const auto again = ParseSchedule("written", *written);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(
      again->name() == schedule->name() && again->flows() == schedule->flows(),
      "another schedule");

  const ChunkedCollective& collective = schedule->collective();
  const auto request = CollectiveRequest::Create(
      collective.kind, Bytes(12'345),
      std::make_shared<const GroupLayout>(
          GroupLayout::Even(1, collective.num_ranks)));
  ASTRA_CHECK(request.ok(), "{}", request.status().ToString());
  const auto rooted = request->WithRoot(GroupRank(collective.root));
  ASTRA_CHECK(rooted.ok(), "{}", rooted.status().ToString());
  const auto graph = schedule->Lower(*rooted);
  ASTRA_CHECK(graph.ok(), "{}", graph.status().ToString());
  ASTRA_CHECK((*graph)->num_flows() == schedule->flows().size(), "{} flows",
              (*graph)->num_flows());
  ASTRA_CHECK(schedule->Steps(*rooted).ok(), "no steps");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
