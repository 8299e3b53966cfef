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
#include "astra-core/base/log.h"
#include "astra-core/planner/simumax/simulate.h"

namespace astra {

// Returns the files above. Every text ends in a newline.
std::vector<NamedFile> SimumaxResultFiles(const SimumaxResult& result);

// Returns one object with the contents of each file by its name without
// ".json", the list "warnings", and "summary": the numbers that a caller wants
// first, without units in texts:
//
//   duration_ms, tokens_per_gpu_per_second, tflops_per_gpu, mfu,
//   peak_bytes and reserved_bytes of each stage
std::string SimumaxResultJson(const SimumaxResult& result,
                              const Warnings& warnings);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_RESULT_JSON_H_
