// gen_topo as a program: what it prints and writes, and how it ends.

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "astra-core/base/sha256.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramPath;
using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class GenTopoProgramTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& arguments) {
    return RunProgram("gen_topo", arguments, folder_.path());
  }

  testing::TemporaryFolder folder_;
};

TEST_F(GenTopoProgramTest, WritesTheFileAndSaysWhatSimAIsGeneratorSays) {
  const ProgramResult result = Run("-topo Spectrum-X -g 8 -psn 1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "asw_switch_num: 8\n"
            "psw_switch_num: 1\n"
            "Creating Topology of totally 1 segment(s), totally 1 pod(s).\n"
            "Spectrum-X_8g_8gps_400Gbps_H100\n");
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(folder_.Names(), ElementsAre("Spectrum-X_8g_8gps_400Gbps_H100"));
  EXPECT_EQ(Sha256(ReadText(folder_.PathOf("Spectrum-X_8g_8gps_400Gbps_H100"))),
            "4a8a393c66a4ce0ae8edd957f82e58e3ce30f1d81c9acd8eb107fe4270a210b6");
}

TEST_F(GenTopoProgramTest, SaysMoreOfPodsAndWhenAskedToDescribe) {
  const ProgramResult result =
      Run("--ro -g 32 -psn 2 --pods 2 --describe -o 'my file'");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              StartsWith("asw_switch_num: 16\n"
                         "psw_switch_num: 4\n"
                         "core_switch_num: 16\n"
                         "Creating Topology of totally 2 segment(s), totally 2 "
                         "pod(s).\n"
                         "  GPUs             32 H100 in 4 servers of 8\n"));
  EXPECT_THAT(result.out, ::testing::EndsWith("\nmy file\n"));
  EXPECT_THAT(folder_.Names(), ElementsAre("my file"));
}

TEST_F(GenTopoProgramTest, WarnsAndGoesOn) {
  const ProgramResult result = Run("-g 8 -asn 64 -o file");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "gen_topo: warning: --asw-switch-num 64 has no effect: the other "
            "options make 1 ASWs\n");
  EXPECT_THAT(folder_.Names(), ElementsAre("file"));
}

TEST_F(GenTopoProgramTest, SaysWhatUplinksTheRateOfNicsLeavesBehind) {
  // 512 GPUs of Spectrum-X: each of 8 ASWs has 64 NICs and 64 uplinks.
  const std::string run = "-topo Spectrum-X -g 512 -o file ";
  EXPECT_EQ(Run(run).error, "");
  const ProgramResult result = Run(run + "-bw 800Gbps");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error,
            "gen_topo: warning: tier 1 (ASW) is oversubscribed 2:1: 409600 "
            "Gbps down, 204800 Gbps up; --bandwidth 800Gbps leaves the uplinks "
            "at 400Gbps, --ap-bandwidth sets them\n");
  EXPECT_EQ(Run(run + "-bw 800Gbps -apbw 800Gbps").error, "");
  EXPECT_EQ(Run(run + "-bw 200Gbps").error, "");
  EXPECT_EQ(Run("-topo DCN+ -g 512 -o file").error,
            "gen_topo: warning: tier 1 (ASW) is oversubscribed 8:1: 204800 "
            "Gbps down, 25600 Gbps up\n");
}

TEST_F(GenTopoProgramTest, EndsWith2AndOneLineAndNoFileOnBadOptions) {
  for (const auto& [arguments, message] :
       {std::pair{"-topo Spectrum-X -g 12",
                  "12 GPUs do not divide into servers of 8; the next number "
                  "that does is 16"},
        std::pair{"-topo Spectrum-X -g 8192",
                  "8192 GPUs per pod need 16 segments of 512 GPUs, but a PSW "
                  "with 64 ports for ASWs connects 8, that is 4096 GPUs; use "
                  "--pods, or larger --nics-per-aswitch or --asw-per-psw"},
        std::pair{"-topo DCN+ --ro",
                  "DCN+ has no rails and one plane: --ro and --dp contradict "
                  "it; use -topo Spectrum-X or AlibabaHPN"},
        std::pair{"-aswpp 8",
                  "unknown option \"-aswpp\"; did you mean --asw N? (--help "
                  "lists all)"},
        std::pair{"-g 8 --gpu 8", "--gpus is given twice"},
        std::pair{"-g", "the required argument for option '--gpus' is missing"},
        std::pair{"-o --describe",
                  "the required argument for option '--output' is missing"},
        std::pair{"-g 8 -er 1",
                  "--error-rate: a link that loses all delivers nothing"}}) {
    SCOPED_TRACE(arguments);
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error, fmt::format("gen_topo: error: {}\n", message));
    EXPECT_THAT(folder_.Names(), IsEmpty());
  }
}

TEST_F(GenTopoProgramTest, EndsWith2WhereTheFileCannotBeWritten) {
  const ProgramResult result = Run("-g 8 -o no/such/folder");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error,
            "gen_topo: error: no/such/folder: cannot be written: No such file "
            "or directory\n");
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(GenTopoProgramTest, RefusesAClusterThatDoesNotFitIntoMemory) {
  if (!::astra::testing::CanLimitMemory()) GTEST_SKIP();
  const std::string command = fmt::format(
      "cd '{}' && ulimit -v 300000 && '{}' -topo AlibabaHPN "
      "-g 1048576 --pods 256 -gt H100 -o x 2>error",
      folder_.path(), ProgramPath("gen_topo"));
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_THAT(
      ReadText(folder_.PathOf("error")),
      ::testing::MatchesRegex(
          "gen_topo: error: this needs up to about [0-9.]+ GiB of memory, and "
          "[0-9.]+ GiB are free; --force runs it all the same\n"));
  EXPECT_THAT(folder_.Names(), ElementsAre("error"));
}

TEST_F(GenTopoProgramTest, EndsWith2WhereNobodyHearsIt) {
  const std::string command =
      fmt::format("cd '{}' && '{}' -g 8 -o file >/dev/full 2>error",
                  folder_.path(), ProgramPath("gen_topo"));
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_EQ(ReadText(folder_.PathOf("error")),
            "gen_topo: error: stdout: cannot be written: No space left on "
            "device\n");
}

TEST_F(GenTopoProgramTest, PrintsHelpAndVersion) {
  for (const char* option : {"--help", "-h"}) {
    const ProgramResult result = Run(option);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, StartsWith("usage: gen_topo [-topo NAME]"));
    EXPECT_THAT(result.out, HasSubstr("  --psw-switch-num, -psn N "));
    EXPECT_THAT(result.out, HasSubstr("\n  AlibabaHPN "));
  }
  EXPECT_THAT(Run("--version").out,
              ::testing::MatchesRegex("gen_topo [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

}  // namespace
}  // namespace astra
