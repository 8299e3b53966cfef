// Times the steps of a serving replica fast enough for millions of them.
//
//   StepTimes times(prices, engine.serving);
//   const TimePs step = times.TimeOf(work);
//
// The parts of a step (see StepPrices) are priced on grids, each point once and
// only when a step comes near it, and are interpolated between:
//
// clang-format off
//   part                  axes                                   points an octave
//   all positions         positions, linear                      16
//   sampled sequences     sequences, linear                      16
//   running sequences     sequences, mean context, bilinear      4 x 4
//   the same with drafts  and positions of each, linear          4 x 4, all
//   parts of prompts      parts x mean positions x context       2 x 4 x 4
// clang-format on
//
// Parts of prompts count as equally many equal ones with the same sum of
// positions and of pairs of a query and a key, as one kernel runs all of them.
// Along their positions, time is linear in these pairs. Numbers below one
// octave are points themselves, and so are the sizes of usual CUDA graphs.
//
// With ranks of data-parallel attention, all wait for the slowest in each layer
// with experts: the step lasts as long as the slowest rank is at its own work,
// and as the experts are with the tokens of all ranks. It takes a CUDA graph if
// all ranks can, each that of the rank with the most positions; otherwise a
// rank without work computes one position of a dummy batch. Source: vLLM,
// vllm/v1/worker/dp_utils.py and DPEngineCoreProc in vllm/v1/engine/core.py.
//
// A step of running sequences takes a CUDA graph if the engine has one for so
// many, and computes as many positions as the graph has; with mixed_graphs so
// does a step with parts of prompts. Any other step takes at least the launches
// of its kernels. serving_facts.h tells how the host's time adds.
//
// Error against pricing each step directly: at most 6 %, in the median below
// 1 %, where the operators are measured kernels, whose times have steps of
// their own (StepTimesTest.TablesAreNearDirectPrices).

#ifndef ASTRA_CORE_SERVING_STEP_TIMES_H_
#define ASTRA_CORE_SERVING_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/serving/step_prices.h"
#include "collectives/inference_engines/serving_facts.h"
#include "workload/serving/step.h"

namespace astra {

// A step and what of it the GPU does not hide.
struct StepParts {
  StepSeconds gpu;
  double launch = 0;  // Beyond the GPU's own time, until kernels are launched.
  double host = 0;    // What the GPU waits for the engine.

  double sum() const { return gpu.sum() + launch + host; }
  StepParts& operator+=(const StepParts& other);
};

// Returns the facts of a program that costs nothing beside the GPU.
ServingFacts WithoutHost(ServingFacts facts);

// Returns the sequences that the host program deals with in a step.
int64_t SequencesOf(const StepWork& work);

// Returns the time of a step, at least a picosecond.
TimePs TimeOfParts(const StepParts& parts);

class StepTimes : public StepCost {
 public:
  // Both must outlive the object. Requires that prices.Check() was ok.
  StepTimes(StepPrices& prices, const ServingFacts& facts)
      : prices_(prices), facts_(facts) {}

  TimePs TimeOf(const StepWork& work) override;
  StepParts PartsOf(const StepWork& work) { return PartsOf({&work, 1}); }
  // The same of all ranks of data-parallel attention, some of which may have
  // nothing to do.
  StepParts PartsOf(absl::Span<const StepWork> ranks);

  // Returns the same without tables, for tests of their error.
  StepParts DirectPartsOf(const StepWork& work);

 private:
  // Prices of one part by points of a grid; empty where none was asked for.
  using Line = std::vector<std::optional<StepSeconds>>;

  // Returns whether a CUDA graph runs the step, and the positions it computes.
  struct GraphUse {
    bool in_graph = false;
    int64_t tokens = 0;      // Of each rank, or without a graph of the largest.
    int64_t all_tokens = 0;  // Of all ranks.
  };
  GraphUse GraphOf(absl::Span<const StepWork> ranks) const;
  StepSeconds RankParts(const StepWork& work, const GraphUse& use);
  StepParts WithHost(int64_t sequences, const GraphUse& use,
                     const StepSeconds& gpu) const;

  StepSeconds SharedAt(int64_t tokens, bool in_graph);
  StepSeconds ExpertsAt(double tokens, bool in_graph);
  StepSeconds SampleAt(int64_t sequences, bool in_graph);
  StepSeconds DecodeAt(const StepWork& work);
  StepSeconds DecodePlane(int64_t batch, double context, int64_t queries);
  StepSeconds PrefillAt(int64_t parts, double tokens, double cached);
  StepSeconds PrefillPlane(int64_t parts, double tokens, double cached);

  StepPrices& prices_;
  const ServingFacts& facts_;
  std::array<Line, 2> shared_;  // Without and with a graph.
  std::array<Line, 2> experts_;
  std::array<Line, 2> sample_;
  // By positions of each sequence, by sequences, by context.
  std::map<int64_t, std::vector<Line>> decode_;
  std::map<int64_t, std::vector<Line>> prefill_;  // By parts.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_STEP_TIMES_H_
