// simai_fit --iteration finds the constants of jobs that gen_workload and
// simai_analytical made.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fmt/core.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr std::string_view kShared =
    "name: ours\n"
    "gen_workload: {model: llama2-13b, gpu: H100, gpus: 16, tp: 4, sp: true,\n"
    "  seq-length: 4096, framework: megatron-core}\n"
    "simai_analytical: {system: dgx-h100}\n"
    "iterations:\n";

class SimaiFitIterationTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& program, const std::string& arguments) {
    return RunProgram(program, arguments, folder_.path());
  }
  void Write(const std::string& name, const std::string& text) {
    testing::WriteText(folder_.PathOf(name), text);
  }
  ProgramResult Fit(const std::string& iterations) {
    Write("it.yaml", std::string(kShared) + iterations);
    return Run("simai_fit", "--iteration it.yaml -o out");
  }
  // The seconds of an iteration of the shared job.
  double Simulate(int global_batch, const std::string& framework) {
    const ProgramResult made =
        Run("gen_workload",
            fmt::format("-m llama2-13b --gpu H100 --gpus 16 --tp 4 --sp "
                        "--seq-length 4096 --framework {} --global-batch {} "
                        "--format program -o w.yaml",
                        framework, global_batch));
    EXPECT_EQ(made.exit_code, 0) << made.error;
    const ProgramResult run =
        Run("simai_analytical", "-w w.yaml --system dgx-h100 -o run");
    EXPECT_EQ(run.exit_code, 0) << run.error;
    const std::string json = ReadText(folder_.PathOf("run/run.json"));
    const std::string key = "\"iteration_ps\": ";
    return std::atof(json.c_str() + json.find(key) + key.size()) * 1e-12;
  }

  TemporaryFolder folder_;
};

TEST_F(SimaiFitIterationTest, RecoversLoadAndHostTime) {
  Write("truth.yaml",
        "name: truth\nbase: megatron-core\nload: 0.7\niteration_us: 50000\n");
  std::string iterations;
  for (const int batch : {16, 64}) {
    iterations += fmt::format(
        "- {{seconds: {:.9f}, spread_pct: 0.1, gen_workload: "
        "{{global-batch: {}}}}}\n",
        Simulate(batch, "truth.yaml"), batch);
  }
  const ProgramResult result = Fit(iterations);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const std::string framework = ReadText(folder_.PathOf("out/ours.yaml"));
  EXPECT_THAT(framework, HasSubstr("\nbase: megatron-core\n"));
  EXPECT_THAT(framework, HasSubstr("\nload: 0.7000\niteration_us: 50000\n"));
  EXPECT_THAT(framework, HasSubstr("expert_host_us: not determined, 450 is "
                                   "kept: no iteration has experts"));
  // What is written predicts what was measured.
  EXPECT_NEAR(Simulate(64, "out/ours.yaml"), Simulate(64, "truth.yaml"), 1e-5);
}

TEST_F(SimaiFitIterationTest, ATraceTellsHostTimeFromComputing) {
  Write("truth.yaml", "name: truth\nbase: megatron-core\nload: 0.7\n");
  const double alone = Simulate(16, "truth.yaml");
  const std::string json = ReadText(folder_.PathOf("run/run.json"));
  const auto picoseconds = [&json](const std::string& key) {
    return std::atof(json.c_str() + json.find(key) + key.size());
  };
  const double computing_us =
      (picoseconds("\"compute_ps\": ") + picoseconds("\"slowed_ps\": ")) * 1e-6;
  Write("trace.json",
        fmt::format(R"({{"distributedInfo":{{"rank":3}},"traceEvents":[)"
                    R"({{"cat":"kernel","name":"all","ts":0,"dur":{}}}]}})",
                    computing_us));
  const ProgramResult result = Fit(fmt::format(
      "- {{seconds: {}, spread_pct: 0.1, trace: trace.json, gen_workload: "
      "{{global-batch: 16}}}}\n",
      alone + 0.2));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(ReadText(folder_.PathOf("out/ours.yaml")),
              HasSubstr("\nload: 0.7000\niteration_us: 19999"));
}

TEST_F(SimaiFitIterationTest, RefusesWhatCannotBe) {
  const auto error = [this](const std::string& iterations) {
    const ProgramResult result = Fit(iterations);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.error;
  };
  EXPECT_THAT(error("- {seconds: 0.1, gen_workload: {global-batch: 16}}\n"),
              HasSubstr("it.yaml:6:13: 0.1 s is impossible: at full speed the "
                        "job takes "));
  EXPECT_THAT(error("- {seconds: 100, gen_workload: {global-batch: 16}}\n"),
              HasSubstr("it.yaml:6:13: only a load of "));
  EXPECT_THAT(
      error("- {seconds: 1, gen_workload: {global-batch: 16}}\n"
            "- {seconds: 1, gen_workload: {global-batch: 16, framework: "
            "fsdp}}\n"),
      HasSubstr("it.yaml:7:13: --framework fsdp differs from megatron-core of "
                "the first iteration: expected one framework for all"));
  EXPECT_THAT(error("- {seconds: 1, gen_workload: {global-batch: 16, load: "
                    "0.5}}\n"),
              HasSubstr("it.yaml:6:13: gen_workload: --load has no effect: it "
                        "is what is sought"));
  EXPECT_THAT(
      error(
          "- {seconds: 1, gen_workload: {global-batch: 16, explain: true}}\n"),
      HasSubstr("it.yaml:6:13: gen_workload: --explain has no effect: nothing "
                "is written for an iteration"));
  EXPECT_THAT(error("- {seconds: 1, gen_workload: {global-batch: 15}}\n"),
              HasSubstr("it.yaml:6:13: gen_workload: "));
  EXPECT_EQ(Run("simai_fit", "--iteration ./").error,
            "simai_fit: error: ./: cannot be read: Is a directory\n");
}

TEST_F(SimaiFitIterationTest, SaysWhichIterationsNoLoadExplains) {
  const auto error = [this](const std::string& iterations) {
    const ProgramResult result = Fit(iterations);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.error;
  };
  // Twice the work takes longer by less than the work at full speed.
  EXPECT_EQ(error("- {seconds: 20, gen_workload: {global-batch: 64}}\n"
                  "- {seconds: 20.1, gen_workload: {global-batch: 128}}\n"),
            "simai_fit: error: it.yaml:6:13: no load is found that explains 20 "
            "s here and 20.1 s of it.yaml:7:13: with load 0.8200 they take "
            "3.22445 s and 6.40401 s\n");
  // The same two iterations are named whichever stands first.
  const std::string two = "- {seconds: 2, gen_workload: {global-batch: 16}}\n";
  const std::string four = "- {seconds: 4, gen_workload: {global-batch: 16}}\n";
  EXPECT_EQ(error(two + four),
            "simai_fit: error: it.yaml:7:13: no load is found that explains 4 "
            "s here and 2 s of it.yaml:6:13: with load 0.8200 they take "
            "0.83978 s and 0.83978 s\n");
  EXPECT_EQ(error(four + two),
            "simai_fit: error: it.yaml:6:13: no load is found that explains 4 "
            "s here and 2 s of it.yaml:7:13: with load 0.8200 they take "
            "0.83978 s and 0.83978 s\n");
  EXPECT_EQ(error("- {seconds: 2, spread_pct: 17, gen_workload: "
                  "{global-batch: 16}}\n"),
            "simai_fit: error: it.yaml:6:13: no load is found that explains 2 "
            "s: with load 0.8200 it takes 0.83978 s\n");
}

}  // namespace
}  // namespace astra
