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
constexpr size_t kMaxVariables = 256;      // Of axes and definitions together.
constexpr size_t kMaxListEntries = 1000;   // Of each list: rules, metrics, ...

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

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_H_
