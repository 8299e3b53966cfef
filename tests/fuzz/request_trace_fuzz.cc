// Any bytes are a trace of requests, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/serving/request_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  astra::Warnings warnings;
  const auto trace = astra::ParseRequestTrace(
      "file", text, {.speed_up = 2, .max_tokens = 1'000'000}, &warnings);
  for (const std::string& warning : warnings) {
    ASTRA_CHECK(warning.find('\n') == std::string::npos, "several lines");
  }
  if (!trace.ok()) {
    ASTRA_CHECK(trace.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return 0;
  }
  ASTRA_CHECK(!trace->requests.empty(), "no request");
  astra::TimePs last;
  for (const astra::Request& request : trace->requests) {
    ASTRA_CHECK(request.arrival >= last, "arrivals fall");
    ASTRA_CHECK(request.prompt_tokens > 0 && request.output_tokens > 0,
                "no tokens");
    last = request.arrival;
  }
  return 0;
}
