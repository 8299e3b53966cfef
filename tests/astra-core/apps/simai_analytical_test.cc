// simai_analytical as a user runs it.

#include <sys/wait.h>

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

using ::astra::testing::ProgramPath;
using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WithLine;
using ::astra::testing::WriteText;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kWorkload =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 "
    "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: "
    "0\n1\n"
    "l -1 1000 ALLREDUCE 16777216 0 NONE 0 0 NONE 0 0\n";

class SimaiAnalyticalTest : public ::testing::Test {
 protected:
  SimaiAnalyticalTest() {
    WriteText(folder_.PathOf("w.txt"), kWorkload);
    EXPECT_EQ(
        RunProgram("gen_topo", "-topo Spectrum-X -g 8 -psn 1 -nl 0ns -o t.txt",
                   folder_.path())
            .exit_code,
        0);
  }

  ProgramResult Analyse(const std::string& arguments) {
    return RunProgram("simai_analytical", arguments, folder_.path());
  }

  // Expects exit code 2, one line on stderr, and no results.
  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> before = folder_.Names();
    const ProgramResult result = Analyse(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "simai_analytical: error: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(folder_.Names(), before);
  }

  TemporaryFolder folder_;
};

// 16 MiB lies half-way between 8 and 32 MiB on a logarithmic scale: the time is
// the geometric mean of 100 and 400 us.
TEST_F(SimaiAnalyticalTest, MeasuredTimesGoBeforeTheModel) {
  WriteText(folder_.PathOf("m.csv"),
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
            "A100,1,8,none,all_reduce,8388608,100\n"
            "A100,1,8,none,all_reduce,33554432,400\n");
  ASSERT_EQ(RunProgram("gen_topo",
                       "-topo Spectrum-X -g 8 -psn 1 -gt A100 -o a100.txt",
                       folder_.path())
                .exit_code,
            0);
  for (const std::string_view fidelity : {"closed-form", "flow"}) {
    const ProgramResult result =
        Analyse(fmt::format("-w w.txt -n a100.txt --measured m.csv --fidelity "
                            "{} -o {}",
                            fidelity, fidelity));
    EXPECT_EQ(result.error, "");
    const std::string table =
        ReadText(folder_.PathOf(fmt::format("{}/collectives.csv", fidelity)));
    EXPECT_THAT(table, HasSubstr(",interpolated\n"));
    const size_t time = table.find(fidelity == "flow" ? ",20" : ",200.000000,");
    EXPECT_NE(time, std::string::npos) << table;
  }
  EXPECT_THAT(
      Analyse("-w w.txt -n a100.txt --collectives ring --measured m.csv").error,
      "simai_analytical: error: --measured has no effect with "
      "--collectives ring\n");
}

TEST_F(SimaiAnalyticalTest, MeasurementsOfOtherGroupsAreNamed) {
  WriteText(folder_.PathOf("m.csv"),
            "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us\n"
            "A100,1,4,none,all_reduce,8388608,100\n");
  ASSERT_EQ(RunProgram("gen_topo",
                       "-topo Spectrum-X -g 8 -psn 1 -gt A100 -o a100.txt",
                       folder_.path())
                .exit_code,
            0);
  EXPECT_EQ(
      Analyse("-w w.txt -n a100.txt --measured m.csv -o out").error,
      "simai_analytical: warning: m.csv: no effect: nothing there was "
      "measured for a collective of this run, such as all-reduce on 1 x 8 "
      "GPUs\n");
}

TEST_F(SimaiAnalyticalTest, RefusesAClusterThatDoesNotFitIntoMemory) {
  if (!::astra::testing::CanLimitMemory()) GTEST_SKIP();
  std::string workload(kWorkload);
  workload.replace(workload.find("all_gpus: 8"), 11, "all_gpus: 1048576");
  WriteText(folder_.PathOf("large.txt"), workload);
  const std::string command = fmt::format(
      "cd '{}' && ulimit -v 300000 && '{}' -w large.txt -g 1048576 -g_p_s 8 "
      "-nv 360 -nic 48.5 -o x >out 2>error",
      folder_.path(), ProgramPath("simai_analytical"));
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_THAT(
      ReadText(folder_.PathOf("error")),
      ::testing::MatchesRegex(
          "simai_analytical: error: this needs up to about [0-9.]+ GiB of "
          "memory, and [0-9.]+ GiB are free; --force runs it all the same\n"));
  EXPECT_THAT(folder_.Names(),
              ElementsAre("error", "large.txt", "out", "t.txt", "w.txt"));
}

TEST_F(SimaiAnalyticalTest, TakesSimAIsCommandsLiterally) {
  const std::string command =
      "-w w.txt -g 8 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8 -r example- ";
  // As the code of SimAI has -v, and as its documents have it.
  for (const std::string chart : {"-v 1", "-v"}) {
    const ProgramResult result = Analyse(command + "-r_f folder " + chart);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.out, HasSubstr("\nresults    results/folder/example-:"));
    EXPECT_THAT(result.out, HasSubstr(" chart.html"));
  }
  // 2 * 7/8 * 16 MiB at 360 GB/s and 14 steps of 50 ns; 1 us of computation.
  const std::string path = folder_.PathOf("results/folder/example-/chart.html");
  EXPECT_THAT(ReadText(path),
              HasSubstr(">exposed TP</th><td class=\"number\">0.082256<"));
  EXPECT_THAT(ReadText(path),
              HasSubstr(">computation</th><td class=\"number\">0.001000<"));

  EXPECT_EQ(Analyse(command + "-v -l ja -o a").exit_code, 0);
  EXPECT_THAT(ReadText(folder_.PathOf("a/chart.html")), HasSubstr("計算"));
  EXPECT_THAT(Analyse(command + "-l en -o b").error,
              StartsWith("simai_analytical: warning: --lang has no effect "
                         "without -v, which writes chart.html\n"));
  ExpectRefused(command + "-r_f c -o d",
                "--result-folder has no effect beside --output");
  const ProgramResult refused = Analyse(command + "-v 2 -o e");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("--visual \"2\""));
  EXPECT_THAT(refused.error, HasSubstr("(known: 0, 1)\n"));
}

TEST_F(SimaiAnalyticalTest, TimesARingAllReduceExactly) {
  const ProgramResult result = Analyse("-w w.txt -n t.txt --collectives ring");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.out, EndsWith("finished   w: 0.082556 ms\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("results/w/collectives.csv")),
              HasSubstr(",1.000000,1.000000,82.555911,81.555911,"));
}

TEST_F(SimaiAnalyticalTest, WritesTheSameBytesAgain) {
  ASSERT_EQ(Analyse("-w w.txt -n t.txt -o a").exit_code, 0);
  ASSERT_EQ(Analyse("-w w.txt -n t.txt -o deep/b").exit_code, 0);
  for (const std::string name : {"EndToEnd.csv", "iteration.csv",
                                 "collectives.csv", "links.csv", "run.json"}) {
    EXPECT_EQ(ReadText(folder_.PathOf("a/" + name)),
              ReadText(folder_.PathOf("deep/b/" + name)));
  }
}

TEST_F(SimaiAnalyticalTest, WritesNothingBesideItsFolder) {
  ASSERT_EQ(Analyse("-w w.txt -n t.txt -r name").exit_code, 0);
  EXPECT_THAT(folder_.Names(), ElementsAre("results", "t.txt", "w.txt"));
}

TEST_F(SimaiAnalyticalTest, TakesSimAisSpellings) {
  EXPECT_EQ(Analyse("-w w.txt -g 8 -g_p_s 8 -n_p_s 8 -nv 360 -nic 48.5 -g_type "
                    "H100 -tp_o=0.1 -r micro-")
                .exit_code,
            0);
  EXPECT_EQ(Analyse("--workload w.txt --gpus 8 --gpus-per-server 8 "
                    "--nic_per_server 8 --gpu_type h100 --nic_type CX7")
                .exit_code,
            0);
}

// SimAI's users give all of them to every run.
TEST_F(SimaiAnalyticalTest, WarnsOfOverlapsOfNothing) {
  const ProgramResult result =
      Analyse("-w w.txt -n t.txt -dp_o 0.5 -tp_o 0.5 -ep_o 0.5 -pp_o 0.5");
  EXPECT_EQ(result.exit_code, 0);
  std::string warnings;
  for (const char* dimension : {"dp DP", "ep EP", "pp PP"}) {
    const std::string_view names = dimension;
    warnings += fmt::format(
        "simai_analytical: warning: --{}-overlap has no effect: w.txt has no "
        "{} communication\n",
        names.substr(0, 2), names.substr(3));
  }
  EXPECT_EQ(result.error, warnings);
}

// A program of one module that keeps 8 GiB, timed for a GPU of 4.
constexpr std::string_view kLargeProgram =
    "simai_program: 1\n"
    "sizes: {gpus: 8}\n"
    "gpu: {name: a100-sxm-80gb, memory: 4294967296}\n"
    "modules:\n"
    "  - name: block\n"
    "    memory: {weights: 8589934592}\n"
    "    forward: [{compute: 5us}]\n"
    "stages: [{run: [{modules: [block]}]}]\n";

TEST_F(SimaiAnalyticalTest, RefusesAProgramThatIsTimedForAnotherGpu) {
  WriteText(folder_.PathOf("p.yaml"), kLargeProgram);
  const std::string message =
      "p.yaml is timed for the GPU \"a100-sxm-80gb\", but t.txt has "
      "\"H100\"";
  ExpectRefused("-w p.yaml -n t.txt",
                message + " (--gpu-mismatch runs it all the same)");
  const ProgramResult allowed = Analyse("-w p.yaml -n t.txt --gpu-mismatch");
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.error,
              StartsWith("simai_analytical: warning: " + message + "\n"));
  // The GPU of the topology has the name, or none.
  for (const char* cluster : {"-g_type A100", "-g_type a100-sxm-80gb", ""}) {
    EXPECT_EQ(
        Analyse(fmt::format("-w p.yaml -g 8 -g_p_s 8 -nv 300 {}", cluster))
            .exit_code,
        0);
  }
}

TEST_F(SimaiAnalyticalTest, SaysWhetherAProgramFitsIntoTheGpu) {
  std::string program(kLargeProgram);
  WriteText(folder_.PathOf("p.yaml"), program);
  const std::string run = "-w p.yaml -g 8 -g_p_s 8 -nv 300 -o o";
  const ProgramResult result = Analyse(run);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.error,
      "simai_analytical: warning: p.yaml: stage 0 allocates 8.0 GiB, more "
      "than the GPU's 4.0 GiB\n");
  EXPECT_THAT(
      ReadText(folder_.PathOf("o/run.json")),
      AllOf(HasSubstr("\"fits\": false"), HasSubstr("\"gpu_memory_gib\": 4.0"),
            HasSubstr("\"allocated_memory_gib\": 8.0")));

  program.replace(program.find("4294967296"), 10, "8589934592");
  WriteText(folder_.PathOf("p.yaml"), program);
  EXPECT_EQ(Analyse(run).error, "");
  EXPECT_THAT(ReadText(folder_.PathOf("o/run.json")),
              HasSubstr("\"fits\": true"));
}

// 1 us of computation, and 119.83 us that simai_collective --system dgx-h100
// --gpus 8 --launch queued says of an all-reduce of 16 MiB.
TEST_F(SimaiAnalyticalTest, ASystemIsAClusterToo) {
  const ProgramResult result = Analyse("-w w.txt --system dgx-h100 -o o");
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.out, HasSubstr("8 h100-sxm in 1 server of 8"));
  EXPECT_THAT(result.out, EndsWith("finished   w: 0.120828 ms\n"));
}

TEST_F(SimaiAnalyticalTest, RefusesWhatItCannotUse) {
  ExpectRefused("", "--workload is missing: give a workload file with -w");
  ExpectRefused("-w w.txt -n t.txt --topolgy x",
                "unknown option \"--topolgy\"; did you mean --topology FILE? "
                "(--help lists all)");
  ExpectRefused("-w w.txt -n none.txt",
                "none.txt: cannot be read: No such file or directory");
  ExpectRefused("-w none.txt -n t.txt",
                "none.txt: cannot be read: No such file or directory");
  ExpectRefused("-w w.txt -n t.txt -g 16",
                "--gpus is 16, but w.txt and t.txt have 8");
  ExpectRefused("-w w.txt -n t.txt -g_type A100",
                "--gpu-type is \"A100\", but t.txt has \"H100\"");
  ExpectRefused("-w w.txt -n t.txt -nv 360",
                "--nvlink has no effect: -n says what the cluster is");
  WriteText(folder_.PathOf("gather.txt"),
            WithLine(kWorkload, 3,
                     "l -1 1000 ALLGATHER 16777216 0 NONE 0 0 NONE 0 0"));
  WriteText(
      folder_.PathOf("training.txt"),
      WithLine(kWorkload, 3,
               "l -1 1000 ALLREDUCE 16777216 0 NONE 0 0 ALLREDUCE 1024 0"));
  ExpectRefused("-w training.txt -n t.txt --engine vllm",
                "--engine has no effect: training.txt is of training, which no "
                "engine of inference runs");
  ExpectRefused("-w gather.txt -n t.txt --engine vllm",
                "--engine has no effect: gather.txt has no all-reduce between "
                "ranks");
  ExpectRefused("-w w.txt -n t.txt --seed 3",
                "--seed has no effect with --fidelity closed-form: without "
                "--jitter nothing is random");
  ExpectRefused("-w w.txt -n t.txt --memory-snapshot",
                "--memory-snapshot has no effect: w.txt says nothing of "
                "memory");
  ExpectRefused("-w w.txt -n t.txt --snapshot-stage 1",
                "--snapshot-stage has no effect without --memory-snapshot");
  ExpectRefused("-w w.txt -n t.txt --contention 1",
                "--contention is \"1\": expected a number from 0 to 0.99");
  ExpectRefused("-w w.txt -n t.txt -dp_o 1.5",
                "--dp-overlap is \"1.5\": expected a number from 0 to 1");
  ExpectRefused("-w w.txt -n t.txt --lowering flow-graph",
                "--lowering is gone: --fidelity NAME takes its place (--help "
                "has it)");
  ExpectRefused("-w w.txt -n t.txt --fidelity exact",
                "unknown --fidelity \"exact\" (known: closed-form, "
                "analytical, flow, packet)");
  ExpectRefused("-w w.txt -n t.txt --estimate",
                "--estimate has no effect with --fidelity closed-form");
  ExpectRefused("-w w.txt -g 8 -g_p_s 8 -nv 360 -nic_t cx9",
                "unknown --nic-type \"cx9\"; did you mean \"cx6\"? (known: "
                "cx6, cx7, bf3)");
  ExpectRefused("-w w.txt -g 8",
                "no cluster: give a topology with -n, a system with --system, "
                "or -g, -g_p_s, -nv and -nic");
  ExpectRefused("-w w.txt -g 8 -nv 360",
                "--gpus-per-server is missing: give a topology with -n, a "
                "system with --system, or -g, -g_p_s, -nv and -nic");
  ExpectRefused("-w w.txt --system dgx-h100 -g 16",
                "w.txt is for 8 GPUs (all_gpus), --system has 16");
  ExpectRefused("-w w.txt -g 8 -g_p_s 8",
                "--nvlink or --gpu-type is missing: without -n a cluster is "
                "built from them");
  ExpectRefused("-w w.txt -g 16 -g_p_s 8 -nv 360",
                "w.txt is for 8 GPUs (all_gpus), -g has 16");
  ExpectRefused("-w w.txt -n t.txt -r a/b",
                "--result is \"a/b\": expected a name without \"/\" and "
                "control characters; see -o");
  ExpectRefused("-w w.txt -n t.txt -r \"$(printf 'a\\nb')\"",
                "--result is \"a\\x0ab\": expected a name without \"/\" and "
                "control characters; see -o");
  for (const std::string folder : {"./", ".", "..", "/"}) {
    ExpectRefused("-n t.txt -w " + folder,
                  folder + ": cannot be read: Is a directory");
  }
  ExpectRefused("-n t.txt --chakra ./",
                "--result is missing, and the input is named \"\": expected a "
                "name without \"/\" and control characters; see -o");
  ExpectRefused("-w w.txt -n t.txt -busbw t.txt --fidelity flow",
                "--busbw has no effect with --fidelity flow");
  ExpectRefused("-w w.txt -n t.txt --tp-overlap 0.5 --fidelity flow",
                "--tp-overlap has no effect with --fidelity flow");
  ExpectRefused("-w w.txt -g 8 -g_p_s 8 -nv 1e-300",
                "--nvlink is 1e-300: expected at least 1e-06 GB/s");
  ExpectRefused("-w w.txt -n t.txt --stop-at 5",
                "--stop-at: \"5\" is not a time of at most 26 days, such as "
                "10s");
  ExpectRefused("-w t.txt -n w.txt",
                "t.txt:1:1: unknown policy \"18\" "
                "(known: DATA, DISTRIBUTED_INFERENCE, HYBRID_CUSTOMIZED, "
                "HYBRID_DATA_MODEL, HYBRID_DLRM, HYBRID_DLRM_ENHANCED, "
                "HYBRID_MODEL_DATA, MICRO, MODEL, HYBRID_TRANSFORMER, "
                "HYBRID_TRANSFORMER_FWD_IN_BCKWD)");
}

TEST_F(SimaiAnalyticalTest, RefusesFilesForDifferentNumbersOfGpus) {
  ASSERT_EQ(RunProgram("gen_topo", "-topo Spectrum-X -g 16 -o t16.txt",
                       folder_.path())
                .exit_code,
            0);
  ExpectRefused("-w w.txt -n t16.txt",
                "w.txt is for 8 GPUs (all_gpus), t16.txt has 16");
}

TEST_F(SimaiAnalyticalTest, RefusesAFolderItCannotWriteTo) {
  // Below a file no folder can be, not even for root.
  ExpectRefused("-w w.txt -n t.txt -o w.txt/out",
                "w.txt/out: cannot be written: Not a directory");
  ExpectRefused("-w w.txt -n t.txt -o w.txt",
                "w.txt: cannot be written: Not a directory");
}

// One server of 8 GPUs runs 40 micro-batches of 10 us and a ring all-reduce.
constexpr std::string_view kProgram =
    "# a comment\n"
    "simai_program: 1\n"
    "sizes: {gpus: 8, tp: 8, micro_batches: 40}\n"
    "phase: inference\n"
    "modules:\n"
    "  - name: mlp\n"
    "    forward:\n"
    "      - {compute: 10us}\n"
    "      - {blocking: all-reduce, over: TP, bytes: 16777216}\n"
    "stages:\n"
    "  - run: [{modules: mlp}]\n";

TEST_F(SimaiAnalyticalTest, RunsPrograms) {
  WriteText(folder_.PathOf("p.yaml"), kProgram);
  const std::string run = "-w p.yaml -n t.txt --collectives ring ";
  const ProgramResult result = Analyse(run + "-o a");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.out,
              HasSubstr("program    inference: 1 module, 1 stage, 40 "
                        "micro-batches\n"));
  // 40 x (10 + 81.555911) us; the sixth stands for the last 35.
  EXPECT_THAT(result.out, EndsWith("finished   p: 3.662236 ms\n"));
  EXPECT_THAT(
      ReadText(folder_.PathOf("a/collectives.csv")),
      HasSubstr("\nmlp,fwd,all-reduce,TP,0,8,1,35,ring,-,16777216,467.779555,"
                "467.779555,549.335466,81.555911,"));
  EXPECT_THAT(ReadText(folder_.PathOf("a/run.json")),
              HasSubstr("\"form\": \"program\""));

  ASSERT_EQ(Analyse(run + "-o b --unroll").exit_code, 0);
  for (const std::string name : {"EndToEnd.csv", "links.csv"}) {
    EXPECT_EQ(ReadText(folder_.PathOf("a/" + name)),
              ReadText(folder_.PathOf("b/" + name)));
  }
}

TEST_F(SimaiAnalyticalTest, ExplainsPrograms) {
  WriteText(folder_.PathOf("p.yaml"), kProgram);
  const ProgramResult result =
      Analyse("-w p.yaml -n t.txt --collectives ring -o a --trace");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  // 40 x 10 us of computation, 40 x 81.555911 us of collectives.
  EXPECT_THAT(result.out, HasSubstr("critical path         compute 10.92 %, TP "
                                    "89.08 %\n"));
  EXPECT_THAT(result.out,
              HasSubstr("with an ideal network        0.400000 ms"));
  EXPECT_THAT(result.out,
              HasSubstr(": EndToEnd.csv iteration.csv collectives.csv "
                        "links.csv breakdown.csv critical_path.csv stages.csv "
                        "trace.json run.json cost.json\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("a/breakdown.csv")),
              EndsWith("0,0,8,compute,,,mlp,fwd,400.000000,0.109223\n"
                       "0,0,8,network,TP,all-reduce,mlp,fwd,3262.236440,"
                       "0.890777\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("a/run.json")),
              HasSubstr("\"critical_path_ps\": {\n"
                        "      \"TP\": 3262236440,\n"
                        "      \"compute\": 400000000\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("a/trace.json")),
              HasSubstr("stage 0 rank 0 and 7 alike"));
}

TEST_F(SimaiAnalyticalTest, JitterIsThatOfItsSeed) {
  WriteText(folder_.PathOf("p.yaml"), kProgram);
  const auto run = [&](const std::string& arguments) {
    EXPECT_EQ(Analyse("-w p.yaml -n t.txt -o a " + arguments).exit_code, 0);
    return ReadText(folder_.PathOf("a/EndToEnd.csv"));
  };
  const std::string first = run("--jitter 0.1 --seed 1");
  EXPECT_EQ(first, run("--jitter 0.1"));
  EXPECT_NE(first, run("--jitter 0.1 --seed 2"));
}

TEST_F(SimaiAnalyticalTest, WarnsOfProgramsThatDoNothing) {
  std::string text(kProgram);
  text.replace(text.find("tp: 8"), 5, "tp: 1");
  WriteText(folder_.PathOf("p.yaml"), text);
  EXPECT_EQ(Analyse("-w p.yaml -n t.txt").error,
            "simai_analytical: warning: p.yaml: 1 collective(s) over groups of "
            "one rank do nothing\n");
}

TEST_F(SimaiAnalyticalTest, RefusesProgramsItCannotUse) {
  ExpectRefused("-w w.txt -n t.txt --unroll",
                "--unroll has no effect: w.txt is no program");
  WriteText(folder_.PathOf("p.yaml"), "simai_program: 1\nsize: {}\n");
  ExpectRefused("-w p.yaml -n t.txt", "p.yaml:1:1: a program has no \"sizes\"");
  std::string text(kProgram);
  text.replace(text.find("gpus: 8"), 7, "gpus: 16");
  WriteText(folder_.PathOf("p.yaml"), text);
  ExpectRefused("-w p.yaml -n t.txt",
                "p.yaml is for 16 GPUs (gpus), t.txt has 8");
}

TEST_F(SimaiAnalyticalTest, AStoppedRunSaysSoAndKeepsWhatThereIs) {
  const ProgramResult result =
      Analyse("-w w.txt -n t.txt --collectives ring --stop-at 5us -o new/o");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.error,
            "simai_analytical: error: stopped at 5.000 us of simulated time, "
            "with 50.0 % of the work done\n");
  EXPECT_THAT(result.out, EndsWith("\nnot finished w: stopped at 5.000 us of "
                                   "simulated time, with 50.0 % of the work "
                                   "done\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("new/o/run.json")),
              HasSubstr("\"finished\": false"));
  EXPECT_THAT(
      Analyse("-w w.txt -n t.txt --collectives ring --stop-at 5us --report")
          .out,
      HasSubstr("left out   report.html: the run has not finished\n"));
}

// The programs differ in their defaults only.
TEST_F(SimaiAnalyticalTest, AnswersAsTheSimulatorDoesAtTheSameFidelity) {
  const std::string run = "-w w.txt -n t.txt -o ";
  for (const std::string fidelity :
       {"closed-form", "analytical", "flow", "packet"}) {
    SCOPED_TRACE(fidelity);
    EXPECT_EQ(Analyse(run + "a --fidelity " + fidelity).exit_code, 0);
    EXPECT_EQ(RunProgram("simai_simulator", run + "b --fidelity " + fidelity,
                         folder_.path())
                  .exit_code,
              0);
    for (const std::string name :
         {"EndToEnd.csv", "iteration.csv", "collectives.csv", "links.csv"}) {
      EXPECT_EQ(ReadText(folder_.PathOf("a/" + name)),
                ReadText(folder_.PathOf("b/" + name)))
          << name;
    }
  }
}

TEST_F(SimaiAnalyticalTest, PrintsHelpVersionAndColumns) {
  EXPECT_THAT(Analyse("--help").out, HasSubstr("usage: simai_analytical"));
  EXPECT_EQ(Analyse("--version").out, "simai_analytical 0.1.0\n");
  EXPECT_THAT(Analyse("--columns").out, HasSubstr("busbw_GBps"));
}

}  // namespace
}  // namespace astra
