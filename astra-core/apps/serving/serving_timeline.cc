#include "astra-core/apps/serving/serving_timeline.h"

#include <string_view>
#include <utility>

#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

std::string_view KindOf(const StepRecord& step) {
  if (step.prompt_tokens == 0) return "decode";
  return step.decodes == 0 ? "prefill" : "mixed";
}

TraceEvents::Arguments WorkOf(const StepRecord& step) {
  TraceEvents::Arguments work = {{"sequences", step.sequences},
                                 {"prompt_tokens", step.prompt_tokens},
                                 {"decodes", step.decodes},
                                 {"decode_context", step.decode_context},
                                 {"samples", step.samples}};
  if (step.preemptions > 0) work["preemptions"] = step.preemptions;
  return work;
}

constexpr std::string_view kBlocks = "KV blocks";
constexpr std::string_view kSequences = "sequences";
constexpr std::string_view kRate = "tokens/s";

}  // namespace

void ServingTimeline::OnStep(const StepRecord& step) {
  if (++steps_ > kMostTimelineSteps) return;
  const uint64_t process = uint64_t{step.replica} + 1;
  const auto [end, is_new] = ends_.try_emplace(process, step.start);
  if (is_new) {
    events_.NameProcess(
        process,
        fmt::format("{} {}", step.is_decode_pool ? "decode replica" : "replica",
                    step.replica));
    events_.NameThread({process, 0}, "steps");
  } else if (end->second < step.start) {
    AddIdle(process, end->second);
  }
  end->second = step.start + step.duration;
  events_.Slice({process, 0}, KindOf(step), step.start, end->second,
                WorkOf(step));
  AddCounters(process, step);
}

void ServingTimeline::AddCounters(uint64_t process, const StepRecord& step) {
  const double seconds =
      static_cast<double>(step.duration.count()) / kPsPerSecond;
  events_.Counter(process, kBlocks, step.start,
                  {{"used", step.used_blocks}, {"cached", step.cached_blocks}});
  events_.Counter(process, kSequences, step.start,
                  {{"running", step.running}, {"waiting", step.waiting}});
  events_.Counter(process, kRate, step.start,
                  {{"output", static_cast<double>(step.samples) / seconds}});
}

void ServingTimeline::AddIdle(uint64_t process, TimePs time) {
  events_.Counter(process, kBlocks, time, {{"used", 0}});
  events_.Counter(process, kSequences, time, {{"running", 0}, {"waiting", 0}});
  events_.Counter(process, kRate, time, {{"output", 0}});
}

std::string ServingTimeline::Text() && {
  for (const auto& [process, end] : ends_) AddIdle(process, end);
  TraceEvents::Arguments remarks = TraceEvents::Arguments::object();
  if (steps_ > kMostTimelineSteps) {
    remarks["steps left out"] = steps_ - kMostTimelineSteps;
  }
  return std::move(events_).Text(remarks);
}

}  // namespace astra
