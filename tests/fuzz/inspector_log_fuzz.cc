// Any bytes are a log of NCCL's inspector or an error of one line. Curves of
// its records have ascending sizes, each with its own time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "collectives/measurements/inspector_log.h"
#include "collectives/measurements/measured_times.h"

namespace astra {
namespace {

constexpr auto kNone = std::string::npos;

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(std::string(status.message()).find('\n') == kNone,
              "a message of several lines");
}

void CheckRecord(const InspectorRecord& record) {
  ASTRA_CHECK(record.problem.find('\n') == kNone, "a problem of several lines");
  if (!record.problem.empty()) return;
  ASTRA_CHECK(record.num_ranks % record.num_nodes == 0, "{} ranks on {} nodes",
              record.num_ranks, record.num_nodes);
  ASTRA_CHECK(record.size.count() > 0 && record.time_us > 0, "{} B in {} us",
              record.size.count(), record.time_us);
}

void CheckCurve(const MeasuredCurve& curve) {
  const auto model = [](Bytes bytes) -> absl::StatusOr<double> {
    return 1.0 + static_cast<double>(bytes.count());
  };
  for (size_t i = 0; i < curve.sizes.size(); ++i) {
    ASTRA_CHECK(i == 0 || curve.sizes[i - 1] < curve.sizes[i],
                "sizes do not ascend");
    const absl::StatusOr<SourcedTime> time =
        MeasuredTimeOf(curve, curve.sizes[i], model);
    ASTRA_CHECK(time.ok() && time->time_us == curve.times_us[i],
                "a size has another time");
    const absl::StatusOr<SourcedTime> next =
        MeasuredTimeOf(curve, curve.sizes[i] + Bytes(1), model);
    ASTRA_CHECK(next.ok() && next->time_us > 0, "no time");
  }
}

void Check(std::string_view input) {
  const absl::StatusOr<InspectorLog> log = ParseInspectorLog("f", input);
  CheckMessage(log.status());
  if (log.ok()) {
    ASTRA_CHECK(!log->records.empty(), "a log without records");
    for (const InspectorRecord& record : log->records) CheckRecord(record);
  }
  const std::vector<NamedFile> files = {{"f", std::string(input)}};
  const absl::StatusOr<MeasuredTimes> times = MeasuredTimes::Parse(files, {});
  CheckMessage(times.status());
  if (!times.ok()) return;
  for (const auto& [group, curve] : times->curves()) CheckCurve(curve);
  for (const std::string& note : times->notes()) {
    ASTRA_CHECK(note.find('\n') == kNone, "a note of several lines");
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
