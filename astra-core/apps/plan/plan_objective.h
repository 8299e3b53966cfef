// Answers an external optimizer that asks for layouts one by one.
//
// A question is a line with a JSON object, such as
//
//   {"tp": 8, "pp": 4, "micro_batch": 2, "recompute": "full"}
//
// with the keys tp, cp, pp, vpp, ep, etp, micro_batch, zero, recompute, sp and
// schedule. What is absent is 1, the framework's ZeRO stage (or the first of
// --zero), "none", true where TP is above 1, and the schedule that VPP asks
// for. "recompute_modules" refines selective recomputation ("core_attn+mlp"),
// "recompute_layers" and "recompute_method" full recomputation; "cp_method" and
// "overlap" ("gradients+tp") are the framework's where absent, and "order" is
// "tp-cp-ep-dp-pp". The answer is a line with
//
//   {"legal": true, "fits": true, "iteration_s": 15.7, ...}
//
// or {"legal": false, "why": "..."} for a layout that breaks a rule.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_OBJECTIVE_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_OBJECTIVE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/planner/layout.h"

namespace astra {

// Reads a question. Errors: InvalidArgument for text that is no such object, an
// unknown key, and a value of another type or out of range.
absl::StatusOr<Layout> ParseLayout(const SimaiPlannerOptions& options,
                                   std::string_view line);

// Returns the answer to a question, with its line end.
//
// Errors: those of ParseLayout; those of RunLayout but for broken rules.
absl::StatusOr<std::string> AnswerLayout(const SimaiPlannerOptions& options,
                                         std::string_view line);

// Answers the lines of stdin on stdout, each at once, until stdin ends.
//
// Errors: those of ReadPlanCluster, before the first line; InvalidArgument
// "line N: ..." with the error of a line.
absl::Status AnswerStdin(const SimaiPlannerOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_OBJECTIVE_H_
