// Names and texts in the results of SimuMax.
//
// Source: SimuMax 1.2, simumax/core/utils.py, HumanReadableSize.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_RESULT_PARTS_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_RESULT_PARTS_H_

#include <string>
#include <vector>

#include "astra-core/planner/simumax/simulate.h"
#include "astra-core/planner/simumax/simumax_files.h"

namespace astra {

// Returns a quantity as SimuMax writes it: milliseconds, bytes or FLOPs.
std::string SimumaxTimeText(double ms);
std::string SimumaxBytesText(double bytes);
std::string SimumaxCountText(double count);

// Returns the stages that stand for all, with the names of mem_result.json.
struct NamedStage {
  std::string name;
  const SimumaxStage* stage;
};
std::vector<NamedStage> SimumaxShownStages(const SimumaxResult& result);

// Returns the layout as SimuMax writes it, such as "seq4096.mbs1.mbc8.gbs32
// tp1.sp1.cp1.ep1.pp2.dp4.etp1.edp4, world_size:8".
std::string SimumaxParallelism(const SimumaxStrategy& strategy);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_RESULT_PARTS_H_
