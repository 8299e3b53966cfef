#include "astra-core/command_line/command_line.h"

#include <optional>
#include <string>
#include <string_view>

#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ParseWords;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr OptionSpec kOptions[] = {
    {"nics-per-aswitch", "npa", "N", "Size", "NIC ports of an ASW"},
    {"overlap", "o tp-o", "RATIO", "Size", "how much is hidden"},
    {"output", "", "FILE", "Output", "the file to write"},
    {"ro", "", "", "Output", "rail-optimised"},
    {"visual", "v", "[0|1]", "Output", "may lack a value"},
};

CommandLine Parse(const std::string& arguments) {
  return ValueOrDie(ParseArguments(kOptions, arguments));
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

TEST(CommandLineTest, TakesEverySpelling) {
  for (const char* arguments :
       {"--nics-per-aswitch 64", "--nics-per-aswitch=64",
        "-nics-per-aswitch 64", "--nics_per_aswitch 64", "-nics_per_aswitch=64",
        "-npa 64", "--npa 64", "-npa=64", "--npa=64", "--ro -npa 64"}) {
    EXPECT_THAT(Parse(arguments).value("nics-per-aswitch"),
                Optional(std::string("64")))
        << arguments;
  }
  for (const char* arguments : {"-o 0.5", "-tp_o 0.5", "--tp-o=0.5"}) {
    EXPECT_THAT(Parse(arguments).value("overlap"), Optional(std::string("0.5")))
        << arguments;
  }
}

TEST(CommandLineTest, AValueInBracketsMayBeLeftOut) {
  for (const char* arguments :
       {"-v", "-v 1", "-v=1", "--visual", "-v -npa 64", "-npa 64 -v"}) {
    EXPECT_THAT(Parse(arguments).value("visual"), Optional(std::string("1")))
        << arguments;
  }
  EXPECT_THAT(Parse("-v 0 -npa 64").value("visual"),
              Optional(std::string("0")));
  EXPECT_THAT(Parse("-v -npa 64").value("nics-per-aswitch"),
              Optional(std::string("64")));
}

TEST(CommandLineTest, KnowsWhatWasNotGiven) {
  const CommandLine flags = Parse("--ro");
  EXPECT_TRUE(flags.has("ro"));
  EXPECT_THAT(flags.value("ro"), Optional(std::string()));
  EXPECT_FALSE(flags.has("output"));
  EXPECT_EQ(flags.value("output"), std::nullopt);
  EXPECT_FALSE(Parse("").has("ro"));
}

TEST(CommandLineTest, EveryProgramHasHelpAndVersion) {
  EXPECT_TRUE(Parse("--help").has("help"));
  EXPECT_TRUE(Parse("-h").has("help"));
  EXPECT_TRUE(Parse("--version").has("version"));
}

TEST(CommandLineTest, ValuesMayHoldAnything) {
  const CommandLine flags =
      ValueOrDie(ParseWords(kOptions, {"--output=a=b --ro", "-npa", "-5"}));
  EXPECT_THAT(flags.value("output"), Optional(std::string("a=b --ro")));
  EXPECT_THAT(flags.value("nics-per-aswitch"), Optional(std::string("-5")));
  EXPECT_FALSE(flags.has("ro"));
  EXPECT_THAT(
      ValueOrDie(ParseWords(kOptions, {"--output", "my file"})).value("output"),
      Optional(std::string("my file")));
}

TEST(CommandLineTest, OffersTheNearestOfAnUnknownOption) {
  EXPECT_THAT(ParseArguments(kOptions, "--nics-per-asw 64"),
              Says("unknown option \"--nics-per-asw\"; did you mean "
                   "--nics-per-aswitch N? (--help lists all)"));
  EXPECT_THAT(
      ParseArguments(kOptions, "-nps 64"),
      Says("unknown option \"-nps\"; did you mean --npa N? (--help lists "
           "all)"));
  EXPECT_THAT(
      ParseArguments(kOptions, "--ro --tp_ov=1"),
      Says("unknown option \"--tp_ov=1\"; did you mean --tp-o RATIO? (--help "
           "lists all)"));
  EXPECT_THAT(ParseArguments(kOptions, "--oversubscription 2"),
              Says("unknown option \"--oversubscription\" (--help lists all)"));
  // Only whole names count; SimAI's own parser guesses.
  EXPECT_FALSE(ParseArguments(kOptions, "--nics 64").ok());
}

TEST(CommandLineTest, RefusesAnOptionGivenTwice) {
  EXPECT_THAT(ParseArguments(kOptions, "-npa 64 --nics-per-aswitch 64"),
              Says("--nics-per-aswitch is given twice"));
  EXPECT_THAT(ParseArguments(kOptions, "--ro -ro"),
              Says("--ro is given twice"));
}

TEST(CommandLineTest, RefusesAMissingValue) {
  EXPECT_THAT(
      ParseArguments(kOptions, "--ro -npa"),
      Says("the required argument for option '--nics-per-aswitch' is missing"));
  // What follows is an option, not a file of that name.
  EXPECT_THAT(ParseArguments(kOptions, "--output --ro"),
              Says("the required argument for option '--output' is missing"));
}

TEST(CommandLineTest, RefusesAValueOfAFlag) {
  EXPECT_THAT(ParseArguments(kOptions, "--ro=1"),
              Says("option '--ro' does not take any arguments"));
  EXPECT_THAT(ParseArguments(kOptions, "--ro 1"),
              Says("unexpected argument \"1\": every value follows an option"));
}

TEST(CommandLineTest, RefusesWhatIsNoOption) {
  for (const char* word : {"topology.txt", "-", "-5", ""}) {
    EXPECT_THAT(ParseWords(kOptions, {word}),
                Says(fmt::format(
                    "unexpected argument \"{}\": every value follows an option",
                    word)));
  }
  EXPECT_FALSE(ParseWords(kOptions, {"--"}).ok());
}

TEST(CommandLineTest, TakesAsManyOperandsAsItIsTold) {
  const char* const argv[] = {"program", "a", "--output", "b", "c", "--ro"};
  EXPECT_THAT(ValueOrDie(CommandLine::Parse(kOptions, 6, argv, 2)).operands(),
              ElementsAre("a", "c"));
  EXPECT_THAT(CommandLine::Parse(kOptions, 6, argv, 1),
              Says("unexpected argument \"c\""));
}

TEST(CommandLineTest, ReadsNumbers) {
  const CommandLine flags = Parse("-npa 64 -o 0.5");
  EXPECT_EQ(ValueOrDie(flags.integer("nics-per-aswitch", 7, 1, 64)), 64);
  EXPECT_EQ(ValueOrDie(flags.integer("output", 7, 1, 2)), 7);
  EXPECT_EQ(ValueOrDie(flags.number("overlap", 1, 1)), 0.5);
  EXPECT_EQ(ValueOrDie(flags.number("output", 1, 1)), 1);
  EXPECT_THAT(flags.integer("nics-per-aswitch", 7, 1, 63),
              Says("--nics-per-aswitch is \"64\": expected a whole number from "
                   "1 to 63"));
  EXPECT_THAT(flags.number("overlap", 1, 0.25),
              Says("--overlap is \"0.5\": expected a number from 0 to 0.25"));
}

TEST(HelpTextTest, ListsTheOptionsUnderTheirHeadings) {
  EXPECT_EQ(
      HelpText("usage: program\n", kOptions),
      "usage: program\n"
      "\n"
      "Size:\n"
      "  --nics-per-aswitch, -npa N             NIC ports of an ASW\n"
      "  --overlap, -o, -tp-o RATIO             how much is hidden\n"
      "\n"
      "Output:\n"
      "  --output FILE                          the file to write\n"
      "  --ro                                   rail-optimised\n"
      "  --visual, -v [0|1]                     may lack a value\n"
      "\n"
      "Common:\n"
      "  --help, -h                             print this text and stop\n"
      "  --version                              print the version and "
      "stop\n");
}

TEST(ExamplesTextTest, IndentsEveryLineOfACommand) {
  constexpr CommandExample kTwo[] = {{"program --ro", "One line:"},
                                     {"program \\\n  --ro", "Two lines:"}};
  EXPECT_EQ(ExamplesText(kTwo),
            "\n"
            "Examples:\n"
            "  One line:\n"
            "    program --ro\n"
            "  Two lines:\n"
            "    program \\\n"
            "      --ro\n");
}

}  // namespace
}  // namespace astra
