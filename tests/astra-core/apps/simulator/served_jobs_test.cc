// Jobs that serve, as users run them: what simai_serving says of a deployment
// alone, simai_simulator --jobs says too.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ServedJobsTest : public ::testing::Test {
 protected:
  // Four servers, two below each of two leaves, which one cable of each rail
  // joins.
  void SetUp() override {
    ASSERT_EQ(
        Run("gen_topo", "-topo DCN+ -g 32 -gt H100 -nps 16 -psn 1 -o t.txt"),
        "");
  }

  // Runs the program, and returns its error; "" if there is none.
  std::string Run(const std::string& program, const std::string& arguments) {
    result_ = RunProgram(program, arguments, folder_.path());
    return result_.exit_code == 0 ? "" : result_.error;
  }

  std::string RunJobs(const std::string& jobs, const std::string& more = "") {
    WriteText(folder_.PathOf("j.yaml"), "simai_jobs: 1\njobs:\n" + jobs);
    return Run("simai_simulator", absl::StrCat("--jobs j.yaml -n t.txt -o o ",
                                               more, " --fidelity flow"));
  }

  // Returns what is wrong with the keys of a job, without the name of the
  // program.
  std::string ErrorOf(const std::string& keys) {
    const std::string error =
        RunJobs(absl::StrCat("- {name: a, serving: {", keys, "}}\n"));
    constexpr std::string_view kProgram = "simai_simulator: error: ";
    return error.starts_with(kProgram)
               ? error.substr(kProgram.size(),
                              error.size() - kProgram.size() - 1)
               : error;
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

  std::string Text(const std::string& file) const {
    return ReadText(folder_.PathOf(file));
  }

  TemporaryFolder folder_;
  ProgramResult result_;
};

// KV caches between servers, collectives of TP, and messages between stages.
TEST_F(ServedJobsTest, AloneAJobIsARunOfSimaiServing) {
  struct Case {
    std::string layout;  // Options, which are keys with other marks.
    std::string fidelity;
  };
  for (const auto& [layout, fidelity] :
       {Case{"--tp 8 --decode-replicas 1", "flow"},
        Case{"--tp 8 --decode-replicas 1", "packet"}, Case{"--tp 16", "flow"},
        Case{"--tp 8 --pp 2", "flow"}}) {
    const std::string options =
        layout +
        " --model llama3-8b --gpu-type H100 --requests 4 --isl 512 "
        "--osl 3 --rate 100";
    ASSERT_EQ(Run("simai_serving",
                  absl::StrCat(options, " --steps -n t.txt --fidelity ",
                               fidelity, " --result a -o alone")),
              "");
    std::string keys = absl::StrReplaceAll(options, {{" --", ", "}});
    keys = absl::StrReplaceAll(keys.substr(2), {{", ", "\n"}, {" ", ": "}});
    keys = absl::StrReplaceAll(keys, {{"\n", ", "}});
    WriteText(folder_.PathOf("j.yaml"),
              absl::StrCat("simai_jobs: 1\njobs:\n- name: a\n  servers: [0, 1]"
                           "\n  serving: {",
                           keys, ", steps: true}\n"));
    ASSERT_EQ(Run("simai_simulator",
                  "--jobs j.yaml -n t.txt -o o --fidelity " + fidelity),
              "");
    for (const std::string file : {"requests.csv", "metrics.csv", "steps.csv",
                                   "run.json", "serving.html"}) {
      EXPECT_EQ(Text("o/a/" + file), Text("alone/" + file))
          << layout << " " << fidelity << " " << file;
    }
  }
  EXPECT_THAT(Text("o/jobs.csv"), HasSubstr("\na,llama3-8b,16,0-1,0.000000,"));
  EXPECT_THAT(Text("o/run.json"), HasSubstr("\"tp\": \"8\""));
}

// Prompts are computed below one leaf and decoded below the other, so that KV
// caches meet the gradients of training on the cables between the two.
TEST_F(ServedJobsTest, RequestsAndTrainingMeet) {
  ASSERT_EQ(Run("gen_workload",
                "-m gpt-7b --num-layers 1 --gpu H100 --gpus 16 --tp 8 "
                "--micro-batch 1 --global-batch 2 --seq-length 512 --format "
                "program -o w.yaml"),
            "");
  const std::string keys =
      "model: llama3-8b, gpu-type: H100, tp: 8, decode_replicas: 1, requests: "
      "6, isl: 2048, osl: 4, rate: 100, steps: ";
  const std::string train =
      "- {name: train, servers: [1, 3], workload: w.yaml, iterations: "
      "until_served}\n";
  const auto jobs = [&](const std::string& steps) {
    return absl::StrCat("- {name: a, servers: [0, 2], serving: {", keys, steps,
                        "}}\n", train);
  };
  ASSERT_EQ(RunJobs(jobs("true")), "");
  EXPECT_THAT(Text("o/latencies.csv"),
              AllOf(HasSubstr("\na,ttft,6,"), HasSubstr("\na,kv_transfer,6,"),
                    HasSubstr("\na,e2e,6,")));
  EXPECT_THAT(Text("o/a/steps.csv"), HasSubstr("\n"));
  EXPECT_THAT(result_.out,
              HasSubstr("\njob        train: 16 GPUs on servers 1 3, "));
  EXPECT_THAT(result_.out, AllOf(HasSubstr("\nshared     "),
                                 Not(HasSubstr("no link in common"))));
  const std::string first = result_.out;
  ASSERT_EQ(RunJobs(jobs("false")), "");
  EXPECT_EQ(result_.out, first);
  // Files of the run before are gone.
  EXPECT_THAT(Names("o/a"), ElementsAre("metrics.csv", "requests.csv",
                                        "run.json", "serving.html"));
}

TEST_F(ServedJobsTest, JobsThatAreGoneLeaveNoFiles) {
  ASSERT_EQ(Run("gen_workload",
                "-m gpt-7b --num-layers 1 --gpu H100 --gpus 16 --tp 8 "
                "--micro-batch 1 --global-batch 2 --seq-length 512 --format "
                "program -o w.yaml"),
            "");
  const std::string x = "- {name: x, workload: w.yaml, servers: [0, 1]}\n";
  const std::string y = "- {name: y, workload: w.yaml, servers: [2, 3]}\n";
  ASSERT_EQ(RunJobs(x + y), "");
  WriteText(folder_.PathOf("o/y/notes.txt"), "of the user");
  std::filesystem::create_directory(folder_.PathOf("o/z"));
  WriteText(folder_.PathOf("o/z/EndToEnd.csv"), "of no job");
  ASSERT_EQ(RunJobs(x), "");
  EXPECT_THAT(Names("o/x"), Contains("EndToEnd.csv"));
  EXPECT_THAT(Names("o/y"), ElementsAre("notes.txt"));
  EXPECT_THAT(Names("o/z"), ElementsAre("EndToEnd.csv"));
  ASSERT_EQ(Run("simai_analytical", "-w w.yaml --system dgx-h100 -o o"), "");
  EXPECT_THAT(Names("o/x"), ElementsAre());
  EXPECT_THAT(Names("o/z"), ElementsAre("EndToEnd.csv"));
}

TEST_F(ServedJobsTest, MistakesNameTheKeyAndItsPlace) {
  const std::string keys =
      "model: llama3-8b, gpu-type: H100, tp: 8, decode-replicas: 1, ";
  EXPECT_THAT(ErrorOf(keys + "request: 2"),
              ::testing::StartsWith(
                  "j.yaml:3:93: unknown key of serving \"request\"; did you "
                  "mean \"requests\"? (known: model, gpu-type, "));
  EXPECT_EQ(ErrorOf(keys + "isl: 4, osl: 2, rate: 1"),
            "j.yaml:3:10: job a: requests is missing");
  EXPECT_EQ(ErrorOf(keys + "isl: x, osl: 2, rate: 1, requests: 1"),
            "j.yaml:3:89: job a: isl is \"x\": expected a whole number from 1 "
            "to 16777216");
  EXPECT_EQ(ErrorOf(keys + "isl: 4, osl: 2, rate: 1..4, requests: 1"),
            "j.yaml:3:106: job a: rate is a list: expected one load of a job");
  EXPECT_EQ(ErrorOf(keys + "steps: 1"),
            "j.yaml:3:91: steps is \"1\": expected true or false");
  EXPECT_EQ(ErrorOf(keys + "topology: t.txt"),
            "j.yaml:3:94: topology is no key of a job: simai_simulator and the "
            "file of jobs say it");
  EXPECT_EQ(ErrorOf("model: llama3-8b, gpu-type: A100, tp: 8, "
                    "decode-replicas: 1, isl: 4, osl: 2, rate: 1, requests: 1"),
            "j.yaml:3:51: job a: gpu-type is \"a100-sxm-80gb\", but t.txt has "
            "\"H100\"");
  EXPECT_EQ(ErrorOf("model: llama3-8b, gpu-type: H100, tp: 8, isl: 4, osl: 2, "
                    "rate: 1, requests: 1"),
            "j.yaml:3:10: job a: nothing is on the network of fidelity flow: a "
            "replica of 8 GPUs does not take several whole servers of 8, and "
            "there is no decode-replicas or load-weights");
  EXPECT_EQ(ErrorOf(keys + "trace: no.csv"),
            "j.yaml:3:91: job a: no.csv: cannot be read: No such file or "
            "directory");
}

TEST_F(ServedJobsTest, OnlyTheSimulatorServes) {
  WriteText(folder_.PathOf("j.yaml"),
            "simai_jobs: 1\njobs: [{name: a, serving: {tp: 8}}]\n");
  EXPECT_EQ(Run("simai_analytical", "--jobs j.yaml -n t.txt --fidelity flow"),
            "simai_analytical: error: j.yaml:2:15: job a: only simai_simulator "
            "runs jobs that serve\n");
}

TEST_F(ServedJobsTest, SimaiServingHasNoOptionForAJobOfAnotherGpu) {
  WriteText(folder_.PathOf("p.yaml"),
            "simai_program: 1\n"
            "sizes: {gpus: 8}\n"
            "gpu: {name: a100-sxm-80gb}\n"
            "modules:\n"
            "  - name: block\n"
            "    forward: [{compute: 5us}]\n"
            "stages: [{run: [{modules: [block]}]}]\n");
  EXPECT_EQ(Run("simai_serving",
                "-m llama3-8b --gpu H100 --requests 2 --isl 128 --osl 2 --rate "
                "4 --tp 8 --decode-replicas 1 --fidelity flow -n t.txt "
                "--beside p.yaml"),
            "simai_serving: error: p.yaml is timed for the GPU "
            "\"a100-sxm-80gb\", but t.txt has \"H100\"\n");
}

}  // namespace
}  // namespace astra::testing
