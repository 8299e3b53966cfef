// Reads the file of PyTorch's profiler (Kineto) event by event, so that a trace
// of millions of events is never in memory as a whole.
//
// Source: pytorch.org/docs/stable/profiler.html, export_chrome_trace; Kineto's
// output_json.cpp.

#ifndef WORKLOAD_TRACES_KINETO_EVENTS_H_
#define WORKLOAD_TRACES_KINETO_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

// What the file says beside its events.
struct KinetoHeader {
  std::string gpu;    // Name of the first GPU; empty if the file does not say.
  uint32_t rank = 0;  // In the job; 0 if the file does not say.
};

// Calls `take` with each event of "traceEvents", in the order of the file.
// `contents` are JSON, or JSON that gzip has packed.
//
// Errors: those of Gunzip(), up to kMaxInputFileBytes; InvalidArgument "FILE:
// ..." for what is no JSON, or has no events.
absl::StatusOr<KinetoHeader> ReadKinetoEvents(
    std::string_view file, std::string_view contents,
    const std::function<void(const nlohmann::json& event)>& take);

}  // namespace astra

#endif  // WORKLOAD_TRACES_KINETO_EVENTS_H_
