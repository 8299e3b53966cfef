// What gen_workload writes, read and timed by simai_analytical.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::SplitLines;
using ::astra::testing::TemporaryFolder;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Times of a run, in picoseconds.
struct Times {
  int64_t iteration = 0;
  int64_t compute = 0;
  int64_t bubble = 0;

  friend bool operator==(const Times&, const Times&) = default;
};

int64_t NumberAt(const std::string& json, std::string_view key) {
  const size_t at = json.find(fmt::format("\"{}\": ", key));
  ASTRA_CHECK(at != std::string::npos, "no {}", key);
  return std::atoll(json.c_str() + at + key.size() + 4);
}

class GenWorkloadSimulationTest : public ::testing::Test {
 protected:
  void Run(const std::string& program, const std::string& arguments) {
    SCOPED_TRACE(program + " " + arguments);
    const ProgramResult result = RunProgram(program, arguments, folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.error;
    // gen_workload warns of what SimAI's text leaves out. Some of these models
    // are too large for 8 GPUs, and a warning says so.
    if (program != "gen_workload") {
      EXPECT_THAT(result.error,
                  AnyOf(IsEmpty(), HasSubstr("more than the GPU's 80.0 GiB")));
    }
  }
  void MakeCluster(int num_gpus, const std::string& more = "") {
    Run("gen_topo",
        fmt::format("-topo Spectrum-X -g {} -o topology {}", num_gpus, more));
  }
  void Generate(const std::string& arguments, const std::string& file = "w") {
    Run("gen_workload", fmt::format("{} --gpu H100 -o {}", arguments, file));
  }
  // The results are in the folder `out`.
  Times Simulate(const std::string& out, const std::string& more = "",
                 const std::string& file = "w") {
    Run("simai_analytical",
        fmt::format("-w {} -n topology -o {} {}", file, out, more));
    const std::string json =
        ReadText(folder_.PathOf(fmt::format("{}/run.json", out)));
    return {.iteration = NumberAt(json, "iteration_ps"),
            .compute = NumberAt(json, "compute_ps"),
            .bubble = NumberAt(json, "bubble_ps")};
  }

  // Expects a workload in that format that takes time, all read as meant.
  void ExpectRuns(const std::string& arguments, std::string_view format) {
    SCOPED_TRACE(fmt::format("{} {}", arguments, format));
    Generate(fmt::format("{} --world-size 8 --format {}", arguments, format));
    const Times times = Simulate("out");
    EXPECT_GT(times.compute, 0);
    EXPECT_GE(times.iteration, times.compute + times.bubble);
  }
  void ExpectRunsInBothFormats(const std::string& arguments) {
    ExpectRuns(arguments, "simai");
    ExpectRuns(arguments, "program");
  }

  // 1048576 sequences in 32768 steps of 32 replicas, computed from the runs of
  // few steps in which every step is simulated.
  void ExpectScales(const std::string& arguments);

  TemporaryFolder folder_;
};

TEST_F(GenWorkloadSimulationTest, RunsDenseModels) {
  MakeCluster(8);
  const std::string batch = "-m gpt-22b --global-batch 16 --seq-length 512 ";
  ExpectRunsInBothFormats(batch + "--tp 2");
  ExpectRunsInBothFormats(batch + "--tp 4 --sp");
  ExpectRunsInBothFormats(batch + "--tp 2 --pp 2 --vpp 2 --recompute full");
  ExpectRunsInBothFormats(batch + "--framework fsdp");
  ExpectRunsInBothFormats(batch + "--framework deepspeed --zero 2");
}

TEST_F(GenWorkloadSimulationTest, RunsExpertsAndContexts) {
  MakeCluster(8);
  const std::string batch = " --global-batch 16 --seq-length 512 ";
  const std::string moe = "-m mixtral-8x7b" + batch;
  ExpectRunsInBothFormats(moe + "--tp 2 --sp --ep 2 --etp 2");
  ExpectRunsInBothFormats(moe + "--tp 2 --sp --ep 4 --etp 1");
  ExpectRuns(moe + "--tp 4 --sp --ep 2 --etp 2", "program");
  ExpectRuns(moe + "--framework fsdp --ep 8", "program");
  for (const char* method : {"ring", "all-gather", "all-to-all"}) {
    ExpectRuns(fmt::format("-m llama3-8b {} --tp 2 --cp 2 --cp-method {}",
                           batch, method),
               "program");
  }
}

// On two servers of 8, the stages of the other order are on one server and the
// replicas on two.
TEST_F(GenWorkloadSimulationTest, AnOrderOfRanksMovesTheMessages) {
  MakeCluster(16);
  const auto iteration = [&](const std::string& order) {
    Generate(
        "-m llama3-8b --num-layers 4 --world-size 16 --tp 2 --sp --pp 2 "
        "--global-batch 16 --seq-length 4096 --format program " +
        order);
    const int64_t closed = Simulate("closed").iteration;
    const int64_t all =
        Simulate("all", "--fidelity analytical").iteration;  // Of each rank.
    EXPECT_NEAR(static_cast<double>(all) / static_cast<double>(closed), 1,
                0.001);
    return closed;
  };
  const int64_t usual = iteration("");
  EXPECT_EQ(iteration("--order cp-tp-ep-dp-pp"), usual);  // CP is 1.
  EXPECT_NE(iteration("--order tp-cp-ep-pp-dp"), usual);
  MakeCluster(8);
  ExpectRuns(
      "-m mixtral-8x7b --global-batch 16 --seq-length 512 --tp 2 --sp --pp 2 "
      "--ep 2 --etp 1 --order ep-tp-cp-pp-dp",
      "program");
}

TEST_F(GenWorkloadSimulationTest, RunsInferenceOfDeepSeekV3) {
  MakeCluster(8);
  for (const char* phase : {"prefill", "decode"}) {
    const std::string step = fmt::format(
        "-m deepseek-v3 --batch 32 --seq-length 1024 --phase {} ", phase);
    ExpectRunsInBothFormats(step + "--ep 8");
    ExpectRunsInBothFormats(step + "--tp 4 --pp 2 --ep 4");
  }
}

TEST_F(GenWorkloadSimulationTest, RunsEveryBundledModel) {
  MakeCluster(8);
  const std::string names =
      RunProgram("gen_workload", "--list-models", folder_.path()).out;
  const std::vector<std::string_view> lines = SplitLines(names);
  EXPECT_GE(lines.size(), 20);
  for (const std::string_view line : lines) {
    const std::string arguments =
        fmt::format("-m {} --tp 2 --sp --global-batch 4 --seq-length 64",
                    line.substr(0, line.size() - 1));
    ExpectRunsInBothFormats(arguments);
  }
}

TEST_F(GenWorkloadSimulationTest, RunsLlamaOn16384Gpus) {
  MakeCluster(16'384, "--pods 4");
  for (const char* format : {"simai", "program"}) {
    Generate(fmt::format(
        "-m llama3-405b --world-size 16384 --tp 8 --pp 16 --global-batch 2048 "
        "--seq-length 8192 --format {}",
        format));
    const Times times = Simulate("out");
    EXPECT_GT(times.bubble, 0);
    EXPECT_THAT(ReadText(folder_.PathOf("out/run.json")),
                HasSubstr("\"gpus\": 16384"));
  }
}

void GenWorkloadSimulationTest::ExpectScales(const std::string& arguments) {
  SCOPED_TRACE(arguments);
  constexpr int64_t kReplicas = 32;
  const auto generate = [&](int64_t steps, const std::string& file) {
    Generate(fmt::format("{} --seq-length 1024 --format program "
                         "--global-batch {}",
                         arguments, kReplicas * steps),
             file);
  };
  generate(32, "w32");
  generate(64, "w64");
  generate(32'768, "w32768");
  EXPECT_LT(ReadText(folder_.PathOf("w32768")).size(), 64 << 10);

  const Times few = Simulate("few", "--unroll", "w32");
  const Times run = Simulate("unrolled", "--unroll", "w64");
  EXPECT_EQ(Simulate("counted", "", "w64"), run);
  for (const std::string file : {"EndToEnd.csv", "links.csv"}) {
    EXPECT_EQ(ReadText(folder_.PathOf("counted/" + file)),
              ReadText(folder_.PathOf("unrolled/" + file)));
  }

  // time = what happens once + steps x (time of a step).
  const auto steps = static_cast<double>(2 * (run.iteration - few.iteration));
  const auto others = static_cast<double>(run.iteration) - steps;
  const double expected = steps * 32'768 / 64 + others;
  EXPECT_NEAR(static_cast<double>(Simulate("all", "", "w32768").iteration),
              expected, 1e-3 * expected);
}

TEST_F(GenWorkloadSimulationTest, CountsAMillionSequences) {
  MakeCluster(128);
  ExpectScales("-m gpt-22b --world-size 128 --tp 2 --pp 2");
  ExpectScales("-m gpt-22b --world-size 128 --tp 4 --framework fsdp");
}

}  // namespace
}  // namespace astra
