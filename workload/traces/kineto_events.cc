#include "workload/traces/kineto_events.h"

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/traces/gzip.h"

namespace astra {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kExpected = "expected a trace of PyTorch's profiler";
constexpr std::string_view kEvents = "traceEvents";

KinetoHeader HeaderOf(const Json& root) {
  KinetoHeader header;
  const auto devices = root.find("deviceProperties");
  if (devices != root.end() && devices->is_array() && !devices->empty() &&
      devices->front().is_object()) {
    const auto name = devices->front().find("name");
    if (name != devices->front().end() && name->is_string()) {
      header.gpu = name->get<std::string>();
    }
  }
  const auto job = root.find("distributedInfo");
  if (job != root.end() && job->is_object()) {
    const auto rank = job->find("rank");
    if (rank != job->end() && rank->is_number_unsigned() &&
        rank->get<uint64_t>() <= UINT32_MAX) {
      header.rank = rank->get<uint32_t>();
    }
  }
  return header;
}

}  // namespace

absl::StatusOr<KinetoHeader> ReadKinetoEvents(
    std::string_view file, std::string_view contents,
    const std::function<void(const nlohmann::json& event)>& take) {
  std::string unpacked;
  const bool is_packed = IsGzip(contents);
  if (is_packed) {
    ASTRA_ASSIGN_OR_RETURN(unpacked,
                           Gunzip(file, contents, kMaxInputFileBytes));
    contents = unpacked;
  }
  bool are_events = false;  // Whether the key of the root is kEvents.
  const auto take_event = [&](int depth, Json::parse_event_t event,
                              const Json& parsed) {
    constexpr int kKeyDepth = 1;
    constexpr int kEventDepth = 2;
    if (depth == kKeyDepth && event == Json::parse_event_t::key) {
      are_events = parsed.get_ref<const std::string&>() == kEvents;
    }
    if (!are_events || depth != kEventDepth ||
        event != Json::parse_event_t::object_end) {
      return true;
    }
    take(parsed);
    return false;
  };
  Json root;
  try {
    root = Json::parse(contents, take_event);
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}: byte {}{}: no JSON; {}", file, error.byte,
                    is_packed ? " of what it unpacks to" : "", kExpected));
  } catch (const Json::out_of_range& error) {
    // The only such error of the parser. Its text ends with the number.
    const std::string_view text = error.what();
    return absl::InvalidArgumentError(
        fmt::format("{}: the number {} does not fit 64 bits; {}", file,
                    text.substr(text.find('\'')), kExpected));
  }
  const bool has_events = root.is_object() && root.contains(kEvents) &&
                          root.at(std::string(kEvents)).is_array();
  if (!has_events) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no list \"{}\"; {}", file, kEvents, kExpected));
  }
  return HeaderOf(root);
}

}  // namespace astra
