// Writes a result with the names that SimuMax gives its own, so that both can
// be compared key by key.
//
//   compute_result.json  times, FLOPs and rates
//   mem_result.json      memory of the stages
//   base_info.json       parameters, and the modules of each stage
//   net_info.json        the last collective of each kind
//   efficiency.json      which shapes had an efficiency of their own
//
// As SimuMax does, texts such as "5.5547 s" and "50.8854 GB" stand for times,
// for bytes (in powers of 1024) and for FLOPs. bytes and counts in
// net_info.json are numbers.
//
// mem_result.json has the shapes of SimuMax's: the one stage of a pipeline of
// one; first_stage, middle_stage and last_stage; or, with several chunks, every
// stage as first_stage, pp_stage_1, ..., last_stage.
//
// Source of the names: SimuMax 1.2, simumax/core/perf_llm.py and config.py,
// record_net_bw, record_miss_efficiency and record_hit_efficiency.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_RESULT_JSON_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_RESULT_JSON_H_

#include <string>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/planner/simumax/simulate.h"

namespace astra {

// Returns the files above. Every text ends in a newline.
std::vector<NamedFile> SimumaxResultFiles(const SimumaxResult& result);

// Returns run.json, which has the names that other runs have: the time of the
// iteration, rates, and the memory of the fullest stage.
std::string SimumaxRunJson(const SimumaxResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_RESULT_JSON_H_
