// Traces as a user runs, writes and converts them.

#include <string>
#include <string_view>

#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A protocol buffer by its wire format, not by our writer. Source:
// protobuf.dev/programming-guides/encoding.
class Wire {
 public:
  Wire& Number(uint32_t field, uint64_t value) {
    Varint(field << 3);
    Varint(value);
    return *this;
  }
  Wire& Text(uint32_t field, std::string_view text) {
    Varint(field << 3 | 2);
    Varint(text.size());
    bytes_ += text;
    return *this;
  }
  // An attribute of a node, an int64.
  Wire& Attribute(std::string_view name, uint64_t value) {
    return Text(10, Wire().Text(1, name).Number(9, value).bytes_);
  }

  std::string Framed() const {
    Wire frame;
    frame.Varint(bytes_.size());
    return frame.bytes_ + bytes_;
  }

 private:
  void Varint(uint64_t value) {
    for (; value > 127; value >>= 7) {
      bytes_ += static_cast<char>((value & 127) | 128);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Node `id` of type `type` behind the node before it.
Wire Node(uint64_t id, std::string_view name, uint64_t type) {
  Wire node;
  node.Number(1, id).Text(2, name).Number(3, type);
  if (id > 0) node.Number(5, id - 1);
  return node;
}

// An estimate without its memory, which depends on how many groups are taken to
// run a collective at once.
std::string WithoutMemory(std::string estimate) {
  const size_t begin = estimate.find("\nmemory ");
  EXPECT_NE(begin, std::string::npos) << estimate;
  return estimate.erase(begin, estimate.find('\n', begin + 1) - begin);
}

class SimaiTraceTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& program, const std::string& arguments) {
    return RunProgram(program, arguments, folder_.path());
  }

  // Expects success, and returns the last line of stdout.
  std::string LastLine(const std::string& program,
                       const std::string& arguments) {
    SCOPED_TRACE(program + " " + arguments);
    const ProgramResult result = Run(program, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    if (result.out.empty()) return "";
    const size_t end = result.out.find_last_not_of('\n');
    const size_t begin = result.out.rfind('\n', end);
    return result.out.substr(begin + 1, end - begin);
  }

  TemporaryFolder folder_;
};

// 64 ranks of a pipeline with tensor, data and expert parallelism: the trace
// takes as long as the program.
TEST_F(SimaiTraceTest, TheTraceOf64RanksTakesAsLongAsTheWorkload) {
  LastLine("gen_topo", "-topo Spectrum-X -g 64 -gt H100 -o t.txt");
  LastLine("gen_workload",
           "-m mixtral-8x7b --num-layers 4 --gpu-type H100 --gpus 64 --tp 2 "
           "--sp --pp 2 --ep 4 --global-batch 64 --micro-batch "
           "1 --seq-length 1024 "
           "--format program -o w.yaml");
  LastLine("simai_trace", "-w w.yaml -o traces");
  for (const std::string fidelity : {"closed-form", "flow"}) {
    const std::string rest = " -n t.txt --fidelity " + fidelity;
    const std::string expected =
        LastLine("simai_simulator", "-w w.yaml -o a" + rest);
    EXPECT_THAT(expected, StartsWith("finished   w: "));
    EXPECT_EQ(LastLine("simai_simulator", "--chakra traces/w -o b" + rest),
              expected);
  }
  const std::string rest = " -n t.txt --fidelity flow --estimate";
  const ProgramResult whole = Run("simai_simulator", "-w w.yaml" + rest);
  EXPECT_EQ(whole.exit_code, 0) << whole.error;
  EXPECT_EQ(
      WithoutMemory(Run("simai_simulator", "--chakra traces/w" + rest).out),
      WithoutMemory(whole.out));
}

// Two ranks compute for 7 us, sum up 1 MB and compute for 2 us; made from the
// published schema. A ring over two ranks at 100 GB/s takes 10 us.
TEST_F(SimaiTraceTest, AFileMadeByHandRuns) {
  WriteText(folder_.PathOf("t.txt"),
            "3 2 1 0 2 H100\n2\n0 2 800Gbps 0ns 0\n1 2 800Gbps 0ns 0\n");
  const std::string file = Wire().Text(1, "0.0.4").Framed() +
                           Node(0, "forward", 4).Number(7, 7).Framed() +
                           Node(1, "sum", 7)
                               .Attribute("comm_type", 0)
                               .Attribute("comm_size", 1'000'000)
                               .Framed() +
                           Node(2, "step", 4).Number(7, 2).Framed();
  WriteText(folder_.PathOf("x.0.et"), file);
  WriteText(folder_.PathOf("x.1.et"), file);
  EXPECT_EQ(LastLine("simai_analytical",
                     "--chakra x -n t.txt --collectives ring -o out --trace "
                     "--report --visual"),
            "finished   x: 0.019000 ms");
  EXPECT_THAT(ReadText(folder_.PathOf("out/ranks.csv")),
              HasSubstr("\n1,9.000000,0.000000,10.000000,0.000000,0.000000,"
                        "10.000000,0.000000,0.000000,0.000000,0.000000,"
                        "0.000000,0.000000,19.000000\n"));
  EXPECT_THAT(
      ReadText(folder_.PathOf("out/nodes.csv")),
      HasSubstr("\nsum,fwd,0.000000,10.000000,0.000000,10.000000,1000000\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("out/breakdown.csv")),
              HasSubstr("\n0,1,1,network,DP,all-reduce,sum,fwd,10.000000,"));
  EXPECT_THAT(ReadText(folder_.PathOf("out/critical_path.csv")),
              HasSubstr("\n7.000000,10.000000,1,0,0,collective,sum,fwd,,,DP,"
                        "all-reduce,1000000\n"));
  EXPECT_THAT(ReadText(folder_.PathOf("out/links.csv")), HasSubstr("1000000"));
  EXPECT_THAT(ReadText(folder_.PathOf("out/trace.json")),
              AllOf(HasSubstr("\"all ranks\""), HasSubstr("\"rank 1\"")));
  EXPECT_THAT(ReadText(folder_.PathOf("out/report.html")),
              AllOf(HasSubstr("2 ranks, 6 nodes"), HasSubstr("Timeline"),
                    HasSubstr(">node<"), Not(HasSubstr(">module<"))));
  EXPECT_THAT(ReadText(folder_.PathOf("out/run.json")),
              HasSubstr("\"critical_path_ps\": {\n      \"DP\": 10000000,\n"
                        "      \"compute\": 9000000\n"));
}

TEST_F(SimaiTraceTest, MissingFilesAndRanksAreNamed) {
  WriteText(folder_.PathOf("x.0.et"), Wire().Text(1, "0.0.4").Framed());
  WriteText(folder_.PathOf("x.2.et"), Wire().Text(1, "0.0.4").Framed());
  WriteText(folder_.PathOf("t.txt"),
            "3 2 1 0 2 H100\n2\n0 2 800Gbps 0ns 0\n1 2 800Gbps 0ns 0\n");
  ProgramResult result = Run("simai_analytical", "--chakra x -n t.txt");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error,
            "simai_analytical: error: x.1.et: no such file, but there are "
            "files up to x.2.et\n");
  result = Run("simai_analytical", "--chakra y -n t.txt");
  EXPECT_EQ(result.error,
            "simai_analytical: error: y.0.et: no such file, nor any other of "
            "the trace --chakra y\n");
  result = Run("simai_analytical", "--chakra x -n t.txt --unroll");
  EXPECT_EQ(result.error,
            "simai_analytical: error: --unroll has no effect with --chakra\n");
  EXPECT_EQ(Run("simai_analytical", "-w w -n t.txt --comm-groups g").error,
            "simai_analytical: error: --comm-groups has no effect without "
            "--chakra\n");
  EXPECT_EQ(Run("simai_trace", "--chakra x -w w").error,
            "simai_trace: error: expected one input: a workload with -w, or a "
            "trace with --chakra or --kineto\n");
  EXPECT_EQ(Run("simai_trace", "--chakra x --format goal").exit_code, 2);
  for (const std::string input : {"-w ./", "--kineto ./"}) {
    EXPECT_EQ(Run("simai_trace", input).error,
              "simai_trace: error: ./: cannot be read: Is a directory\n");
  }
}

// Each rank sends only after it has received. Both programs refuse the trace
// before it runs, in one line.
TEST_F(SimaiTraceTest, RanksThatWaitForOneAnotherAreNamedOnceBeforeTheRun) {
  WriteText(folder_.PathOf("t.txt"),
            "3 2 1 0 2 H100\n2\n0 2 800Gbps 0ns 0\n1 2 800Gbps 0ns 0\n");
  for (const uint64_t rank : {uint64_t{0}, uint64_t{1}}) {
    const uint64_t peer = 1 - rank;
    WriteText(folder_.PathOf(fmt::format("x.{}.et", rank)),
              Wire().Text(1, "0.0.4").Framed() +
                  Node(0, "get", 6)
                      .Attribute("comm_src", peer)
                      .Attribute("comm_size", 8)
                      .Framed() +
                  Node(1, "send", 5)
                      .Attribute("comm_dst", peer)
                      .Attribute("comm_size", 8)
                      .Framed());
  }
  const std::string error =
      "error: ranks wait for one another in a circle: rank 0 (x.0.et): node 1 "
      "(send) waits for node 0 (get), in which rank 1 is missing; rank 1 "
      "(x.1.et): node 1 (send) waits for node 0 (get), in which rank 0 is "
      "missing\n";
  const ProgramResult run = Run("simai_simulator", "--chakra x -n t.txt");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.error, "simai_simulator: " + error);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(Run("simai_trace", "--chakra x").error, "simai_trace: " + error);
}

// A smaller trace of the same name does not keep ranks of the larger one.
TEST_F(SimaiTraceTest, FilesOfRanksThatAreNoMoreAreRemoved) {
  WriteText(folder_.PathOf("a.0.et"), Wire().Text(1, "0.0.4").Framed());
  LastLine("simai_trace", "--chakra a -o out");
  WriteText(folder_.PathOf("out/a.1.et"), "of an earlier trace");
  LastLine("simai_trace", "--chakra a -o out");
  EXPECT_EQ(Run("simai_trace", "--chakra out/a -o again").exit_code, 0);
}

// A pipeline whose stages are a formula has no trace.
TEST_F(SimaiTraceTest, AFormulaHasNoTrace) {
  WriteText(folder_.PathOf("w.txt"),
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 "
            "pp: 2 vpp: 1 ga: 2 all_gpus: 4 checkpoints: 0 "
            "checkpoint_initiates: 0 pp_comm: 8\n1\n"
            "l -1 1000 NONE 0 0 NONE 0 0 NONE 0 0\n");
  const ProgramResult result = Run("simai_trace", "-w w.txt");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error,
            "simai_trace: error: w.txt: the pipeline of this workload is a "
            "formula, which no trace can say: write it as a program "
            "(gen_workload --format program)\n");
}

}  // namespace
}  // namespace astra::testing
