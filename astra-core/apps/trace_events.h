// Writes the trace event format: JSON that Perfetto and chrome://tracing draw.
//
// A trace consists of processes, and each process of threads, on which slices
// lie. An arrow leads from one slice to another. Here a process stands for the
// owner of tracks, such as a class of ranks.
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

// Place of a slice in a trace.
struct TraceTrack {
  uint64_t process = 0;
  uint64_t thread = 0;
};

// A list of events in the order in which they are added.
class TraceEvents {
 public:
  using Arguments = nlohmann::ordered_json;  // A JSON object.

  void NameProcess(uint64_t process, std::string_view name);
  void NameThread(const TraceTrack& track, std::string_view name);

  // Adds a slice. `is_wait` makes it grey where the viewer can choose colours.
  void Slice(const TraceTrack& track, std::string_view name, TimePs begin,
             TimePs end, const Arguments& arguments, bool is_wait = false);

  // Adds a mark across the process.
  void Mark(const TraceTrack& track, std::string_view name, TimePs time);

  // Adds an arrow from the slice of `from` at `begin` to the slice of `to` at
  // `end`.
  void Arrow(uint64_t id, const TraceTrack& from, TimePs begin,
             const TraceTrack& to, TimePs end);

  // Adds a value of `process`, in Gbps, that holds from `us` microseconds on.
  void Rate(uint64_t process, std::string_view name, double us, double gbps);

  // Adds values of `process`, such as {"running": 4}, that hold from `time` on.
  void Counter(uint64_t process, std::string_view name, TimePs time,
               const Arguments& values);

  // Returns the whole file; viewers show `remarks` as facts about the trace.
  std::string Text(const Arguments& remarks) &&;

 private:
  std::string* Begin();

  std::string text_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_EVENTS_H_
