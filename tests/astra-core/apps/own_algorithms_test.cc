// --algorithm of simai_simulator and simai_analytical as a user runs them.

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::SourcePath;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A small and a large all-reduce, and an all-gather, of eight ranks.
constexpr std::string_view kWorkload =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 "
    "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: "
    "0\n3\n"
    "small -1 1000 ALLREDUCE 327680 0 NONE 0 0 NONE 0 0\n"
    "large -1 1000 ALLREDUCE 1048576 0 NONE 0 0 NONE 0 0\n"
    "gather -1 1000 ALLGATHER 1048576 0 NONE 0 0 NONE 0 0\n";

class OwnAlgorithmsTest : public ::testing::Test {
 protected:
  OwnAlgorithmsTest() {
    WriteText(folder_.PathOf("w.txt"), kWorkload);
    WriteText(folder_.PathOf("pairs.yaml"),
              ReadText(SourcePath("inputs/schedules/all_pairs_8.yaml")));
    WriteText(folder_.PathOf("ring.xml"),
              ReadText(SourcePath("inputs/schedules/ring_4.xml")));
  }

  // Runs on eight servers of one GPU with a NIC of 50 GB/s below one switch.
  ProgramResult Run(const std::string& arguments,
                    const std::string& program = "simai_simulator") {
    return RunProgram(program,
                      "-w w.txt -g 8 -g_p_s 1 -nic 50 -o out " + arguments,
                      folder_.path());
  }

  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "simai_simulator: error: " + message + "\n");
  }

  // Returns field `column` of the line of collectives.csv that begins with
  // `layer`.
  std::string FieldOf(const std::string& layer, const std::string& column) {
    const std::vector<std::string> head = FieldsAt(0);
    size_t place = 0;
    while (head.at(place) != column) ++place;
    for (size_t line = 1;; ++line) {
      const std::vector<std::string> fields = FieldsAt(line);
      if (fields.at(0) == layer) return fields.at(place);
    }
  }

  TemporaryFolder folder_;

 private:
  std::vector<std::string> FieldsAt(size_t line) {
    const std::string text = ReadText(folder_.PathOf("out/collectives.csv"));
    size_t begin = 0;
    for (; line > 0; --line) begin = text.find('\n', begin) + 1;
    std::vector<std::string> fields = {""};
    for (; begin < text.size() && text[begin] != '\n'; ++begin) {
      if (text[begin] == ',') {
        fields.emplace_back();
      } else {
        fields.back() += text[begin];
      }
    }
    return fields;
  }
};

// Each rank sends an eighth of the buffer to each of seven, twice: 10 packets
// of 4096 B and 82 B of headers each. A round ends when the last packet has
// crossed both cables, whose latencies are 1 us in all; packets that meet at a
// receiver add a little. Rings add no cost of software.
TEST_F(OwnAlgorithmsTest, AnAllReduceOfTwoRoundsTakesTwoRounds) {
  constexpr double kPacketUs = (4096 + 82) * 8 / 400e3;
  constexpr double kRoundUs = (7 * 10 + 1) * kPacketUs + 1;
  for (const std::string fidelity : {"flow", "packet"}) {
    const ProgramResult result =
        Run("--collectives ring --algorithm pairs.yaml:0B-400kB --fidelity " +
            fidelity);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(FieldOf("small", "algorithm"), "all-pairs");
    EXPECT_NEAR(std::stod(FieldOf("small", "time_us")), 2 * kRoundUs,
                fidelity == "flow" ? 1e-3 : 0.06 * 2 * kRoundUs);
    EXPECT_EQ(FieldOf("large", "algorithm"), "ring");
    EXPECT_EQ(FieldOf("gather", "algorithm"), "ring");
    EXPECT_THAT(result.out,
                HasSubstr("algorithm  all-pairs of pairs.yaml: 1 of 3 "
                          "collectives\n"));
  }
}

TEST_F(OwnAlgorithmsTest, WithoutARangeItTakesAllSizes) {
  const ProgramResult result =
      Run("--collectives ring --algorithm pairs.yaml --fidelity analytical",
          "simai_analytical");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.out, HasSubstr(": 2 of 3 collectives\n"));
  EXPECT_EQ(FieldOf("large", "algorithm"), "all-pairs");
}

// With NCCL, the algorithm has the latencies of NCCL's Simple protocol, and the
// others are NCCL's choice as without it.
TEST_F(OwnAlgorithmsTest, OthersAreNcclsChoiceAsBefore) {
  const std::string with_nccl = "--fidelity flow --gpu-type H100 ";
  ASSERT_EQ(Run(with_nccl).exit_code, 0);
  const std::string before = FieldOf("gather", "time_us");
  ASSERT_EQ(Run(with_nccl + "--algorithm pairs.yaml").exit_code, 0);
  EXPECT_EQ(FieldOf("gather", "time_us"), before);
  const std::string in_nccl = FieldOf("small", "time_us");
  ASSERT_EQ(Run("--fidelity flow --collectives ring --algorithm pairs.yaml")
                .exit_code,
            0);
  EXPECT_GT(std::stod(in_nccl), std::stod(FieldOf("small", "time_us")) + 8.4);
}

// Counting again what went alike must not change anything.
TEST_F(OwnAlgorithmsTest, ReplaysChangeNothing) {
  const std::string command = "--collectives ring --algorithm pairs.yaml";
  ASSERT_EQ(Run(command + " --accelerate off").exit_code, 0);
  const std::string off = ReadText(folder_.PathOf("out/collectives.csv"));
  ASSERT_EQ(Run(command + " --accelerate exact").exit_code, 0);
  EXPECT_EQ(ReadText(folder_.PathOf("out/collectives.csv")), off);
}

TEST_F(OwnAlgorithmsTest, RefusesOneThatFitsNothing) {
  ExpectRefused(
      "--collectives ring --algorithm ring.xml",
      "--algorithm: ring.xml fits no collective of w.txt: it is all-reduce of "
      "4 ranks; there are all-reduce of 8 ranks over TP, 327680 to 1048576 "
      "bytes; all-gather of 8 ranks over TP, 1048576 bytes");
  ExpectRefused(
      "--collectives ring --algorithm pairs.yaml:1B-9B",
      "--algorithm: pairs.yaml fits no collective of w.txt: it is all-reduce "
      "of 8 ranks, 1 to 9 bytes; there are all-reduce of 8 ranks over TP, "
      "327680 to 1048576 bytes; all-gather of 8 ranks over TP, 1048576 bytes");
  ExpectRefused("--collectives ring --algorithm pairs.yaml,pairs.yaml",
                "--algorithm: pairs.yaml has no effect: an algorithm before it "
                "carries out all that it fits");
}

TEST_F(OwnAlgorithmsTest, RefusesWhatHasNoMessages) {
  ExpectRefused("--fidelity closed-form --algorithm pairs.yaml",
                "--algorithm has no effect with --fidelity closed-form: it has "
                "no messages");
  ExpectRefused("--fidelity flow --symmetry --algorithm pairs.yaml",
                "--algorithm has no effect with --symmetry, in which "
                "collectives share links as in closed form");
  for (const char* range : {"1MiB", "1-2", "2B-1B", "-", ""}) {
    ExpectRefused(
        fmt::format("--algorithm pairs.yaml:{}", range),
        fmt::format("--algorithm: \"pairs.yaml:{}\": expected FILE:MIN-MAX "
                    "with two sizes, such as ring.xml:1MiB-64MiB",
                    range));
  }
}

}  // namespace
}  // namespace astra
