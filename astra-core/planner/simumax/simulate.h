// Predicts a training iteration in SimuMax's way, from its three files.
//
//   Warnings warnings;
//   ASTRA_ASSIGN_OR_RETURN(const SimumaxFiles files,
//                          ReadSimumaxFiles(paths, &warnings));
//   ASTRA_ASSIGN_OR_RETURN(const SimumaxResult result, Simulate(files));
//   result.iteration_ms;                      // And all that led to it.
//
// The blocks of the model, their memory and the order of the pipeline are those
// of this program. Times are those of the system file; see cost_model.h and
// module_costs.h. SimuMax's assumptions are added:
//
//   iteration  r x pipeline + data + optimizer, of the stage with the most
//   r          1 + x / (x + 1) x 0.09 x sqrt(x), x = log2(n), for n nodes, but
//              at most as many as replicas of the dense part and of experts
//   data       whole buckets of 4 x max(40e6, 1e6 x ranks) bytes, reduced and
//              gathered (twice with experts), for the dense part and experts
//   optimizer  the time to move, with G bytes of gradients, S of states and
//              g = S / 3 (S / 6 in BF16): G, G, 2 G (with replicas), g, 2 g,
//              g + 3 S, S / 2
//   memory     stage 0 holds as many micro-batches as there are stages;
//   reserved
//              memory is the peak / mem_factor
//
// Source: SimuMax 1.2, simumax/core/perf_llm.py.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_SIMULATE_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_SIMULATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/planner/simumax/cost_model.h"
#include "astra-core/planner/simumax/module_costs.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "workload/memory_timeline.h"

namespace astra {

// The sharing of gradients and parameters of the dense part, or of experts.
struct SimumaxDataParallel {
  double reduce_ms = 0;
  double gather_ms = 0;
  double gradient_bytes = 0;   // 0 where there is one rank.
  double parameter_bytes = 0;  // In the same way.

  double total_ms() const { return reduce_ms + gather_ms; }
};

struct SimumaxOptimizer {
  double zero_gradients_ms = 0;
  double norm_before_ms = 0;
  double scale_before_ms = 0;
  double norm_after_ms = 0;
  double clip_ms = 0;
  double adam_ms = 0;
  double copy_ms = 0;

  double total_ms() const;
};

// Bytes that a rank always holds.
struct SimumaxStates {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;

  double sum() const { return weights + gradients + optimizer; }
};

struct SimumaxStage {
  int64_t rank = 0;  // Of the pipeline.
  int64_t layers = 0;
  SimumaxChunkCost cost;  // Of a micro-batch in all its chunks.
  SimumaxDataParallel dense_data;
  SimumaxDataParallel expert_data;
  SimumaxOptimizer optimizer;

  double dense_parameters = 0;  // Of all ranks of TP, CP and experts.
  double expert_parameters = 0;
  SimumaxStates dense;
  SimumaxStates experts;
  double unused_gradients = 0;  // Buffers of Transformer Engine, in bytes.
  StageMemory memory;
  double saved_bytes = 0;  // Kept of one micro-batch; of the largest chunk.
  std::string peak_path;   // Module and pass of the peak.
  // Modules of each run of a chunk, such as "16 x attention_column ...".
  std::vector<std::string> modules;

  double after_ms() const {
    return dense_data.total_ms() + expert_data.total_ms() +
           optimizer.total_ms();
  }
  double peak_bytes() const {
    return static_cast<double>(memory.peak().count());
  }
};

struct SimumaxResult {
  SimumaxFiles files;
  // All stages in order. The first, the second (where there are three or more)
  // and the last stand for all others in the files that SimuMax writes.
  std::vector<SimumaxStage> stages;
  double pipeline_ms = 0;  // Without stragglers.
  double message_ms = 0;   // Of one message between stages.
  double straggler_ratio = 1;
  double iteration_ms = 0;

  int64_t tokens = 0;          // Of an iteration.
  double flops_per_token = 0;  // By SimuMax's formula.
  double flops_per_gpu = 0;    // Of an iteration.
  double tokens_per_gpu = 0;   // In a second.
  double tflops_per_gpu = 0;
  double utilization = 0;  // Share of accelerator.op.default.tflops.

  SimumaxLookups hits;
  SimumaxLookups misses;
  SimumaxNetRecords networks;
};

// Errors: InvalidArgument, as of TrainingOf and SimumaxCosts; a pipeline of
// more than kMaxPipelineSlots slots.
absl::StatusOr<SimumaxResult> Simulate(const SimumaxFiles& files);

// SimuMax's own counts, whose formulas leave out what is special in a block:
// the dense blocks of a model with experts, and a width of the heads that is
// not that of the model.
//
// Source: SimuMax 1.2, simumax/core/config.py, ModelConfig.
double SimumaxParameters(const SimumaxFiles& files, bool only_active);
double SimumaxFlopsPerToken(const SimumaxFiles& files);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_SIMULATE_H_
