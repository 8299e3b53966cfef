#include "astra-core/apps/python/simulate_texts.h"

#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/simumax/result_json.h"
#include "astra-core/planner/simumax/simulate.h"
#include "astra-core/planner/simumax/simumax_files.h"

namespace astra {

absl::StatusOr<std::string> SimulateTexts(const JsonText& model,
                                          const JsonText& strategy,
                                          const JsonText& system) {
  Warnings warnings;
  SimumaxFiles files;
  ASTRA_ASSIGN_OR_RETURN(
      files.model, ParseSimumaxModel(model.file, model.contents, &warnings));
  ASTRA_ASSIGN_OR_RETURN(
      files.strategy,
      ParseSimumaxStrategy(strategy.file, strategy.contents, &warnings));
  ASTRA_ASSIGN_OR_RETURN(
      files.system,
      ParseSimumaxSystem(system.file, system.contents, &warnings));
  ASTRA_ASSIGN_OR_RETURN(const SimumaxResult result, Simulate(files));
  return SimumaxResultJson(result, warnings);
}

}  // namespace astra
