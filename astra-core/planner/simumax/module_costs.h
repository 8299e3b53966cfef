// Times the modules of a blueprint as SimuMax times its own: operator by
// operator, with its shape texts, bytes and kernels.
//
//   product    2 m n k FLOPs. Shape text of the forward product, the input
//              gradient or the weight gradient.
//   attention  all pairs of positions, whatever the mask:
//              2 x (qk + v) x heads x positions^2 FLOPs, times 2.5 backward;
//              attention_sparse_ratio is left out
//   norm       reads and writes its elements once; backward in two kernels
//   SwiGLU, GELU, permutations, cross entropy, embedding
//              by the bytes that SimuMax counts
//   collectives  never overlap with anything
//
// SimuMax leaves out rotary positions, residual sums and the scores of routers;
// they cost nothing here.
//
// Source: SimuMax 1.2, simumax/core/transformer, dense_module.py and
// moe_module.py, the functions that count FLOPs, accessed memory and
// communication.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_MODULE_COSTS_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_MODULE_COSTS_H_

#include <cstdint>
#include <string_view>

#include "astra-core/planner/simumax/cost_model.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "workload/generator/blueprint.h"
#include "workload/modules/module.h"
#include "workload/program.h"

namespace astra {

// One micro-batch of a model chunk.
struct SimumaxChunkCost {
  SimumaxCost forward;
  SimumaxCost recompute;
  SimumaxCost backward;  // Both gradients.

  double forward_ms() const { return forward.total_ms(); }
  double backward_ms() const {
    return backward.total_ms() + recompute.total_ms();
  }
  SimumaxChunkCost& operator+=(const SimumaxChunkCost& other);
};

class SimumaxModuleCosts {
 public:
  // All must outlive the object.
  SimumaxModuleCosts(const SimumaxModel& model, const SimumaxStrategy& strategy,
                     SimumaxCosts& costs)
      : model_(model), strategy_(strategy), costs_(costs) {}

  // Returns the cost of a micro-batch in chunk `chunk` of `stage`, a stage of
  // `blueprint`.
  SimumaxChunkCost OfChunk(const Blueprint& blueprint,
                           const ProgramStage& stage, int64_t chunk);

 private:
  // A step with what it is a part of.
  struct Place {
    const MockModule& module;
    ModulePass pass;
    // Whether the attention of the module is before the step.
    bool is_behind_attention = false;
    // Whether a product is before the step whose recomputation is skipped.
    bool is_behind_tail = false;

    bool is_forward() const {
      return pass == ModulePass::kForward || pass == ModulePass::kRecompute;
    }
  };

  SimumaxCost OfPass(const MockModule& module, ModulePass pass);
  SimumaxCost OfStep(const ModuleStep& step, const Place& place);
  SimumaxCost OfProduct(const Operator& op, const Gemm& gemm,
                        const Place& place);
  bool IsRowParallel(std::string_view op) const;
  // Returns by how much the tokens of an ETP group exceed those of a rank.
  double GatheredShare() const;
  SimumaxCost OfSingle(const Operator& op, const Gemm& gemm,
                       const Place& place);
  SimumaxCost OfGroup(const Operator& op, const Gemm& gemm, const Place& place);
  SimumaxCost OfAttention(const Attention& attention);
  SimumaxCost OfStream(std::string_view op, double bytes, const Place& place);
  SimumaxCost OfEmbedding(const Place& place);
  SimumaxCost OfCollective(const Communication& what, bool is_hidden,
                           const Place& place);
  SimumaxCost OfTensor(const Communication& what, bool is_hidden,
                       const Place& place);
  // One of the three sums of a loss.
  SimumaxCost OfLoss(double bytes);
  SimumaxCost OfContext(double bytes, const Place& place);
  SimumaxCost OfExpert(const Communication& what, const Place& place);
  SimumaxCost OfExpertTensor(const Communication& what, const Place& place);

  const SimumaxModel& model_;
  const SimumaxStrategy& strategy_;
  SimumaxCosts& costs_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_MODULE_COSTS_H_
