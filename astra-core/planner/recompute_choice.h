// What a layout repeats in the backward pass, as one of the choices of a
// search.

#ifndef ASTRA_CORE_PLANNER_RECOMPUTE_CHOICE_H_
#define ASTRA_CORE_PLANNER_RECOMPUTE_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "workload/generator/training_setup.h"

namespace astra {

struct RecomputeChoice {
  Recompute kind = Recompute::kNone;
  // Of kSelective: what runs again; empty: what the framework repeats.
  RecomputeModules modules = {};
  // Of kFull: see TrainingSetup. 0 layers: every block by itself.
  RecomputeMethod method = RecomputeMethod::kUniform;
  int64_t layers = 0;
  // Of kFull by blocks: whether `layers` is the least number with which the
  // layout fits into the memory. In a PlanSpace it is not known yet.
  bool just_fits = false;

  // Returns whether only some blocks of a chunk may run again.
  bool IsPartial() const {
    return kind == Recompute::kFull && method == RecomputeMethod::kBlock;
  }

  friend bool operator==(const RecomputeChoice&,
                         const RecomputeChoice&) = default;
};

// Returns the full recomputation of as few blocks as memory allows.
RecomputeChoice JustFits();

// Sets the recomputation of `setup`, which has what the framework repeats.
void SetRecompute(const RecomputeChoice& choice, TrainingSetup& setup);

// Returns the names of `modules`, such as "core_attn+moe_act".
std::string JoinedNames(RecomputeModules modules);

// Returns words such as "full recomputation of 3 layers"; empty: none.
std::string Describe(const RecomputeChoice& choice);

// Returns the options of gen_workload that make the choice.
std::vector<std::string> OptionsOf(const RecomputeChoice& choice);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_RECOMPUTE_CHOICE_H_
