// The file that describes a sweep. docs/formats.md has the format:
//
//   simai_sweep: 1
//   axes:
//     topology: [Spectrum-X, DCN+]
//     tp: {from: 1, to: 8, factor: 2}
//     batch:                        # these move together
//       - {micro: 1, global: 512}
//       - {micro: 2, global: 1024}
//   repeats: 3                      # seed 1, 2, 3
//   let:
//     gpus: 1024
//     dp: ${gpus / tp}
//   constraints: [gpus % tp == 0]
//   exclude: ['topology == "DCN+" and tp == 1']
//   gen_topo: {topology: "${topology}", gpu: "${gpus}"}
//   gen_workload: {model: gpt-7b, world-size: "${gpus}", tp: "${tp}", ...}
//   simai_analytical: {}
//   metrics:
//     cost: ${gpus * iteration_ms}
//   require: [reserved_memory_gib <= 74.5]
//   allow: does-not-fit             # in the memory of the GPU
//   objectives: [minimize: iteration_ms, minimize: cost]

#ifndef ASTRA_CORE_SWEEP_SWEEP_FILE_H_
#define ASTRA_CORE_SWEEP_SWEEP_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/swept_program.h"
#include "astra-core/sweep/text_pattern.h"

namespace astra {

// Variables that move together; most often one.
struct SweepAxis {
  std::string name;  // One of its variables has it.
  std::vector<std::string> variables;
  // Whether the last variable sums up the others: "tp=8 pp=4". That is so where
  // there are several and none has the axis' name.
  bool has_summary = false;
  // The values of the variables, in their order, for each step of the axis.
  std::vector<std::vector<std::string>> steps;
};

// A variable that follows from the others, or is the same in all points.
struct SweepDefinition {
  std::string name;
  TextPattern value;
  std::string where;  // "FILE:LINE:COLUMN", for messages.
};

struct SweepRule {
  Expression expression;
  bool is_exclusion;  // Points where it holds are left out, else the others.
  std::string where;
};

struct SweepOption {
  std::string name;  // The program's long name.
  bool is_flag;      // Then the value is "true" or "false".
  bool is_file;      // The value may name a file.
  bool is_list;      // The same, or files between commas.
  bool must_exist;   // What it names is a file, and nothing else will do.
  TextPattern value;
  std::string where;
};

struct SweepSection {
  const SweptProgram* program;
  std::vector<SweepOption> options;  // In the order of the file.
};

struct SweepMetric {
  std::string name;
  Expression expression;  // Over variables and the metrics of a run.
  std::string where;
};

// What a run must come to, or its point is infeasible.
struct SweepRequirement {
  Expression expression;  // Over variables, metrics of a run and SweepMetrics.
  std::string where;
};

struct SweepObjective {
  std::string metric;
  bool maximize;
};

struct Sweep {
  std::string name;
  std::string text;    // The file.
  std::string folder;  // What relative paths in it are relative to.
  // The last is that of the repeats, "seed", where there are any.
  std::vector<SweepAxis> axes;
  bool has_repeats = false;
  std::vector<SweepDefinition> definitions;  // In the order of the file.
  std::vector<SweepRule> rules;
  std::vector<SweepSection> sections;  // In the order in which they run.
  std::vector<SweepMetric> metrics;
  std::vector<SweepRequirement> requirements;  // In the order of the file.
  // Whether points that need more memory than their GPU has may win.
  bool allows_misfits = false;
  std::vector<SweepObjective> objectives;  // At least one, the first ranks.

  const SweptProgram& run_program() const { return *sections.back().program; }
};

// Reads a sweep of `programs`, which must outlive it. `file` is the name in
// messages; the sweep is called after it unless it says otherwise.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is no such file; an
// unknown key, program, option or variable, with the nearest; an axis that is
// empty, has a value twice or too many (kMaxAxisSteps); a variable named twice
// or never used; no program that runs, or two; a section whose file nobody
// reads; an option that the sweep itself gives; a list where an option takes
// one value; metrics and objectives spelt wrong.
absl::StatusOr<Sweep> ReadSweep(std::string_view file,
                                std::string_view contents,
                                std::string_view folder,
                                absl::Span<const SweptProgram> programs);

constexpr size_t kMaxAxisSteps = 100'000;
constexpr size_t kMaxVariables = 256;     // Of axes and definitions.
constexpr size_t kMaxListEntries = 1000;  // Of rules, metrics, ...

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_FILE_H_
