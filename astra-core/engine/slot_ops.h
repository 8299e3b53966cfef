// Operations of one slot of a pipeline schedule, and of two slots side by side.

#ifndef ASTRA_CORE_ENGINE_SLOT_OPS_H_
#define ASTRA_CORE_ENGINE_SLOT_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/op_writer.h"
#include "astra-core/engine/rank_program.h"
#include "workload/pipeline/schedule.h"
#include "workload/program.h"

namespace astra {

// Returns whether slots of this kind make a gradient for the stage before.
constexpr bool IsBackward(SlotKind kind) {
  return kind == SlotKind::kBackward || kind == SlotKind::kInputGradient;
}

// Returns the slots of a stage; inference has forward slots only.
std::vector<Slot> SlotsOf(const Program& program, const PipelineShape& shape,
                          int64_t stage);

// Appends the module passes that `chunk` of `stage` runs in a slot of `kind`.
void AppendOccurrences(const Program& program, const ProgramStage& stage,
                       int32_t chunk, SlotKind kind,
                       std::vector<Occurrence>& occurrences);

// Returns the operations of `stage` after all micro-batches.
std::vector<Op> EndOf(const Program& program, const ProgramStage& stage);

// Returns whether any of `ops` waits for tokens on their way to experts or
// back: for a blocking dispatch, combine or all-to-all, or for one launched
// before.
bool WaitsForExperts(absl::Span<const Op> ops);

// Lays two lists of operations beside one another: where one has to wait for
// tokens on their way to experts or back, the other goes on until it has to
// wait, too. The list that computes less before its first wait is first; of
// equal lists, `first` is. Operations keep the order of their list. No list
// waits for a call of the other list that comes behind its own on the lane.
// Op::chunk of the result is 0 for operations of `first` and 1 for those of
// `second`.
//
// Source: DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv 2412.19437, figure
// 4: the all-to-alls of a forward run beside the computation of a backward, and
// the other way round.
std::vector<Op> SideBySide(absl::Span<const Op> first,
                           absl::Span<const Op> second);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SLOT_OPS_H_
