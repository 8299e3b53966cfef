// Tests which files a run with --jobs leaves in its output folder.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobsProgramTest : public ::testing::Test {
 protected:
  JobsProgramTest() {
    WriteText(folder_.PathOf("w.txt"),
              "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: "
              "1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 "
              "checkpoint_initiates: 0 pp_comm: 0\n1\n"
              "reduce -1 1000 ALLREDUCE 1048576 0 NONE 0 0 NONE 0 0\n");
    WriteText(folder_.PathOf("j.yaml"),
              "simai_jobs: 1\njobs: [{name: a, workload: w.txt}]\n");
    EXPECT_EQ(RunProgram("gen_topo", "-topo Spectrum-X -g 8 -psn 1 -o t.txt",
                         folder_.path())
                  .exit_code,
              0);
  }

  ProgramResult Simulate(const std::string& more) {
    return RunProgram("simai_simulator",
                      "--jobs j.yaml -n t.txt --fidelity flow -o o " + more,
                      folder_.path());
  }

  // Returns the names of what is in a folder, sorted.
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.PathOf(folder))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
};

// The results of an earlier run would pass for those of one that is stuck. What
// is no result stays.
TEST_F(JobsProgramTest, ARunThatIsStuckLeavesNoResults) {
  ASSERT_EQ(Simulate("").exit_code, 0);
  ASSERT_THAT(Names("o"), Contains("jobs.csv"));
  ASSERT_THAT(Names("o/a"), Contains("collectives.csv"));
  WriteText(folder_.PathOf("o/notes.txt"), "mine\n");
  WriteText(folder_.PathOf("e.yaml"),
            "simai_events: 1\nevents: [{gpu: 3, dead: true}]\n");
  const ProgramResult result = Simulate("--events e.yaml");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("\nnot finished j: job a: iteration 0, "));
  EXPECT_THAT(Names("o"), ElementsAre("a", "notes.txt"));
  EXPECT_THAT(Names("o/a"), ElementsAre());
}

}  // namespace
}  // namespace astra::testing
