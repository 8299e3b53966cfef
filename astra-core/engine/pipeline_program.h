// The order in which a rank goes through one stage of a Program.
//
//   each micro-batch
//     forward    for each module: its forward steps
//     backward   for each module, last first: its steps of recompute,
//                input gradient and weight gradient
//   end          wait for all that was launched; the modules of `after`,
//                forward; wait again
//
// Micro-batches that do the same follow one another as repetitions of one
// section. Only the first few repetitions of a section are run. The last one
// that is run stands for the others, which is exact once repetitions are alike;
// Simulate() sees to that.

#ifndef ASTRA_CORE_ENGINE_STAGE_PROGRAM_H_
#define ASTRA_CORE_ENGINE_STAGE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "astra-core/engine/rank_program.h"
#include "workload/program.h"

namespace astra {

class StageProgram final : public RankProgram {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  // What a limit leaves out.
  struct Skip {
    // The last repetition that is run of the section with the most, the first
    // of equals; counted over all sections. It stands for those left out.
    size_t stand_in = 0;
    int64_t num_skipped = 0;
  };

  // Neither `program` nor `stage` is needed afterwards.
  StageProgram(const Program& program, const ProgramStage& stage);

  // Runs at most so many repetitions of each section; at first all.
  void LimitRepetitions(int64_t limit) { limit_ = limit; }
  Skip skip() const;

  OpStream Begin() const override;
  int64_t num_ops() const override;

 private:
  // Successive micro-batches of the same operations. No more than one section
  // has several.
  struct Section {
    std::vector<Op> ops;
    int64_t repetitions = 1;
  };
  struct Cursor {
    size_t section = 0;  // One beyond the last: `end_`.
    int64_t repetition = 0;
    size_t op = 0;
  };
  Op Next(Cursor& cursor) const;
  int64_t NumRun(const Section& section) const;

  std::vector<Section> sections_;
  std::vector<Op> end_;  // What follows the micro-batches.
  int64_t limit_ = kUnlimited;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_STAGE_PROGRAM_H_
