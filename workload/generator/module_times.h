// How long the computations of a blueprint take.

#ifndef WORKLOAD_GENERATOR_MODULE_TIMES_H_
#define WORKLOAD_GENERATOR_MODULE_TIMES_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/generator/blueprint.h"
#include "workload/operators/aiob_file.h"
#include "workload/operators/compute_model.h"

namespace astra {

// Times that were measured for whole modules: they stand for what `model` says.
// By the PlainName of the module; none for a pass that was not measured.
using MeasuredModules =
    std::map<std::string,
             std::array<std::optional<TimePs>, std::size(kModulePasses)>>;

class ModuleTimes {
 public:
  // `model` must outlive the times. `load`, above 0 and up to 1, is the share
  // of its speed that products and attention keep up; see
  // Calibration::training_load.
  explicit ModuleTimes(const ComputeModel& model, double load = 1,
                       MeasuredModules measured = {})
      : model_(model), load_(load), measured_(std::move(measured)) {}

  // How long one operator takes under the load.
  OperatorTime TimeOf(const Operator& op) const;

  double load() const { return load_; }

  // The times of a pass's steps, 0 for collectives. Those of a pass that was
  // measured as a whole are in the proportions of the model, and add up to what
  // was measured.
  std::vector<TimePs> StepTimes(const MockModule& module,
                                ModulePass pass) const;

  TimePs Total(const MockModule& module, ModulePass pass) const;

  // All computation of one micro-batch of `stage`, which is of `blueprint`.
  TimePs OfStage(const Blueprint& blueprint, const ProgramStage& stage) const;

  // Whether the pass was measured as a whole.
  bool IsMeasured(const MockModule& module, ModulePass pass) const {
    return Measured(module, pass).has_value();
  }

 private:
  std::optional<TimePs> Measured(const MockModule& module,
                                 ModulePass pass) const;

  const ComputeModel& model_;
  const double load_;
  const MeasuredModules measured_;
};

// What an AIOB file measured, as modules of `blueprint`. Its sections are of
// the forward pass; a backward pass is taken to cost twice that, as AICB does,
// half of it for each gradient:
//
//   layernorm, atten_qkv                          attention_column
//   atten_flash | atten_core_*, atten_linear      attention_row
//   layernorm2, mlp_linear_1, mlp_gelu            mlp_column
//   mlp_linear_2                                  mlp_row
//   Emb                                           embedding_layer
//   layernorm_post, logit_time                    final_column
//   param_time (average)                          optimizer
//
// A section that is none of these is added to `warnings`, and so is a module of
// the blueprint that computes and has no section.
//
// Source: AICB, the sections that its AiobMegatron times.
MeasuredModules ModulesOf(const AiobFile& file, const Blueprint& blueprint,
                          std::vector<std::string>* warnings);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODULE_TIMES_H_
