// Any bytes are a table or a trace of Vidur, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/vidur/vidur_model.h"
#include "workload/vidur/vidur_profile.h"
#include "workload/vidur/vidur_requests.h"

namespace {

void CheckLine(const absl::Status& status) {
  ASTRA_CHECK(status.message().find('\n') == absl::string_view::npos,
              "a message of several lines");
}

void CheckTable(astra::VidurTable table, std::string_view text,
                astra::Warnings* warnings) {
  astra::VidurReplica replica;
  replica.model = *astra::FindVidurModel("meta-llama/Meta-Llama-3-8B");
  replica.device = *astra::FindVidurDevice("a100");
  const bool is_network = table == astra::VidurTable::kAllReduce;
  replica.tensor = is_network ? 2 : 1;
  astra::VidurSamples samples;
  const absl::Status status = astra::ReadVidurTable(
      table, "file", text, replica, false, &samples, warnings);
  CheckLine(status);
  if (!status.ok()) return;
  for (const astra::TrainingSet& set : samples) {
    ASTRA_CHECK(set.values.size() == set.size() * set.features.size(),
                "a sample without its features");
    for (const double time : set.times_us) ASTRA_CHECK(time > 0, "no time");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  astra::Warnings warnings;
  for (size_t i = 0; i < astra::kVidurTableNames.size(); ++i) {
    CheckTable(static_cast<astra::VidurTable>(i), text, &warnings);
  }
  for (const bool has_times : {false, true}) {
    astra::VidurLoad load;
    const auto rows =
        astra::ParseVidurTrace("file", text, has_times, &warnings);
    CheckLine(rows.status());
    if (!rows.ok()) continue;
    load.trace = *rows;
    const auto requests = astra::ReplayVidurTrace(load);
    CheckLine(requests.status());
    if (!requests.ok()) continue;
    for (const astra::Request& request : *requests) {
      ASTRA_CHECK(request.prompt_tokens > 0 && request.output_tokens > 0 &&
                      request.tokens() <= load.max_tokens,
                  "lengths that are not allowed");
    }
  }
  for (const std::string& warning : warnings) {
    ASTRA_CHECK(warning.find('\n') == std::string::npos, "several lines");
  }
  return 0;
}
