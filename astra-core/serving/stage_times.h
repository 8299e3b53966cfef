// Times the steps of a replica of several pipeline stages, stage by stage.
//
//   StageTimes stages(steps_of_stages, facts);
//   stages.AddParts(ranks, &parts);  // One StepParts for each stage.
//
// Model. Each stage is priced by itself, with the message to the next one. The
// engine's program is one process, which prepares the steps one after the
// other while the stages compute: where it does not overlap its work with the
// GPU's (overlapped_host) it is a stage of its own in front of them; otherwise
// the first stage takes at least as long as the program.

#ifndef ASTRA_CORE_SERVING_STAGE_TIMES_H_
#define ASTRA_CORE_SERVING_STAGE_TIMES_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/serving/step_prices.h"
#include "astra-core/serving/step_times.h"
#include "collectives/inference_engines/serving_facts.h"
#include "workload/serving/step.h"

namespace astra {

class StageTimes {
 public:
  explicit StageTimes(const ServingFacts& facts);

  // Adds the next stage. Requires that prices.Check() was ok.
  void Add(StepPrices prices);

  // Adds to `parts` those of each stage, from the first on. `ranks` are as in
  // StepCost::AddStages().
  void AddParts(absl::Span<const StepWork> ranks,
                std::vector<StepParts>* parts);

 private:
  // Prices and their tables, which refer to them.
  struct Stage {
    Stage(StepPrices prices_of, const ServingFacts& facts)
        : prices(std::move(prices_of)), times(prices, facts) {}
    StepPrices prices;
    StepTimes times;
  };

  const ServingFacts facts_;
  const ServingFacts without_host_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_STAGE_TIMES_H_
