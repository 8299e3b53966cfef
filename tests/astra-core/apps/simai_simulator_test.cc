// simai_simulator as a user runs it.

#include <stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/pages.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kWorkload =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 "
    "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: "
    "0\n2\n"
    "reduce -1 1000 ALLREDUCE 1048576 0 NONE 0 0 NONE 0 0\n"
    "exchange -1 1000 ALLTOALL 1048576 0 NONE 0 0 NONE 0 0\n";

class SimaiSimulatorTest : public ::testing::Test {
 protected:
  SimaiSimulatorTest() {
    WriteText(folder_.PathOf("w.txt"), kWorkload);
    EXPECT_EQ(
        RunProgram("gen_topo", "-topo Spectrum-X -g 8 -psn 1 -nl 0ns -o t.txt",
                   folder_.path())
            .exit_code,
        0);
  }

  ProgramResult Simulate(const std::string& arguments) {
    return RunProgram("simai_simulator", arguments, folder_.path());
  }

  // Expects exit code 2, one line on stderr, and no results.
  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> before = folder_.Names();
    const ProgramResult result = Simulate(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "simai_simulator: error: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(folder_.Names(), before);
  }

  std::string Result(const std::string& path) {
    return ReadText(folder_.PathOf(path));
  }

  TemporaryFolder folder_;
};

// The line of `text` that begins with `start`, without its end.
std::string LineOf(const std::string& text, const std::string& start) {
  const size_t begin = ("\n" + text).find("\n" + start);
  if (begin == std::string::npos) return "none";
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(SimaiSimulatorTest, TimesARingAllReduceExactlyWithoutPackets) {
  const ProgramResult result = Simulate(
      "-w w.txt -n t.txt --collectives ring --fidelity analytical -o a");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.out, HasSubstr("finished   w: 0.009"));
  // 14 steps of 131072 B at 360 GB/s, each rounded up: 14 x 364.089 ns.
  EXPECT_THAT(Result("a/collectives.csv"),
              StartsWith("layer,phase,collective,group,first_rank,ranks,"));
  EXPECT_THAT(LineOf(Result("a/collectives.csv"), "reduce,"),
              StartsWith("reduce,fwd,all-reduce,TP,0,8,1,1,ring,-,1048576,"
                         "1.000000,1.000000,6.097246,5.097246,5.097246,"));
}

TEST_F(SimaiSimulatorTest, EveryBackendWritesWhatItKnows) {
  const std::string few[] = {"EndToEnd.csv", "iteration.csv", "collectives.csv",
                             "cost.json",    "links.csv",     "run.json"};
  for (const std::string backend : {"analytical", "flow", "packet"}) {
    SCOPED_TRACE(backend);
    const ProgramResult result =
        Simulate("-w w.txt -n t.txt --collectives ring --fidelity " + backend +
                 " -o " + backend);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    for (const std::string& file : few) {
      EXPECT_THAT(result.out, HasSubstr(" " + file));
      EXPECT_NE(Result(backend + "/" + file), "") << file;
    }
    const bool has_flows = result.out.find(" flows.csv") != std::string::npos;
    EXPECT_EQ(has_flows, backend != "analytical");
    const bool has_pfc = result.out.find(" pfc.csv") != std::string::npos;
    EXPECT_EQ(has_pfc, backend == "packet");
  }
}

TEST_F(SimaiSimulatorTest, WritesEveryFileThatIsAskedFor) {
  const ProgramResult result = Simulate(
      "-w w.txt -n t.txt --collectives ring -o a --sample 1us --capture 0-8 "
      "--trace "
      "--simai-files");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(Result("a/flows.csv"),
              StartsWith("collective,source,target,channel,bytes,start_us,"
                         "finish_us,fct_us,ideal_us,slowdown,retransmissions,"
                         "path\n"));
  // A message of the ring from GPU 0 over the NVSwitch, node 8.
  EXPECT_THAT(LineOf(Result("a/flows.csv"), "reduce,0,1,"),
              EndsWith(",0,0>8>1"));
  EXPECT_THAT(LineOf(Result("a/flows.csv"), "exchange,0,1,"),
              EndsWith(",0,0>8>1"));
  EXPECT_THAT(Result("a/rates.csv"), StartsWith("time_us,source,target,"));
  EXPECT_THAT(Result("a/queues.csv"), StartsWith("time_us,link,source,"));
  EXPECT_THAT(Result("a/pfc.csv"), StartsWith("time_us,node,sender,link,"));
  EXPECT_THAT(Result("a/cnp.csv"), StartsWith("time_us,source,target,"));
  EXPECT_THAT(Result("a/fct.txt"),
              HasSubstr("0b000001 0b000101 10000 100 131072 1000 "));
  EXPECT_EQ(Result("a/pfc.txt"), "");
  EXPECT_THAT(Result("a/trace.json"), HasSubstr("\"name\":\"reduce\""));
  // The section header and the first frame: to GPU 1, from GPU 0.
  const std::string capture = Result("a/capture.pcapng");
  EXPECT_THAT(capture, StartsWith("\x0a\x0d\x0d\x0a\x1c"));
  EXPECT_THAT(capture, HasSubstr(std::string("\x02\0\0\0\0\x01\x02\0\0\0\0\0"
                                             "\x08\0\x45",
                                             15)));
}

// The ring reduces with 14 messages of each GPU to its neighbour.
TEST_F(SimaiSimulatorTest, SumsUpMessagesOnRequest) {
  for (const std::string fidelity : {"flow", "packet"}) {
    SCOPED_TRACE(fidelity);
    const auto run = [&](const std::string& form) {
      WriteText(folder_.PathOf(form + ".yaml"),
                "simai_network: 1\nrecord: {flows: " + form + "}\n");
      return Simulate("-w w.txt -n t.txt --collectives ring --fidelity " +
                      fidelity + " -c " + form + ".yaml -o " + form);
    };
    const ProgramResult summary = run("summary");
    EXPECT_EQ(summary.exit_code, 0) << summary.error;
    EXPECT_THAT(
        summary.out,
        HasSubstr("\nmessages   168: flows.csv sums them up by collective and "
                  "pair of nodes; \"record: {flows: each}\" in the file of -c "
                  "lists each\n"));
    EXPECT_THAT(
        Result("summary/flows.csv"),
        HasSubstr("\nreduce,fwd,all-reduce,TP,0,1.000000,0,1,14,1835008,"
                  "1.000000,"));
    EXPECT_THAT(Result("summary/flows.csv"),
                HasSubstr("\nexchange,fwd,all-to-all,TP,0,"));
    EXPECT_THAT(run("each").out, Not(HasSubstr("\nmessages ")));
    EXPECT_THAT(run("auto").out, Not(HasSubstr("\nmessages ")));
    EXPECT_EQ(Result("each/flows.csv"), Result("auto/flows.csv"));
    EXPECT_THAT(run("false").out, Not(HasSubstr("flows.csv")));
    for (const std::string form : {"each", "summary", "false"}) {
      EXPECT_EQ(Result(form + "/collectives.csv"),
                Result("auto/collectives.csv"));
    }
  }
}

TEST_F(SimaiSimulatorTest, WritesTheSameBytesAgainOnAnyNumberOfThreads) {
  const std::string arguments =
      "-w w.txt -n t.txt --sample 1us --capture 0-8 --trace --simai-files";
  ASSERT_EQ(Simulate(arguments + " -o a").exit_code, 0);
  ASSERT_EQ(Simulate(arguments + " -o b -t 1").exit_code, 0);
  ASSERT_EQ(Simulate(arguments + " -o deep/c -t 4").exit_code, 0);
  for (const std::string file :
       {"EndToEnd.csv", "capture.pcapng", "cnp.csv", "collectives.csv",
        "fct.txt", "flows.csv", "links.csv", "pfc.csv", "pfc.txt", "queues.csv",
        "rates.csv", "run.json", "trace.json"}) {
    EXPECT_EQ(Result("a/" + file), Result("b/" + file)) << file;
    EXPECT_EQ(Result("a/" + file), Result("deep/c/" + file)) << file;
  }
}

TEST_F(SimaiSimulatorTest, SaysWhatItUnderstood) {
  WriteText(folder_.PathOf("c.yaml"),
            "simai_network: 1\nnic: {payload: 9000B}\nseed: 5\n");
  ASSERT_EQ(Simulate("-w w.txt -n t.txt --collectives ring -c c.yaml --seed 7 "
                     "--send-latency 6us "
                     "-o a")
                .exit_code,
            0);
  const std::string run = Result("a/run.json");
  EXPECT_THAT(run, HasSubstr("\"payload\": \"9kB\""));
  EXPECT_THAT(run, HasSubstr("\"seed\": 7"));
  EXPECT_THAT(run, HasSubstr("\"send_latency_ps\": 6000000"));
  EXPECT_THAT(run, HasSubstr("\"finished\": true"));
}

TEST_F(SimaiSimulatorTest, TakesSimAIsConfiguration) {
  WriteText(folder_.PathOf("SimAI.conf"),
            "CC_MODE 8\nFLOW_FILE /etc/flow.txt\n");
  const ProgramResult result =
      Simulate("-w w.txt -n t.txt -c SimAI.conf --collectives simai -o a");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error,
            "simai_simulator: warning: SimAI.conf: no effect: FLOW_FILE\n");
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"name\": \"dctcp\""));
}

TEST_F(SimaiSimulatorTest, AStoppedRunSaysSoAndKeepsWhatThereIs) {
  const ProgramResult result = Simulate(
      "-w w.txt -n t.txt --collectives ring --fidelity analytical --stop-at "
      "7us -o a");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, StartsWith("simai_simulator: error: stopped at "
                                       "7.000 us of simulated time, with "));
  EXPECT_THAT(result.out,
              HasSubstr("\nnot finished w: stopped at 7.000 us of simulated "
                        "time, with "));
  EXPECT_THAT(Result("a/collectives.csv"), HasSubstr("\nreduce,"));
  EXPECT_THAT(Result("a/collectives.csv"), Not(HasSubstr("\nexchange,")));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"finished\": false"));
}

TEST_F(SimaiSimulatorTest, ASignalLeavesWhatThereIsAndALastLine) {
  WriteText(folder_.PathOf("long.txt"),
            "HYBRID_TRANSFORMER model_parallel_NPU_group: 8 all_gpus: 8 ep: 1 "
            "pp: 1 vpp: 1 ga: 1\n2\n"
            "reduce -1 1000 ALLREDUCE 1048576 0 NONE 0 0 NONE 0 0\n"
            "exchange -1 1000 ALLTOALL 64000000000 0 NONE 0 0 NONE 0 0\n");
  const ProgramResult result = Simulate(
      "-w long.txt -n t.txt --collectives ring --accelerate off -o a >out.txt "
      "2>error.txt & pid=$!; sleep 1; kill -TERM $pid; wait $pid");
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_THAT(Result("error.txt"),
              StartsWith("simai_simulator: error: stopped by SIGTERM at "));
  EXPECT_THAT(Result("out.txt"),
              HasSubstr("\nnot finished long: stopped by SIGTERM at "));
  EXPECT_THAT(Result("a/collectives.csv"), HasSubstr("\nreduce,"));
  EXPECT_THAT(Result("a/collectives.csv"), Not(HasSubstr("\nexchange,")));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"finished\": false"));
  EXPECT_NE(Result("a/links.csv"), "");
}

// A variable of the environment, for the programs that the test runs.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    setenv(name, value, /*overwrite=*/1);
  }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

TEST_F(SimaiSimulatorTest, TakesSimAIsVariablesAsItsOptions) {
  const std::string run = "-w w.txt -n t.txt --collectives simai ";
  EXPECT_EQ(Simulate(run + "-o none").exit_code, 0);
  EXPECT_EQ(
      Simulate(run + "--send-latency 3us --nccl NCCL_ALGO=NVLS -o options")
          .exit_code,
      0);
  const ScopedVariable latency("AS_SEND_LAT", "3");
  const ScopedVariable nvls("AS_NVLS_ENABLE", "1");
  const ProgramResult result = Simulate(run + "-o variables");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.out,
              HasSubstr("\nfrom       AS_NVLS_ENABLE=1: --nccl NCCL_ALGO=NVLS\n"
                        "from       AS_SEND_LAT=3: --send-latency 3us\n"));
  for (const std::string file :
       {"EndToEnd.csv", "collectives.csv", "links.csv", "flows.csv"}) {
    EXPECT_EQ(Result("variables/" + file), Result("options/" + file)) << file;
    EXPECT_NE(Result("variables/" + file), Result("none/" + file)) << file;
  }

  const ProgramResult options =
      Simulate(run + "--send-latency 0us --nccl NCCL_ALGO=Ring -o overridden");
  EXPECT_THAT(options.out,
              HasSubstr("\nfrom       AS_NVLS_ENABLE=1: --nccl goes before it\n"
                        "from       AS_SEND_LAT=3: --send-latency goes before "
                        "it\n"));
  EXPECT_EQ(Result("overridden/collectives.csv"),
            Result("none/collectives.csv"));
}

TEST_F(SimaiSimulatorTest, NvlsOfNcclIsSwitchedByItsVariable) {
  const std::string run = "-w w.txt -n t.txt ";
  EXPECT_EQ(Simulate(run + "--nccl NCCL_NVLS_ENABLE=0 -o option").exit_code, 0);
  EXPECT_EQ(Simulate(run + "-o none").exit_code, 0);
  {
    const ScopedVariable nvls("AS_NVLS_ENABLE", "1");
    EXPECT_EQ(Simulate(run + "-o on").exit_code, 0);
  }
  const ScopedVariable nvls("AS_NVLS_ENABLE", "0");
  EXPECT_EQ(Simulate(run + "-o off").exit_code, 0);
  EXPECT_EQ(Result("off/collectives.csv"), Result("option/collectives.csv"));
  EXPECT_EQ(Result("on/collectives.csv"), Result("none/collectives.csv"));
}

TEST_F(SimaiSimulatorTest, WarnsOfVariablesThatItDoesNotRead) {
  const ScopedVariable other("AS_NVLSTREE_ENABLE", "1");
  const ScopedVariable pxn("AS_PXN_ENABLE", "1");
  const std::string run = "-w w.txt -n t.txt --collectives simai -o a";
  EXPECT_EQ(Simulate(run).error,
            "simai_simulator: warning: \"AS_NVLSTREE_ENABLE\" is not read from "
            "the environment, only AS_SEND_LAT, AS_NVLS_ENABLE, AS_PXN_ENABLE "
            "and AS_LOG_LEVEL are\n"
            "simai_simulator: warning: AS_PXN_ENABLE=1 in the environment has "
            "no effect with --collectives simai\n");
  const ScopedVariable level("AS_LOG_LEVEL", "ERROR");
  EXPECT_EQ(Simulate(run).error, "");
}

TEST_F(SimaiSimulatorTest, RefusesVariablesWithWrongValues) {
  {
    const ScopedVariable latency("AS_SEND_LAT", "3us");
    ExpectRefused("-w w.txt -n t.txt",
                  "AS_SEND_LAT is \"3us\" in the environment: expected a whole "
                  "number of microseconds, such as 6");
  }
  const ScopedVariable nvls("AS_NVLS_ENABLE", "yes");
  ExpectRefused("-w w.txt -n t.txt",
                "AS_NVLS_ENABLE is \"yes\" in the environment: expected 0 or "
                "1");
}

TEST_F(SimaiSimulatorTest, AStuckRunSaysWhy) {
  WriteText(folder_.PathOf("c.yaml"),
            "simai_events: 1\n"
            "events:\n"
            "  - {from: 1us, link: [0, 8], down: true}\n"
            "  - {from: 1us, link: [0, 9], down: true}\n");
  const ProgramResult result =
      Simulate("-w w.txt -n t.txt --collectives ring --events c.yaml -o a");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("\nnot finished w: nothing is left to "));
  EXPECT_THAT(result.out, HasSubstr("lead from GPU 0 to GPU 1"));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"finished\": false"));
}

TEST_F(SimaiSimulatorTest, TellsThatAnEventComesAfterTheRun) {
  WriteText(folder_.PathOf("e.yaml"),
            "simai_events: 1\nevents:\n"
            "  - {from: 1us, link: [0, 8], rate: 0.5}\n"
            "  - {from: 10s, link: [0, 8], rate: 0.5}\n");
  const ProgramResult result =
      Simulate("-w w.txt -n t.txt --events e.yaml --fidelity flow -o o");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.out, HasSubstr("of its rate from 0.001 ms\n"));
  EXPECT_THAT(result.out, HasSubstr("of its rate from 10000.000 ms: the run "
                                    "ended before\n"));
}

// One job on all of the cluster is an ordinary run, with events, too.
TEST_F(SimaiSimulatorTest, AJobSeesTheEventsThatARunSees) {
  WriteText(folder_.PathOf("e.yaml"),
            "simai_events: 1\n"
            "events:\n"
            "  - {link: [0, 8], rate: 0.5}\n"
            "  - {gpu: 1, speed: 0.5}\n");
  WriteText(folder_.PathOf("j.yaml"),
            "simai_jobs: 1\njobs: [{name: a, workload: w.txt}]\n");
  const auto time_of = [](const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.out.substr(result.out.rfind(": "));
  };
  for (const std::string fidelity : {"flow", "packet"}) {
    const std::string rest =
        " -n t.txt --events e.yaml --fidelity " + fidelity + " -o o";
    EXPECT_EQ(time_of(Simulate("--jobs j.yaml" + rest)),
              time_of(Simulate("-w w.txt" + rest)));
  }
}

// Eight ranks write 1 MB each to two servers of 400 Gbps, which takes 80 us and
// the latencies.
TEST_F(SimaiSimulatorTest, JobsWriteCheckpointsToStorageServers) {
  ASSERT_EQ(RunProgram("gen_topo",
                       "-topo Spectrum-X -g 8 -psn 1 --storage 2 -o s.txt",
                       folder_.path())
                .exit_code,
            0);
  const auto write_jobs = [&](const std::string& more) {
    WriteText(folder_.PathOf("j.yaml"),
              "simai_jobs: 1\njobs: [{name: a, workload: w.txt, checkpoint: "
              "{every: 1, bytes: 8MB" +
                  more + "}}]\n");
  };
  write_jobs(", stripes: 3");
  ExpectRefused("--jobs j.yaml -n s.txt --fidelity flow",
                "j.yaml:2:15: job a: stripes is 3, but s.txt has 2 storage "
                "servers");
  write_jobs(", blocking: true");
  ExpectRefused("--jobs j.yaml -n t.txt --fidelity flow",
                "j.yaml:2:15: job a: checkpoint needs storage servers, and "
                "t.txt has none: see gen_topo --storage");
  const ProgramResult result =
      Simulate("--jobs j.yaml -n s.txt --fidelity flow -o a");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(LineOf(result.out, "storage"),
              StartsWith("storage    a: 1 checkpoint of 0.008 GB in 0.08"));
  EXPECT_THAT(Result("a/storage.csv"), HasSubstr("\na,checkpoint,0,0.000000,"));
  EXPECT_THAT(Result("a/iterations.csv"), HasSubstr("without_storage_us\n"));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"storage_servers\": 2"));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"checkpoint\""));
}

TEST_F(SimaiSimulatorTest, EstimatesWithoutRunning) {
  const ProgramResult result =
      Simulate("-w w.txt -n t.txt --collectives ring --estimate");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  // 14 steps of 8 messages, and 7 messages from each of 8 ranks, of 131072 B,
  // which is 32 packets of 4096 B, over 2 links each way.
  EXPECT_THAT(result.out,
              StartsWith("collectives  2, of all groups\n"
                         "flows        168 messages, 2.20201e+07 bytes\n"
                         "packets      5376; 21504 over links, with "
                         "acknowledgements\n"));
  EXPECT_THAT(result.out, HasSubstr("s of the packet network, at 8 million "
                                    "packets over links a second\n"));
  // Without packets, the time is that of messages.
  EXPECT_THAT(Simulate("-w w.txt -n t.txt --collectives ring --estimate "
                       "--fidelity flow")
                  .out,
              HasSubstr("\ntime         0.000336 s of the flow network, at 0.5 "
                        "million messages a second\n"));
  EXPECT_THAT(Simulate("-w w.txt -n t.txt --collectives ring --estimate "
                       "--fidelity analytical")
                  .out,
              HasSubstr("\ntime         0.000168 s of the analytical network, "
                        "at 1 million messages a second\n"));
  // A second all-reduce, of 112 messages, may be counted and not simulated.
  std::string twice(kWorkload);
  twice.replace(twice.find("\n2\n"), 3, "\n3\n");
  WriteText(folder_.PathOf("w.txt"),
            twice + "again -1 1000 ALLREDUCE 1048576 0 NONE 0 0 NONE 0 0\n");
  const std::string estimate =
      "-w w.txt -n t.txt --collectives ring --estimate --fidelity flow";
  EXPECT_THAT(
      Simulate(estimate).out,
      HasSubstr("\ntime         0.000336 s if every kind of collective is "
                "simulated once, else up to 0.00056 s of the flow network"));
  EXPECT_THAT(Simulate(estimate + " --accelerate off").out,
              HasSubstr("\ntime         0.00056 s of the flow network"));
  EXPECT_THAT(folder_.Names(), ElementsAre("t.txt", "w.txt"));
}

TEST_F(SimaiSimulatorTest, WarnsOfThreads) {
  EXPECT_THAT(Simulate("-w w.txt -n t.txt -t 8").error,
              HasSubstr("simai_simulator: warning: --threads 8 has no effect: "
                        "an iteration uses one core, and simai_sweep runs "
                        "several at once\n"));
}

TEST_F(SimaiSimulatorTest, RefusesWhatItCannotUse) {
  ExpectRefused("", "--workload is missing: give a workload file with -w");
  ExpectRefused("-w w.txt",
                "no cluster: give a topology with -n, a system with --system, "
                "or -g, -g_p_s, -nv and -nic");
  ExpectRefused("-w w.txt -n t.txt -t 0",
                "--threads is \"0\": expected a whole number from 1 to 1024");
  ExpectRefused("-w w.txt -n t.txt --fidelity ns3",
                "unknown --fidelity \"ns3\" (known: closed-form, analytical, "
                "flow, packet)");
  ExpectRefused("-w w.txt -n t.txt --backend flow",
                "--backend is gone: --fidelity NAME takes its place (--help "
                "has it)");
  ExpectRefused("-w w.txt -n t.txt --collectives mpi",
                "unknown --collectives \"mpi\" "
                "(known: nccl, ring, simai)");
  ExpectRefused("-w w.txt -n t.txt --send-latency 6",
                "--send-latency: \"6\" is not a time of at most 1000 s, such "
                "as 10us");
  ExpectRefused("-w w.txt -n t.txt --sample 0us",
                "--sample: \"0us\" is not a time above 0 of at most 1000 s, "
                "such as 10us");
  ExpectRefused("-w w.txt -n t.txt --capture 0",
                "--capture is \"0\": expected two nodes, such as 0-8");
  ExpectRefused("-w w.txt -n t.txt --capture 0-1",
                "--capture is \"0-1\": no cable connects these nodes");
  ExpectRefused("-w w.txt -n t.txt --capture 99-1",
                "--capture is \"99-1\": no cable connects these nodes");
  ExpectRefused("-w w.txt -n t.txt --unroll",
                "--unroll has no effect: w.txt is no program");
  ExpectRefused("-w w.txt -n t.txt -c none.txt",
                "none.txt: cannot be read: No such file or directory");
}

// A network file may say what only packets can follow.
TEST_F(SimaiSimulatorTest, FlowsRefuseWhatWouldChangeTheNetwork) {
  const auto refuses = [&](const std::string& key, const std::string& text) {
    WriteText(folder_.PathOf("c.yaml"), "simai_network: 1\n" + text + "\n");
    ExpectRefused("-w w.txt -n t.txt --fidelity flow -c c.yaml",
                  "c.yaml: " + key +
                      " has no effect with --fidelity flow: take --fidelity "
                      "packet, or leave it out");
  };
  refuses("background",
          "background: [{source: 0, target: 1, bytes: 4KiB, interval: 1us, "
          "start: 0us, stop: 1ms}]");
  refuses("load_balancing",
          "load_balancing: spray\nnic: {loss_recovery: selective-repeat}");
  refuses("error_rate", "error_rate: 0.01");
}

TEST_F(SimaiSimulatorTest, FlowsNameWhatOnlyPacketsHeed) {
  WriteText(folder_.PathOf("c.yaml"),
            "simai_network: 1\n"
            "nic: {payload: 1KiB, window: none}\n"
            "congestion: {name: hpcc}\n");
  const ProgramResult result = Simulate(
      "-w w.txt -n t.txt --collectives ring --fidelity flow -c c.yaml -o a");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("c.yaml: no effect with --fidelity flow: "
                                      "congestion.name, nic.window\n"));
}

TEST_F(SimaiSimulatorTest, RefusesWhatHasNoEffect) {
  ExpectRefused("-w w.txt -n t.txt --fidelity analytical -c c.yaml",
                "--network has no effect with --fidelity analytical");
  ExpectRefused("-w w.txt -n t.txt --fidelity analytical --seed 2",
                "--seed has no effect with --fidelity analytical: without "
                "--jitter nothing is random");
  ExpectRefused("-w w.txt -n t.txt --fidelity flow --sample 1us",
                "--sample has no effect with --fidelity flow");
  ExpectRefused("-w w.txt -n t.txt --fidelity flow --capture 0-8",
                "--capture has no effect with --fidelity flow");
  ExpectRefused("-w w.txt -n t.txt --fidelity analytical --accelerate exact",
                "--accelerate has no effect with --fidelity analytical");
  ExpectRefused("-w w.txt -n t.txt --fidelity flow --symmetry --accelerate off",
                "--accelerate has no effect with --symmetry");
  ExpectRefused("-w w.txt -n t.txt --fidelity packet --error-bound 2",
                "--error-bound has no effect without --accelerate bounded");
  ExpectRefused("-w w.txt -n t.txt --fidelity packet --exact-events 0",
                "--exact-events has no effect without --accelerate bounded");
  ExpectRefused("-w w.txt -n t.txt --fidelity flow --symmetry --start-step 1ns",
                "--start-step has no effect with --symmetry");
  ExpectRefused("-w w.txt -n t.txt --fidelity closed-form --start-step 1ns",
                "--start-step has no effect with --fidelity closed-form");
  ExpectRefused(
      "-w w.txt -n t.txt --fidelity packet --accelerate bounded --simai-files",
      "--accelerate has no effect with --simai-files, which tells of every "
      "message");
  ExpectRefused("-w w.txt -n t.txt --collectives ring --nccl NCCL_ALGO=Ring",
                "--nccl has no effect with --collectives ring");
  ExpectRefused("-w w.txt -n t.txt --collectives simai --system dgx-h100",
                "--system has no effect with --collectives simai");
  ExpectRefused("-w w.txt -n t.txt --jobs j.yaml",
                "--workload has no effect with --jobs");
  ExpectRefused("--jobs j.yaml -n t.txt --fidelity analytical",
                "--jobs has no effect with --fidelity analytical, in which "
                "messages of several jobs share no link: take flow or packet");
  ExpectRefused("--jobs j.yaml --system dgx-h100",
                "--jobs needs the cluster that the jobs share: give -n");
  ExpectRefused("-w w.txt -n t.txt --fidelity flow --symmetry --events e.yaml",
                "--symmetry has no effect with --events, which make ranks "
                "differ");
  ExpectRefused("-w w.txt -n t.txt --estimate --trace",
                "--trace has no effect with --estimate");
}

TEST_F(SimaiSimulatorTest, ExplainsProgramsThatHaveFinished) {
  WriteText(folder_.PathOf("p.yaml"), R"(simai_program: 1
sizes: {gpus: 8, tp: 4, pp: 2, micro_batches: 2}
pipeline_message: 100000
modules:
  - name: mlp
    forward: [{compute: 5us}, {blocking: all-reduce, over: TP, bytes: 100000}]
    input_gradient: [{compute: 5us}]
stages: [{count: 2, run: [{modules: mlp}]}]
)");
  const std::string arguments =
      "-w p.yaml -n t.txt --collectives ring --trace ";
  ASSERT_EQ(Simulate(arguments + "-o a").exit_code, 0);
  EXPECT_THAT(Result("a/breakdown.csv"), HasSubstr("\n1,7,1,compute,,,mlp,"));
  EXPECT_THAT(Result("a/critical_path.csv"),
              HasSubstr("\n0.000000,5.000000,1,0,"));
  EXPECT_THAT(Result("a/run.json"), HasSubstr("\"iteration\": {\n"));
  EXPECT_THAT(Result("a/trace.json"), HasSubstr("\"ph\":\"f\""));

  // The page says what the files say, and fetches nothing.
  const ProgramResult reported = Simulate(arguments + "-o r --report");
  ASSERT_EQ(reported.exit_code, 0);
  const std::string page = testing::WithoutLibrary(Result("r/report.html"));
  const size_t total = reported.out.rfind(": ") + 2;
  EXPECT_THAT(page,
              HasSubstr("<dd>" + reported.out.substr(
                                     total, reported.out.rfind("\n") - total)));
  for (const char* section :
       {"time", "timeline", "path", "collectives", "links"}) {
    EXPECT_THAT(page, HasSubstr("id=\"" + std::string(section) + "\""));
  }
  EXPECT_THAT(page, ::testing::Not(HasSubstr("src=")));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("<link ")));

  EXPECT_EQ(Simulate(arguments + "-o b --stop-at 10us").exit_code, 1);
  EXPECT_THAT(Result("b/trace.json"), HasSubstr("\"TP of rank 0\""));
  EXPECT_THAT(Result("b/run.json"),
              ::testing::Not(HasSubstr("\"iteration\": {")));
}

TEST_F(SimaiSimulatorTest, PrintsHelpVersionAndColumns) {
  EXPECT_THAT(Simulate("--help").out, HasSubstr("usage: simai_simulator"));
  EXPECT_EQ(Simulate("--version").out, "simai_simulator 0.1.0\n");
  EXPECT_THAT(Simulate("--columns").out, HasSubstr("first_rank_time_us"));
}

// The dictionary and the files name the same columns.
TEST_F(SimaiSimulatorTest, DocumentsEveryColumn) {
  ASSERT_EQ(Simulate("-w w.txt -n t.txt --collectives ring -o a --sample 1us")
                .exit_code,
            0);
  WriteText(folder_.PathOf("c.yaml"),
            "simai_network: 1\nrecord: {flows: summary}\n");
  ASSERT_EQ(
      Simulate("-w w.txt -n t.txt --collectives ring -c c.yaml -o b").exit_code,
      0);
  const std::string dictionary = Simulate("--columns").out;
  for (const std::string file :
       {"collectives.csv", "cnp.csv", "flows.csv", "flows.csv (sums)",
        "iteration.csv", "links.csv", "pfc.csv", "queues.csv", "rates.csv"}) {
    const bool has_sums = file == "flows.csv (sums)";
    std::string header =
        LineOf(Result(has_sums ? "b/flows.csv" : "a/" + file), "");
    std::replace(header.begin(), header.end(), ',', ' ');
    std::string documented;
    for (const std::string_view line : testing::SplitLines(dictionary)) {
      if (line.substr(0, 18) != fmt::format("{:<18}", file)) continue;
      const std::string_view name = line.substr(18);
      if (!documented.empty()) documented += ' ';
      documented += name.substr(0, name.find(' '));
    }
    EXPECT_EQ(documented, header) << file;
  }
}

}  // namespace
}  // namespace astra
