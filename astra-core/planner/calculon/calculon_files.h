// Reads the three JSON files of Calculon: the model (application), how it is
// run (execution) and the machine (system).
//
//   ASTRA_ASSIGN_OR_RETURN(
//       const CalculonInputs inputs,
//       ReadCalculonInputs({"1T.json", ...}, {"run.json", ...},
//                          {"a100.json", ...}, &warnings));
//   const CalculonCost cost = CalculonCostOf(inputs);   // calculon_cost.h
//
// Source: calculon/llm/llm.py, system.py, processor.py, memory.py and
// network.py of https://github.com/calculon-ai/calculon (Apache-2.0), which
// check the same rules with assertions. Three rules here are stricter: the
// steps of an efficiency must fall, the last step must begin at 0, and the
// offset of a collective is at least -1.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_FILES_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

struct CalculonFile {
  std::string name;  // In messages.
  std::string contents;
};

// Reads the three files. Warns of keys that Calculon does not have, with the
// nearest key that it has.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not JSON, a key
// that is missing, a value of another type or range, and the rules of
// CheckCalculonExecution(), which blame the execution.
absl::StatusOr<CalculonInputs> ReadCalculonInputs(
    const CalculonFile& application, const CalculonFile& execution,
    const CalculonFile& system, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_FILES_H_
