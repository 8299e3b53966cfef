// Tells the user what the work of a program will take, estimated from counts,
// before it begins. Refuses work for which the memory does not suffice.
//
//   ASTRA_RETURN_IF_ERROR(AnnounceWork({.seconds = 45, .memory_bytes = 2e9},
//                                      flags.has("force")));

#ifndef ASTRA_CORE_APPS_WORK_BUDGET_H_
#define ASTRA_CORE_APPS_WORK_BUDGET_H_

#include <string>

#include "absl/status/status.h"

namespace astra {

struct WorkBudget {
  double seconds = 0;
  double memory_bytes = 0;
};

// Returns a line that says what the work takes; empty below 10 s and 1 GiB.
std::string DescribeWork(const WorkBudget& work);

// Compares the work with `free_bytes` of memory. Errors: ResourceExhausted,
// with both figures, if the work takes more.
absl::Status CheckWork(const WorkBudget& work, double free_bytes);

// Prints DescribeWork() to stdout at once. Unless `is_forced`, returns the
// errors of CheckWork() for the memory that is free now.
absl::Status AnnounceWork(const WorkBudget& work, bool is_forced);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_WORK_BUDGET_H_
