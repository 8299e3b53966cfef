// What one step of a serving replica computes, and how long that takes.
//
// A step is one forward pass of the model over a batch: chunks of prompts
// (prefill) together with one new token of each running sequence (decode), and
// with the draft tokens behind it that the step verifies.

#ifndef WORKLOAD_SERVING_STEP_H_
#define WORKLOAD_SERVING_STEP_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {

// A part of a prompt that is computed in one step.
struct PromptChunk {
  int64_t tokens = 0;  // Positions that are computed; above 0.
  int64_t cached = 0;  // Positions of the sequence before them in the KV cache.

  friend bool operator==(const PromptChunk&, const PromptChunk&) = default;
};

struct StepWork {
  std::vector<PromptChunk> chunks = {};
  int64_t decodes = 0;         // Sequences that compute one position each,
  int64_t draft_tokens = 0;    // and positions of drafts behind all of these.
  int64_t decode_context = 0;  // Positions in the cache of all of these.
  int64_t samples = 0;         // Positions whose next token is drawn.

  friend bool operator==(const StepWork&, const StepWork&) = default;

  // Returns the positions that the step computes.
  int64_t tokens() const {
    int64_t sum = decodes + draft_tokens;
    for (const PromptChunk& chunk : chunks) sum += chunk.tokens;
    return sum;
  }
};

// Messages of a stage's collectives between servers. Collectives of one pattern
// are added up.
struct StageMessages {
  uint32_t pattern = 0;  // Which ranks send: a number of the StepCost.
  double bytes = 0;      // On the wire, of all buffers.
  TimePs time;           // What these collectives take where no others run.
};

// How long a step keeps a stage busy where nothing else is on the network.
struct StageTime {
  TimePs time;
  std::vector<StageMessages> messages = {};  // Their times are part of `time`.
};

// A source of the times of steps of one replica. All times are above 0, and
// equal work takes equal time.
class StepCost {
 public:
  virtual ~StepCost() = default;
  // Requires that the step computes at least one position.
  virtual TimePs TimeOf(const StepWork& work) = 0;

  // Times a step that several ranks compute together; the work of a rank that
  // has nothing to do is empty. Adds to `stages` how long the step keeps each
  // pipeline stage busy: as many times in every call, and at least one.
  // Requires that one of the ranks computes a position. By default the replica
  // is one stage, and the step lasts as long as that of the slowest rank.
  virtual void AddStages(absl::Span<const StepWork> ranks,
                         std::vector<StageTime>* stages) {
    TimePs slowest;
    for (const StepWork& work : ranks) {
      if (work.tokens() > 0) slowest = std::max(slowest, TimeOf(work));
    }
    stages->push_back({slowest});
  }
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_STEP_H_
