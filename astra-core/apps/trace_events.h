// The trace event format: JSON that Perfetto and chrome://tracing draw.
//
// A trace is made of processes, each of threads, on which slices lie; an arrow
// leads from one slice to another. Here processes are what tracks belong to.
//
// Source: "Trace Event Format", Google.

#ifndef ASTRA_CORE_APPS_TRACE_EVENTS_H_
#define ASTRA_CORE_APPS_TRACE_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/units.h"
#include "nlohmann/json_fwd.hpp"

namespace astra {

// Where something lies.
struct TraceTrack {
  uint64_t process = 0;
  uint64_t thread = 0;
};

// A list of events in the order in which they are added.
class TraceEvents {
 public:
  using Arguments = nlohmann::ordered_json;  // An object.

  void NameProcess(uint64_t process, std::string_view name);
  void NameThread(const TraceTrack& track, std::string_view name);

  // `is_wait` makes it grey where the viewer has colours to choose.
  void Slice(const TraceTrack& track, std::string_view name, TimePs begin,
             TimePs end, const Arguments& arguments, bool is_wait = false);

  // A mark across the process.
  void Mark(const TraceTrack& track, std::string_view name, TimePs time);

  // From the slice of `from` at `begin` to that of `to` at `end`.
  void Arrow(uint64_t id, const TraceTrack& from, TimePs begin,
             const TraceTrack& to, TimePs end);

  // A value of `process` from `us` on, in Gbps.
  void Rate(uint64_t process, std::string_view name, double us, double gbps);

  // The whole file; `remarks` are shown as facts about the trace.
  std::string Text(const Arguments& remarks) &&;

 private:
  std::string* Begin();

  std::string text_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_EVENTS_H_
