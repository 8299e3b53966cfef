#include "astra-core/apps/trace_events.h"

#include "astra-core/base/append_format.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

// Names come from the files of users and need not be UTF-8, so other bytes are
// replaced.
std::string Compact(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::string JsonString(std::string_view text) {
  return Compact(nlohmann::ordered_json(std::string(text)));
}

}  // namespace

std::string* TraceEvents::Begin() {
  if (!text_.empty()) text_ += ",\n";
  return &text_;
}

void TraceEvents::NameProcess(uint64_t process, std::string_view name) {
  AppendFormat(
      Begin(),
      R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}},)"
      "\n"
      R"({{"ph":"M","name":"process_sort_index","pid":{},)"
      R"("args":{{"sort_index":{}}}}})",
      process, JsonString(name), process, process);
}

void TraceEvents::NameThread(const TraceTrack& track, std::string_view name) {
  AppendFormat(Begin(),
               R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},)"
               R"("args":{{"name":{}}}}},)"
               "\n"
               R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
               R"("args":{{"sort_index":{}}}}})",
               track.process, track.thread, JsonString(name), track.process,
               track.thread, track.thread);
}

void TraceEvents::Slice(const TraceTrack& track, std::string_view name,
                        TimePs begin, TimePs end, const Arguments& arguments,
                        bool is_wait) {
  AppendFormat(Begin(),
               R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.6f},)"
               R"("dur":{:.6f},{}"args":{}}})",
               JsonString(name), track.process, track.thread,
               ToMicroseconds(begin), ToMicroseconds(end - begin),
               is_wait ? R"("cname":"grey",)" : "", Compact(arguments));
}

void TraceEvents::Mark(const TraceTrack& track, std::string_view name,
                       TimePs time) {
  AppendFormat(
      Begin(),
      R"({{"ph":"i","s":"p","name":{},"pid":{},"tid":{},"ts":{:.6f}}})",
      JsonString(name), track.process, track.thread, ToMicroseconds(time));
}

void TraceEvents::Arrow(uint64_t id, const TraceTrack& from, TimePs begin,
                        const TraceTrack& to, TimePs end) {
  AppendFormat(
      Begin(),
      R"({{"ph":"s","cat":"message","name":"message","id":{},"pid":{},)"
      R"("tid":{},"ts":{:.6f}}},)"
      "\n"
      R"({{"ph":"f","bp":"e","cat":"message","name":"message","id":{},)"
      R"("pid":{},"tid":{},"ts":{:.6f}}})",
      id, from.process, from.thread, ToMicroseconds(begin), id, to.process,
      to.thread, ToMicroseconds(end));
}

void TraceEvents::Rate(uint64_t process, std::string_view name, double us,
                       double gbps) {
  AppendFormat(Begin(),
               R"({{"ph":"C","name":{},"pid":{},"ts":{:.6f},)"
               R"("args":{{"Gbps":{:.3f}}}}})",
               JsonString(name), process, us, gbps);
}

void TraceEvents::Counter(uint64_t process, std::string_view name, TimePs time,
                          const Arguments& values) {
  AppendFormat(
      Begin(), R"({{"ph":"C","name":{},"pid":{},"ts":{:.6f},"args":{}}})",
      JsonString(name), process, ToMicroseconds(time), Compact(values));
}

std::string TraceEvents::Text(const Arguments& remarks) && {
  return fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}"
      "\n",
      Compact(remarks), text_);
}

}  // namespace astra
