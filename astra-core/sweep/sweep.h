// A sweep: the variables and their values, the rules that leave points out, how
// the programs are called, and what the results are ranked by. sweep_file.h
// reads it, and sweep_points.h lists its points.

#ifndef ASTRA_CORE_SWEEP_SWEEP_H_
#define ASTRA_CORE_SWEEP_SWEEP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/swept_program.h"
#include "astra-core/sweep/text_pattern.h"

namespace astra {

constexpr size_t kMaxAxisSteps = 100'000;  // Values of one axis.
// Variables of axes and definitions together.
constexpr size_t kMaxVariables = 256;
// Entries of each list: rules, metrics, ...
constexpr size_t kMaxListEntries = 1000;

// Variables that change together. Most axes have only one variable.
struct SweepAxis {
  std::string name;  // Name of the axis; one of its variables has this name.
  std::vector<std::string> variables;
  // Whether the last variable summarises the others, such as "tp=8 pp=4". An
  // axis has a summary if it has several variables and none has the name of the
  // axis.
  bool has_summary = false;
  // For each step of the axis, the values of its variables, in their order.
  std::vector<std::vector<std::string>> steps;
};

// A variable that is computed from others or is the same in all points.
struct SweepDefinition {
  std::string name;
  TextPattern value;
  // Place in the sweep file, "FILE:LINE:COLUMN", for messages.
  std::string where;
};

struct SweepRule {
  Expression expression;
  // True: leaves out points where it holds; false: the others.
  bool is_exclusion;
  std::string where;
};

struct SweepOption {
  std::string name;  // Long name of the program's option.
  bool is_flag;      // The option is a flag; its value is "true" or "false".
  bool is_file;      // The value may name a file.
  bool is_list;      // The value may name a file, or several with commas.
  bool must_exist;   // The value must name an existing file.
  TextPattern value;
  std::string where;
};

struct SweepSection {
  const SweptProgram* program;
  std::vector<SweepOption> options;  // Options in the order of the sweep file.
};

struct SweepMetric {
  std::string name;
  Expression expression;  // Over the variables and the metrics of a run.
  std::string where;
};

// A condition that a run must meet; otherwise its point is infeasible.
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
  std::string text;    // Contents of the sweep file.
  std::string folder;  // Folder that relative paths in the file start from.
  // The axes. The axis "seed" comes last where there are repeats.
  std::vector<SweepAxis> axes;
  bool has_repeats = false;
  // Definitions in the order of the sweep file.
  std::vector<SweepDefinition> definitions;
  std::vector<SweepRule> rules;
  // Sections in the order in which the programs run.
  std::vector<SweepSection> sections;
  std::vector<SweepMetric> metrics;
  // Requirements in the order of the sweep file.
  std::vector<SweepRequirement> requirements;
  // Whether points that need more memory than their GPU has may be the best.
  bool allows_misfits = false;
  // At least one objective; the first ranks the points.
  std::vector<SweepObjective> objectives;

  const SweptProgram& run_program() const { return *sections.back().program; }
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_H_
