// Times the operators of a workload by the kernels that run them.

#ifndef WORKLOAD_KERNELS_KERNEL_MODEL_H_
#define WORKLOAD_KERNELS_KERNEL_MODEL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "workload/kernels/family.h"
#include "workload/kernels/kernel_predictor.h"
#include "workload/operators/compute_model.h"
#include "workload/operators/operator.h"

namespace astra {

// What the operators belong to. The tables were measured for inference engines:
// their experts and casts are fused kernels that training does not run, and
// their products ran at clocks that a GPU holds for moments only. So training
// takes attention from them, and products from the user's own tables.
enum class KernelUse : uint8_t { kInference, kTraining };

// Families of kernels that the operators of training run.
constexpr std::array<std::string_view, 3> kFamiliesOfTraining = {
    "gemm", "context_attention", "context_mla"};

// Returns whether operators that belong to `use` may be timed by kernels of the
// family `name`.
bool TakesFamily(KernelUse use, std::string_view name);

// A kernel, and the share of its time that an operator takes.
struct OperatorKernel {
  KernelCall call;
  bool is_part = false;  // The time goes by the operator's share of the bound.
};

// Returns the kernel that runs an operator, or none where tables have no such
// kernel: training's backward passes, FP32, biases of attention, delta rules
// and most streams.
//
//   one product                           gemm
//   products of experts                   moe, by their share of its bound
//   products with the cache's matrices    mla_bmm
//   attention of several queries          context_attention, context_mla
//   attention of one query                generation_attention, generation_mla
//   stream cast                           scale_matrix
//
// The tables time all that experts do at once. A grouped product is one of two,
// so it takes the time of the experts times its bound over theirs. It does not
// know topk, and how many experts other ranks hold, on which that share hardly
// depends: 8 of at least 64 experts are assumed, else 2.
std::optional<OperatorKernel> KernelOf(const Operator& op, KernelUse use);

class KernelModel : public ComputeModel {
 public:
  // No operator is faster than the peaks allow, as small kernels of tables are
  // whose operands stay in the cache. Operators without a kernel, or that
  // nothing measured is near to, take the time of `otherwise`. With `attention`
  // false, attention does too. Both must outlive this object.
  KernelModel(const KernelPredictor& predictor, const ComputeModel& otherwise,
              KernelUse use, bool attention = true)
      : predictor_(predictor),
        otherwise_(otherwise),
        use_(use),
        attention_(attention) {}

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  // Returns the time of an operator that no kernel is measured for: that of its
  // formula, times what `like`, a similar one, takes over its own formula.
  OperatorTime TimeAs(const Operator& like, const OperatorTime& formula) const;

  const KernelPredictor& predictor_;
  const ComputeModel& otherwise_;
  const KernelUse use_;
  const bool attention_;
};

}  // namespace astra

#endif  // WORKLOAD_KERNELS_KERNEL_MODEL_H_
