// Computes how long the computations of a blueprint take.

#ifndef WORKLOAD_GENERATOR_MODULE_TIMES_H_
#define WORKLOAD_GENERATOR_MODULE_TIMES_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/generator/blueprint.h"
#include "workload/operators/aiob_file.h"
#include "workload/operators/compute_model.h"
#include "workload/operators/fused_kernels.h"

namespace astra {

// Times measured for whole modules, by the PlainName of the module. They
// replace the times of the compute model. A pass that was not measured has
// none.
using MeasuredModules =
    std::map<std::string,
             std::array<std::optional<TimePs>, std::size(kModulePasses)>>;

class ModuleTimes {
 public:
  // `model` must outlive this object. `load` is the share of their speed that
  // products and attention keep up during training, above 0 and at most 1; see
  // Calibration::training_load. `fused`: what an engine of inference fuses.
  explicit ModuleTimes(const ComputeModel& model, double load = 1,
                       MeasuredModules measured = {}, FusedKernels fused = {})
      : model_(model),
        load_(load),
        measured_(std::move(measured)),
        fused_(std::move(fused)) {}

  // Returns the time of one operator under the load; fused ones take at least a
  // picosecond.
  OperatorTime TimeOf(const Operator& op) const;

  double load() const { return load_; }

  // Returns the time of each step of a pass; 0 for collectives. The steps of a
  // pass that was measured as a whole keep the proportions of the model and add
  // up to the measured time.
  std::vector<TimePs> StepTimes(const MockModule& module,
                                ModulePass pass) const;

  TimePs Total(const MockModule& module, ModulePass pass) const;

  // Returns the time of all computation of one micro-batch of `stage`, a stage
  // of `blueprint`.
  TimePs OfStage(const Blueprint& blueprint, const ProgramStage& stage) const;

  // Returns whether the pass was measured as a whole.
  bool IsMeasured(const MockModule& module, ModulePass pass) const {
    return Measured(module, pass).has_value();
  }

 private:
  std::optional<TimePs> Measured(const MockModule& module,
                                 ModulePass pass) const;

  const ComputeModel& model_;
  const double load_;
  const MeasuredModules measured_;
  const FusedKernels fused_;
};

// Assigns the times of an AIOB file to modules of `blueprint`. The file has
// only times of the forward pass. A backward pass is assumed to take twice that
// time, as in AICB, half of it for each gradient.
//
//   section in the file                           module
//   layernorm, atten_qkv                          attention_column
//   atten_flash | atten_core_*, atten_linear      attention_row
//   layernorm2, mlp_linear_1, mlp_gelu            mlp_column
//   mlp_linear_2                                  mlp_row
//   Emb                                           embedding_layer
//   layernorm_post, logit_time                    final_column
//   param_time (average)                          optimizer
//
// Warns of every other section of the file, and of every module of the
// blueprint that computes and has no section.
//
// Source: AICB, the sections that its AiobMegatron measures.
MeasuredModules ModulesOf(const AiobFile& file, const Blueprint& blueprint,
                          std::vector<std::string>* warnings);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODULE_TIMES_H_
