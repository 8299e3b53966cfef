#include "astra-core/apps/fit/kineto_trace.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::json;
using Interval = std::pair<double, double>;  // Begin and end, microseconds.

bool Communicates(std::string_view name) {
  const std::string kernel = LowerCase(name);
  constexpr std::string_view kWords[] = {"nccl", "nvshmem", "deep_ep"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&kernel](std::string_view word) {
                       return kernel.find(word) != std::string::npos;
                     });
}

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

// Takes the events out of a trace while it is parsed, so that it is never in
// memory as a whole.
class Events {
 public:
  // Takes `event`. Sets error() if it is a kernel without times.
  void Take(const Json& event) {
    const std::string category = TextAt(event, "cat");
    const std::string name = TextAt(event, "name");
    if (name.starts_with("ProfilerStep#")) steps_.insert(name);
    if (category != "kernel" || Communicates(name)) return;
    const auto begin = event.find("ts");
    const auto duration = event.find("dur");
    const bool is_timed = begin != event.end() && begin->is_number() &&
                          duration != event.end() && duration->is_number();
    if (!is_timed || duration->get<double>() < 0) {
      error_ = fmt::format(
          "the kernel \"{}\" has no \"ts\" and \"dur\" in microseconds", name);
      return;
    }
    intervals_.emplace_back(begin->get<double>(),
                            begin->get<double>() + duration->get<double>());
  }

  const std::string& error() const { return error_; }
  int64_t steps() const {
    return std::max<int64_t>(1, static_cast<int64_t>(steps_.size()));
  }
  int64_t kernels() const { return static_cast<int64_t>(intervals_.size()); }

  // Returns the microseconds that the intervals cover.
  double Covered() {
    std::sort(intervals_.begin(), intervals_.end());
    double covered = 0;
    double end = -std::numeric_limits<double>::infinity();
    for (const auto& [begin, until] : intervals_) {
      if (until <= end) continue;
      covered += until - std::max(begin, end);
      end = until;
    }
    return covered;
  }

 private:
  std::set<std::string> steps_;
  std::vector<Interval> intervals_;
  std::string error_;
};

}  // namespace

absl::StatusOr<KinetoTrace> ParseKinetoTrace(std::string_view file,
                                             std::string_view contents) {
  const auto error = [file](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", file, what));
  };
  if (contents.starts_with("\x1f\x8b")) {
    return error(
        "it is compressed: expected the JSON itself, as gunzip "
        "writes it");
  }
  Events events;
  constexpr int kEventDepth = 2;
  const auto take = [&events](int depth, Json::parse_event_t event,
                              Json& value) {
    if (depth != kEventDepth || event != Json::parse_event_t::object_end) {
      return true;
    }
    events.Take(value);
    return false;
  };
  const Json trace = Json::parse(contents, take, /*allow_exceptions=*/false);
  if (trace.is_discarded() || !trace.is_object() ||
      trace.find("traceEvents") == trace.end()) {
    return error(
        "expected JSON with \"traceEvents\", as torch.profiler "
        "exports it");
  }
  if (!events.error().empty()) return error(events.error());
  if (events.kernels() == 0) {
    return error(
        "no kernel computes: expected a trace of ProfilerActivity."
        "CUDA");
  }
  KinetoTrace result;
  result.steps = events.steps();
  result.kernels = events.kernels();
  result.computing_seconds = events.Covered() * 1e-6;
  const auto info = trace.find("distributedInfo");
  if (info != trace.end() && info->is_object()) {
    const auto rank = info->find("rank");
    if (rank != info->end() && rank->is_number_unsigned()) {
      result.rank = rank->get<uint32_t>();
    }
  }
  return result;
}

}  // namespace astra
