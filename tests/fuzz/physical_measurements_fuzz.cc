// Any bytes are a file of a physical run, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/apps/collective/physical_measurements.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

constexpr std::string_view kRun =
    R"({"program": "simai_physical",)"
    R"( "topology": {"gpus": 4, "gpus_per_server": 1}})";
constexpr std::string_view kCollectives =
    "collective,ranks,algorithm,protocol,bytes,time_us\n";

void CheckRun(std::string_view run_json, std::string_view collectives) {
  const auto run = ParsePhysicalMeasurements({"r", std::string(run_json)},
                                             {"c", std::string(collectives)});
  if (!run.ok()) {
    ASTRA_CHECK(
        std::string(run.status().message()).find('\n') == std::string::npos,
        "a message of several lines");
    return;
  }
  ASTRA_CHECK(run->ranks_per_server <= run->num_ranks, "more than all ranks");
  for (const PhysicalCollective& collective : run->collectives) {
    ASTRA_CHECK(collective.num_ranks <= run->num_ranks, "more than all ranks");
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  astra::CheckRun(input, astra::kCollectives);
  astra::CheckRun(astra::kRun, input);
  return 0;
}
