// simai_simulator --pattern as a user runs it.

#include <string>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Nine servers of one GPU and a NIC of 50 GB/s.
constexpr std::string_view kCluster = " -g 9 -g_p_s 1 -nic 50 -o out";

class PatternProgramTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& arguments,
                    const std::string& program = "simai_simulator") {
    return RunProgram(program, arguments, folder_.path());
  }

  // Expects exit code 2, one line on stderr, and no results.
  void ExpectRefused(const std::string& arguments, const std::string& message) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> before = folder_.Names();
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error, "simai_simulator: error: " + message + "\n");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(folder_.Names(), before);
  }

  std::string ReadOut(const std::string& file) {
    return ReadText(folder_.PathOf("out/" + file));
  }

  const std::string cluster_{kCluster};
  TemporaryFolder folder_;
};

TEST_F(PatternProgramTest, WritesMessagesQueuesAndAPage) {
  const ProgramResult result =
      Run("--pattern incast:bytes=100kB,senders=8+permutation:bytes=1kB,shift=1"
          " --sample 1us --report" +
          cluster_);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.out, StartsWith("traffic    incast: 8 messages, "));
  EXPECT_THAT(ReadOut("flows.csv"),
              HasSubstr("\nincast,8,0,0,100000,0.000000"));
  EXPECT_THAT(ReadOut("completions.csv"), HasSubstr("\nall,17,17,809000,"));
  EXPECT_THAT(ReadOut("run.json"),
              HasSubstr("\"incast\": {\n      \"mean_us\""));
  EXPECT_THAT(ReadOut("queues.csv"), HasSubstr("\n1.000000,1,9,0,"));
  const std::string page = ReadOut("report.html");
  for (const char* section :
       {"id=\"completions\"", "Longest queues over time",
        "Lowest sending rates over time",
        "Share of the messages that take at most a time", "id=\"links\""}) {
    EXPECT_THAT(page, HasSubstr(section));
  }
}

// With the default network, 4096 B of payload have 82 B of headers. The cable
// to the receiver carries 8 x 10 packets, and one has crossed another cable.
TEST_F(PatternProgramTest, FlowsAndPacketsAgreeOnAnIncast) {
  const std::string pattern = "--pattern incast:bytes=40960B --fidelity ";
  const int64_t bits = (8 * 10 + 1) * (4096 + 82) * 8;
  const double wire_us = static_cast<double>(bits) / 400e3;
  for (const std::string fidelity : {"flow", "packet"}) {
    EXPECT_EQ(Run(pattern + fidelity + cluster_).exit_code, 0);
    const std::string line = ReadOut("completions.csv")
                                 .substr(ReadOut("completions.csv").find('\n'));
    std::vector<std::string> fields = {""};
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    EXPECT_NEAR(std::stod(fields[7]), wire_us + 1, 1e-3) << fidelity;
  }
}

TEST_F(PatternProgramTest, TheSeedDrawsThePermutation) {
  std::vector<std::string> flows;
  for (const std::string seed : {"1", "1", "2"}) {
    EXPECT_EQ(Run("--pattern permutation:bytes=1kB --fidelity flow --seed " +
                  seed + cluster_)
                  .exit_code,
              0);
    flows.push_back(ReadOut("flows.csv"));
  }
  EXPECT_EQ(flows[0], flows[1]);
  EXPECT_NE(flows[0], flows[2]);
}

TEST_F(PatternProgramTest, ARunThatIsStoppedLeavesItsFiles) {
  const ProgramResult result =
      Run("--pattern incast:bytes=1MB,start=5us --stop-at 10us" + cluster_);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("not finished incast: stopped at 10.000 us "
                                    "of simulated time: 0 of 8 messages had "
                                    "arrived\n"));
  EXPECT_THAT(ReadOut("completions.csv"),
              HasSubstr("\nincast,8,0,0,,,,,5.000000,,\n"));
  EXPECT_THAT(result.out, HasSubstr("traffic    incast: none of 8 messages "
                                    "arrived\n"));
  EXPECT_THAT(ReadOut("run.json"), HasSubstr("\"mean_us\": null"));
}

TEST_F(PatternProgramTest, LinksMayFailDuringTheRun) {
  WriteText(folder_.PathOf("events.yaml"),
            "simai_events: 1\nevents:\n"
            "  - {from: 0us, link: [0, 9], rate: 0.5}\n");
  WriteText(folder_.PathOf("slow.yaml"),
            "simai_events: 1\nevents:\n  - {gpu: 1, speed: 0.5}\n");
  EXPECT_EQ(Run("--pattern incast:bytes=1MB --events events.yaml" + cluster_)
                .exit_code,
            0);
  EXPECT_THAT(ReadOut("run.json"), HasSubstr("\"happened\""));
  ExpectRefused("--pattern incast:bytes=1MB --events slow.yaml" + cluster_,
                "slow.yaml: events of GPUs have no effect with --pattern, in "
                "which no GPU computes");
}

TEST_F(PatternProgramTest, RefusesWhatHasNoEffect) {
  const std::string pattern = "--pattern incast:bytes=1MB";
  for (const std::string option :
       {"-w x", "--jobs x", "--chakra x", "--collectives ring", "--unroll",
        "--trace", "--send-latency 1us"}) {
    const std::string name = option.substr(0, option.find(' '));
    ExpectRefused(
        pattern + " " + option + cluster_,
        (name == "-w" ? "--workload" : name) + " has no effect with --pattern");
  }
  ExpectRefused(pattern + " --fidelity closed-form" + cluster_,
                "--pattern has no effect with --fidelity closed-form, which "
                "has no messages: take analytical, flow or packet");
  ExpectRefused(pattern + " --system dgx-h100",
                "--pattern does not say how many GPUs --system has: give "
                "--gpus");
  WriteText(folder_.PathOf("net.yaml"),
            "simai_network: 1\nrecord: {flows: summary}\n");
  ExpectRefused(pattern + " -c net.yaml" + cluster_,
                "net.yaml: \"record: {flows: summary}\" has no effect with "
                "--pattern: there are no collectives to sum up");
}

TEST_F(PatternProgramTest, RefusesWrongPatterns) {
  ExpectRefused("--pattern incst:bytes=1MB" + cluster_,
                "--pattern: unknown pattern \"incst\"; did you mean "
                "\"incast\"? (known: incast, permutation, all-to-all)");
  ExpectRefused("--pattern incast:bytes=1MB,senders=9" + cluster_,
                "--pattern: incast: senders is 9, but of 9 ranks 8 are at a "
                "distance of 1 from one another and from the target");
  ExpectRefused("--pattern incast:sizes=none.txt" + cluster_,
                "none.txt: cannot be read: No such file or directory");
  WriteText(folder_.PathOf("sizes.txt"), "0 0\n10 1\n");
  ExpectRefused("--pattern incast:sizes=sizes.txt" + cluster_,
                "sizes.txt:3:1: the sizes end at 1 %, expected 100");
}

}  // namespace
}  // namespace astra
