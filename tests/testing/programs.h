// Runs the programs of the project as a user does.

#ifndef TESTS_TESTING_PROGRAMS_H_
#define TESTS_TESTING_PROGRAMS_H_

#include <string>

namespace astra::testing {

struct ProgramResult {
  int exit_code = 0;
  std::string out;
  std::string error;
};

// The path of `program` in the bin/ folder of the build.
std::string ProgramPath(const std::string& program);

// Whether the programs can run under ulimit -v: AddressSanitizer reserves more
// than any limit.
bool CanLimitMemory();

// Runs `program`, of the build's bin/, in `folder` with arguments as a shell
// reads them. stdout and stderr go to files beside the folder, not into it.
ProgramResult RunProgram(const std::string& program,
                         const std::string& arguments,
                         const std::string& folder);

}  // namespace astra::testing

#endif  // TESTS_TESTING_PROGRAMS_H_
