// Sweeps of the made-up programs, for tests.

#ifndef TESTS_ASTRA_CORE_SWEEP_SMALL_SWEEPS_H_
#define TESTS_ASTRA_CORE_SWEEP_SMALL_SWEEPS_H_

#include <string>
#include <string_view>

#include "astra-core/sweep/sweep_file.h"
#include "fmt/core.h"
#include "tests/astra-core/sweep/made_up_programs.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

inline absl::StatusOr<Sweep> TryToRead(std::string_view parts) {
  return ReadSweep("s.yaml", fmt::format("simai_sweep: 1\n{}", parts), "folder",
                   kMadePrograms);
}

inline Sweep Read(std::string_view parts) {
  return ValueOrDie(TryToRead(parts));
}

// The message for a file of which `parts` begins with line 2, without its name.
inline std::string ErrorOf(std::string_view parts) {
  const absl::StatusOr<Sweep> sweep = TryToRead(parts);
  if (sweep.ok()) return "no error";
  EXPECT_EQ(sweep.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(sweep.status().message());
  EXPECT_EQ(message.substr(0, 7), "s.yaml:");
  return message.substr(7);
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SWEEP_SMALL_SWEEPS_H_
