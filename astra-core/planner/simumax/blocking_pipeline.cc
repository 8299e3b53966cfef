#include "astra-core/planner/simumax/blocking_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

// Computes, and then exchanges messages at once.
struct Action {
  double compute_ms = 0;
  std::vector<size_t> messages = {};
};

// Numbers the messages of all micro-batches between places of the model.
class Messages {
 public:
  explicit Messages(const PipelineShape& shape) : shape_(shape) {}

  size_t count() const {
    return static_cast<size_t>(2 * shape_.micro_batches * places());
  }

  // Returns the message that the slot of `stage` needs, or makes; none at the
  // ends of the model.
  std::optional<size_t> Input(int64_t stage, const Slot& slot) const {
    const int64_t place = PlaceOf(stage, slot);
    const bool is_forward = slot.kind == SlotKind::kForward;
    if (place == (is_forward ? 0 : places() - 1)) return std::nullopt;
    return Number(is_forward, slot.micro_batch, place);
  }
  std::optional<size_t> Output(int64_t stage, const Slot& slot) const {
    const int64_t place = PlaceOf(stage, slot);
    const bool is_forward = slot.kind == SlotKind::kForward;
    if (place == (is_forward ? places() - 1 : 0)) return std::nullopt;
    return Number(is_forward, slot.micro_batch, place + (is_forward ? 1 : -1));
  }

 private:
  int64_t places() const { return shape_.stages * shape_.chunks; }
  int64_t PlaceOf(int64_t stage, const Slot& slot) const {
    return slot.chunk * shape_.stages + stage;
  }
  // A message has the number of the place that receives it.
  size_t Number(bool is_forward, int64_t micro_batch, int64_t place) const {
    const int64_t direction = is_forward ? 0 : 1;
    return static_cast<size_t>(
        (direction * shape_.micro_batches + micro_batch) * places() + place);
  }

  PipelineShape shape_;
};

using Group = absl::Span<const Slot>;

// Cuts the slots of a stage into groups without an exchange in between.
std::vector<Group> GroupsOf(Group slots, bool has_chunks) {
  const auto is_forward = [](const Slot& slot) {
    return slot.kind == SlotKind::kForward;
  };
  const auto forwards = std::count_if(slots.begin(), slots.end(), is_forward);
  const auto* const backward =
      std::find_if_not(slots.begin(), slots.end(), is_forward);
  const bool has_steady = backward - slots.begin() < forwards;
  std::vector<Group> groups;
  for (size_t i = 0; i < slots.size(); i += groups.back().size()) {
    const bool is_pair = has_chunks && has_steady && i + 1 < slots.size() &&
                         is_forward(slots[i]) && !is_forward(slots[i + 1]);
    groups.push_back(slots.subspan(i, is_pair ? 2 : 1));
  }
  return groups;
}

// Returns what a stage does, in order.
std::vector<Action> ActionsOf(const PipelineShape& shape, int64_t stage,
                              const Messages& messages,
                              const std::vector<ChunkTimes>& times) {
  const bool has_chunks = shape.chunks > 1;
  const std::vector<Slot> slots =
      SlotsOf(DefaultSchedule(shape.chunks), shape, stage);
  const std::vector<Group> groups = GroupsOf(slots, has_chunks);
  std::vector<Action> actions;
  const auto exchange = [&](Group before, Group after) {
    std::vector<size_t> all;
    for (const Slot& slot : before) {
      if (const auto sent = messages.Output(stage, slot)) all.push_back(*sent);
    }
    const size_t num_sent = all.size();
    for (const Slot& slot : after) {
      if (const auto got = messages.Input(stage, slot)) all.push_back(*got);
    }
    if (has_chunks) {
      actions.push_back({.messages = std::move(all)});
      return;
    }
    // The other stage is the same where the slots have other directions. It
    // waits for this one until both alternate forwards and backwards.
    const bool alternates = shape.stages - stage - 1 < shape.micro_batches;
    const bool has_both = alternates && num_sent == 1 && all.size() == 2 &&
                          before.front().kind != after.front().kind;
    if (has_both && stage % 2 == 0) std::swap(all[0], all[1]);
    for (const size_t message : all) actions.push_back({.messages = {message}});
  };
  exchange({}, groups.front());
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const Slot& slot : groups[i]) {
      const ChunkTimes& chunk = times[static_cast<size_t>(slot.chunk)];
      actions.push_back({.compute_ms = slot.kind == SlotKind::kForward
                                           ? chunk.forward_ms
                                           : chunk.backward_ms});
    }
    exchange(groups[i], i + 1 < groups.size() ? groups[i + 1] : Group());
  }
  return actions;
}

struct Stage {
  std::vector<Action> actions;
  size_t next = 0;
  bool has_posted = false;  // The messages of the next action.
  double now_ms = 0;
};

struct Message {
  std::optional<size_t> first;  // The stage that came to it first.
  double ready_ms = 0;
  std::optional<double> end_ms;
};

class Rendezvous {
 public:
  Rendezvous(std::vector<Stage> stages, size_t num_messages, double message_ms)
      : stages_(std::move(stages)),
        messages_(num_messages),
        message_ms_(message_ms) {}

  double Run() {
    std::deque<size_t> awake;
    for (size_t i = 0; i < stages_.size(); ++i) awake.push_back(i);
    while (!awake.empty()) {
      const size_t stage = awake.front();
      awake.pop_front();
      Advance(stage, awake);
    }
    double end = 0;
    for (const Stage& stage : stages_) {
      ASTRA_CHECK(stage.next == stage.actions.size(),
                  "stages of a pipeline wait for one another");
      end = std::max(end, stage.now_ms);
    }
    return end;
  }

 private:
  void Advance(size_t index, std::deque<size_t>& awake) {
    Stage& stage = stages_[index];
    while (stage.next < stage.actions.size()) {
      const Action& action = stage.actions[stage.next];
      if (!stage.has_posted) Post(index, action, awake);
      for (const size_t message : action.messages) {
        if (!messages_[message].end_ms) return;
      }
      for (const size_t message : action.messages) {
        stage.now_ms = std::max(stage.now_ms, *messages_[message].end_ms);
      }
      stage.has_posted = false;
      ++stage.next;
    }
  }

  void Post(size_t index, const Action& action, std::deque<size_t>& awake) {
    Stage& stage = stages_[index];
    stage.now_ms += action.compute_ms;
    stage.has_posted = true;
    for (const size_t number : action.messages) {
      Message& message = messages_[number];
      if (!message.first) {
        message.first = index;
        message.ready_ms = stage.now_ms;
        continue;
      }
      message.end_ms = std::max(message.ready_ms, stage.now_ms) + message_ms_;
      awake.push_back(*message.first);
    }
  }

  std::vector<Stage> stages_;
  std::vector<Message> messages_;
  const double message_ms_;
};

}  // namespace

double BlockingPipelineMs(const PipelineShape& shape,
                          const std::vector<std::vector<ChunkTimes>>& times,
                          double message_ms) {
  const Messages messages(shape);
  std::vector<Stage> stages;
  for (int64_t i = 0; i < shape.stages; ++i) {
    stages.push_back({.actions = ActionsOf(shape, i, messages,
                                           times[static_cast<size_t>(i)])});
  }
  return Rendezvous(std::move(stages), messages.count(), message_ms).Run();
}

}  // namespace astra
