#include "tests/workload/pipeline/pipeline_evaluation.h"

#include <algorithm>
#include <string_view>

#include "astra-core/base/check.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra::testing {
namespace {

class Evaluation {
 public:
  Evaluation(PipelineSchedule schedule, const PipelineShape& shape,
             const SlotTimes& times)
      : schedule_(schedule), shape_(shape), times_(times) {
    const int64_t places = shape.stages * shape.chunks;
    before_.resize(static_cast<size_t>(places));
    ends_.resize(static_cast<size_t>(places * shape.micro_batches));
    for (int64_t i = 0; i < places; ++i) {
      const Place place = {.stage = i / shape.chunks,
                           .chunk = i % shape.chunks};
      if (const auto next = NextPlace(schedule, shape, place)) {
        before_[IndexOf(*next)] = place;
      }
    }
  }

  std::optional<std::vector<StageTimes>> Run(const std::vector<Pieces>& all) {
    std::vector<size_t> position(all.size());
    std::vector<StageTimes> stages(all.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t s = 0; s < all.size(); ++s) {
        while (
            position[s] < all[s].size() &&
            RunPiece(static_cast<int64_t>(s), all[s][position[s]], stages[s])) {
          ++position[s];
          moved = true;
        }
      }
    }
    for (size_t s = 0; s < all.size(); ++s) {
      if (position[s] < all[s].size()) return std::nullopt;
    }
    return stages;
  }

 private:
  // Of one micro-batch at one place; -1 until they are known.
  struct Ends {
    int64_t forward = -1;
    int64_t input_gradient = -1;
  };

  size_t IndexOf(Place place) const {
    return static_cast<size_t>(place.stage * shape_.chunks + place.chunk);
  }
  Ends& EndsOf(Place place, int64_t micro_batch) {
    return ends_[IndexOf(place) * static_cast<size_t>(shape_.micro_batches) +
                 static_cast<size_t>(micro_batch)];
  }

  int64_t DurationOf(SlotKind kind) const {
    switch (kind) {
      case SlotKind::kForward:
        return times_.forward;
      case SlotKind::kBackward:
        return times_.backward();
      case SlotKind::kInputGradient:
        return times_.input_gradient;
      case SlotKind::kWeightGradient:
        return times_.weight_gradient;
    }
    ASTRA_CHECK(false, "kind {}", static_cast<int>(kind));
  }

  // When all is there that the slot needs; -1 if something is not known.
  int64_t ReadyAt(Place place, const Slot& slot) {
    const int64_t micro_batch = slot.micro_batch;
    if (slot.kind == SlotKind::kForward) {
      const std::optional<Place> before = before_[IndexOf(place)];
      return before ? EndsOf(*before, micro_batch).forward : 0;
    }
    if (slot.kind == SlotKind::kWeightGradient) {
      return EndsOf(place, micro_batch).input_gradient;
    }
    const int64_t forward = EndsOf(place, micro_batch).forward;
    const auto next = NextPlace(schedule_, shape_, place);
    if (!next || forward < 0) return forward;
    const int64_t gradient = EndsOf(*next, micro_batch).input_gradient;
    return gradient < 0 ? -1 : std::max(forward, gradient);
  }

  bool RunPiece(int64_t stage, const std::vector<Slot>& piece,
                StageTimes& times) {
    int64_t start = times.end;
    int64_t duration = 0;
    for (const Slot& slot : piece) {
      const int64_t ready = ReadyAt({stage, slot.chunk}, slot);
      if (ready < 0) return false;
      start = std::max(start, ready);
      duration += DurationOf(slot.kind);
    }
    if (times.busy == 0) times.start = start;
    times.end = start + duration;
    times.busy += duration;
    for (const Slot& slot : piece) {
      Ends& ends = EndsOf({stage, slot.chunk}, slot.micro_batch);
      if (slot.kind == SlotKind::kForward) ends.forward = times.end;
      if (slot.kind == SlotKind::kBackward ||
          slot.kind == SlotKind::kInputGradient) {
        ends.input_gradient = times.end;
      }
    }
    return true;
  }

  PipelineSchedule schedule_;
  PipelineShape shape_;
  SlotTimes times_;
  std::vector<std::optional<Place>> before_;  // By IndexOf.
  std::vector<Ends> ends_;  // By IndexOf, then by micro-batch.
};

}  // namespace

std::optional<std::vector<StageTimes>> EvaluatePieces(
    PipelineSchedule schedule, const PipelineShape& shape,
    const SlotTimes& times, const std::vector<Pieces>& pieces) {
  return Evaluation(schedule, shape, times).Run(pieces);
}

std::optional<std::vector<StageTimes>> Evaluate(PipelineSchedule schedule,
                                                const PipelineShape& shape,
                                                const SlotTimes& times) {
  std::vector<Pieces> pieces(static_cast<size_t>(shape.stages));
  for (size_t stage = 0; stage < pieces.size(); ++stage) {
    for (const Slot& slot :
         SlotsOf(schedule, shape, static_cast<int64_t>(stage))) {
      pieces[stage].push_back({slot});
    }
  }
  return EvaluatePieces(schedule, shape, times, pieces);
}

int64_t LastEnd(const std::optional<std::vector<StageTimes>>& stages) {
  if (!stages) return -1;
  int64_t end = 0;
  for (const StageTimes& stage : *stages) end = std::max(end, stage.end);
  return end;
}

int64_t Duration(PipelineSchedule schedule, const PipelineShape& shape,
                 const SlotTimes& times) {
  return LastEnd(Evaluate(schedule, shape, times));
}

int64_t PeakActivations(const std::vector<Slot>& slots, SlotKind end) {
  int64_t now = 0;
  int64_t peak = 0;
  for (const Slot& slot : slots) {
    if (slot.kind == SlotKind::kForward) peak = std::max(peak, ++now);
    if (slot.kind == SlotKind::kBackward || slot.kind == end) --now;
  }
  return peak;
}

std::string Text(const std::vector<Slot>& slots) {
  constexpr std::string_view kLetters = "FBIW";
  std::vector<std::string> words;
  words.reserve(slots.size());
  for (const Slot& slot : slots) {
    words.push_back(fmt::format(
        "{}{}{}", kLetters[static_cast<size_t>(slot.kind)], slot.micro_batch,
        std::string(static_cast<size_t>(slot.chunk), '\'')));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<PipelineShape> ShapesOf(PipelineSchedule schedule) {
  std::vector<PipelineShape> shapes;
  for (int64_t stages = 1; stages <= 8; ++stages) {
    for (int64_t chunks = 1; chunks <= 4; ++chunks) {
      for (int64_t micro_batches = 1; micro_batches <= 24; ++micro_batches) {
        const PipelineShape shape = {stages, chunks, micro_batches};
        if (CheckShape(schedule, shape).ok()) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

}  // namespace astra::testing
