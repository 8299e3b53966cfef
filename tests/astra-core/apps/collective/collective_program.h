// Runs simai_collective in a folder of its own, for tests.

#ifndef TESTS_ASTRA_CORE_APPS_COLLECTIVE_COLLECTIVE_PROGRAM_H_
#define TESTS_ASTRA_CORE_APPS_COLLECTIVE_COLLECTIVE_PROGRAM_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra {

class CollectiveProgramTest : public ::testing::Test {
 protected:
  testing::ProgramResult Run(const std::string& arguments) {
    return testing::RunProgram("simai_collective", arguments, folder_.path());
  }

  // Expects success without a warning; returns what was printed.
  std::string Print(const std::string& arguments) {
    const testing::ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    return result.out;
  }

  // Expects exit code 2, one line on stderr, and no results.
  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> before = folder_.Names();
    const testing::ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "simai_collective: error: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(folder_.Names(), before);
  }

  std::string Read(const std::string& name) {
    return testing::ReadText(folder_.PathOf(name));
  }

  testing::TemporaryFolder folder_;
};

}  // namespace astra

#endif  // TESTS_ASTRA_CORE_APPS_COLLECTIVE_COLLECTIVE_PROGRAM_H_
