#include "astra-core/command_line/shell_files.h"

#include <string>
#include <string_view>

#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr OptionSpec kOptions[] = {
    {"kind", "k the_kind", "NAME", "Input", "\"a\" or it's b, ^c, ~d, `e`"},
    {"table", "t", "FILE,...", "Input", ".5 of a line"},
    {"log", "", "LOG", "Output", "C:\\log"},
    {"folder", "", "DIR", "Output", "to it"},
    {"now", "", "", "Output", "at once"},
};

constexpr CommandExample kExamples[] = {{"paint_it -k a", "So:"},
                                        {"paint_it \\\n  -k b", "Or:"}};

constexpr OptionSpec kOther[] = {{"now", "n", "NAME", "Time", "when"}};

ShellProgram Painter() {
  return {.name = "paint_it",
          .help =
              "usage: paint_it -k NAME\n       paint_it --now\n\n"
              "Paints it. Or\nnot.\n\nMore.\n",
          .options = kOptions,
          .values = {{"kind", {{"DCN+", "round"}, {"a;b", ""}}}},
          .exit_codes = {{"0", "Fine."}},
          .files = {{"out.csv", "What came."}},
          .examples = kExamples,
          .related = {"gen_topo", "other"}};
}

ShellProgram Sweeper() {
  return {.name = "sweeper",
          .help = "usage: sweeper COMMAND\n\nSweeps.\n",
          .commands = {{"go", "SWEEP", "do it", kOptions},
                       {"wait", "FOLDER [FOLDER]", "later", kOther}},
          .values = {{"now", {{"soon", ""}, {"late", ""}}}}};
}

ShellProgram Caller() {
  return {.name = "call",
          .help = "usage: call COMMAND\n\nCalls.\n",
          .commands = {{.name = "paint",
                        .operands = "[options]",
                        .help = "paint it",
                        .program = "paint_it"},
                       {.name = "help", .operands = "COMMAND", .help = "say"}}};
}

// What stands before the functions that are the same for all programs.
std::string Table(const ShellProgram& program) {
  const std::string text = BashCompletion(program);
  const size_t begin = text.find(fmt::format("_{}_table()", program.name));
  return text.substr(begin, text.find("\n}\n", begin) + 3 - begin);
}

TEST(BashCompletionTest, KnowsEveryNameAndWhatFollowsIt) {
  EXPECT_EQ(Table(Painter()), R"(_paint_it_table() {
  local name=${2%%=*}
  name=${name#-}
  name=${name#-}
  name=${name//_/-}
  names=() operands=() option='' takes='' words=()
  names=('--kind -k -the_kind' '--table -t' --log --folder --now '--help -h'
    --version)
  case $name in
    kind | k | the-kind) option=kind takes=word
      words=(DCN+ 'a;b')
      ;;
    table | t) option=table takes=files ;;
    log) option=log takes=file ;;
    folder) option=folder takes=folder ;;
    now) option=now ;;
    help | h) option=help ;;
    version) option=version ;;
  esac
}
)");
}

TEST(BashCompletionTest, KnowsTheOptionsAndOperandsOfEachCommand) {
  const std::string table = Table(Sweeper());
  EXPECT_THAT(table, HasSubstr(R"(
    '')
      operands=(word)
      words=(go wait)
      names=('--help -h' --version)
)"));
  EXPECT_THAT(table, HasSubstr(R"(
    go)
      operands=(yaml)
      names=('--kind -k -the_kind' '--table -t' --log --folder --now
        '--help -h' --version)
)"));
  EXPECT_THAT(table, HasSubstr(R"(
    wait)
      operands=(folder folder)
      names=('--now -n' '--help -h' --version)
      case $name in
        now | n) option=now takes=word
          words=(soon late)
          ;;
)"));
}

TEST(BashCompletionTest, DelegatesCommandsThatStandForPrograms) {
  const std::string table = Table(Caller());
  EXPECT_THAT(table, HasSubstr("\n    paint) delegate=paint_it ;;\n"));
  EXPECT_THAT(table, HasSubstr(R"(
    help)
      operands=(word)
      words=(paint help)
      names=('--help -h' --version)
)"));
  EXPECT_THAT(BashCompletion(Caller()),
              EndsWith("\ncomplete -F _call call\n"
                       "source \"${BASH_SOURCE[0]%call}paint_it\"\n"));
  EXPECT_THAT(BashCompletion(Sweeper()), Not(HasSubstr("source")));
}

TEST(BashCompletionTest, NamesItsFunctionsAfterTheProgram) {
  const std::string text = BashCompletion(Painter());
  EXPECT_THAT(text, HasSubstr("\ncomplete -F _paint_it paint_it\n"));
  EXPECT_THAT(text, Not(HasSubstr("PROGRAM")));
}

TEST(ManPageTest, HoldsAllAndEscapesIt) {
  EXPECT_EQ(ManPage(Painter(), "1.2-3"),
            R"(.TH paint_it 1 "" "simai\-cpp 1.2\-3" "simai\-cpp"
.ad l
.SH NAME
paint_it \- paints it
.SH SYNOPSIS
.nf
\fBpaint_it\fP \-k NAME
\fBpaint_it\fP \-\-now
.fi
.SH DESCRIPTION
Paints it. Or not.
.SH OPTIONS
An option may have one dash or two, hyphens or underscores, and its
value behind a space or \(dq=\(dq.
.SS "Input"
.TP
\fB\-\-kind\fP, \fB\-k\fP, \fB\-the_kind\fP \fINAME\fP
\(dqa\(dq or it\(aqs b, \(hac, \(tid, \(gae\(ga
.RS
.TP
\fBDCN+\fP
round
.TP
\fBa;b\fP
.RE
.TP
\fB\-\-table\fP, \fB\-t\fP \fIFILE,...\fP
\&.5 of a line
.SS "Output"
.TP
\fB\-\-log\fP \fILOG\fP
C:\elog
.TP
\fB\-\-folder\fP \fIDIR\fP
to it
.TP
\fB\-\-now\fP
at once
.SS "Common"
.TP
\fB\-\-help\fP, \fB\-h\fP
print this text and stop
.TP
\fB\-\-version\fP
print the version and stop
.SH EXIT STATUS
.TP
\fB0\fP
Fine.
.SH FILES
.TP
\fBout.csv\fP
What came.
.SH EXAMPLES
So:
.PP
.RS 4
.nf
paint_it \-k a
.fi
.RE
.PP
Or:
.PP
.RS 4
.nf
paint_it \e
  \-k b
.fi
.RE
.SH SEE ALSO
.BR gen_topo (1),
.BR other (1)
)");
}

TEST(ManPageTest, HasASectionForEachCommand) {
  EXPECT_THAT(ManPage(Sweeper(), "1"), HasSubstr(R"(
.SH DESCRIPTION
Sweeps.
.SH COMMANDS
.SS "go SWEEP"
do it
.PP
.I "Input"
.TP
)"));
  EXPECT_THAT(ManPage(Sweeper(), "1"), HasSubstr(R"(
.SS "wait FOLDER [FOLDER]"
later
.PP
.I "Time"
.TP
\fB\-\-now\fP, \fB\-n\fP \fINAME\fP
when
.br
Known: soon, late.
.SH OPTIONS
)"));
}

TEST(ManPageTest, NamesValuesThatTheHelpDoesNotOnly) {
  const ShellProgram program = {
      .name = "p",
      .help = "usage: p\n\nDoes.\n",
      .options = kOptions,
      .values = {{"now", {{"at", ""}, {"once", ""}}},
                 {"folder", {{"to", ""}, {"elsewhere", ""}}}}};
  const std::string page = ManPage(program, "1");
  EXPECT_THAT(page, HasSubstr("\nto it\n.br\nKnown: to, elsewhere.\n"));
  EXPECT_THAT(page, HasSubstr("\nat once\n.SS \"Common\"\n"));
}

TEST(ManPageTest, BreaksLongTextBetweenWords) {
  const std::string word(30, 'a');
  const ShellProgram program = {
      .name = "p", .help = fmt::format("usage: p\n\nOn {0} {0} {0}.\n", word)};
  // 3 + 30 + 1 + 30 columns, and another word is too much.
  EXPECT_THAT(ManPage(program, "1"),
              HasSubstr(fmt::format("\nOn {0} {0}\n{0}.\n", word)));
}

// They are stated in command_line.cc too.
TEST(ShellFilesTest, AddTheOptionsThatEveryProgramHas) {
  constexpr std::string_view kHelp = "print this text and stop";
  constexpr std::string_view kVersion = "print the version and stop";
  ASSERT_EQ(HelpText("", {}),
            fmt::format("\nCommon:\n  {:<38} {}\n  {:<38} {}\n", "--help, -h",
                        kHelp, "--version", kVersion));
  EXPECT_THAT(ManPage({.name = "p", .help = "usage: p\n\nDoes.\n"}, "1"),
              EndsWith(fmt::format(".SS \"Common\"\n"
                                   ".TP\n\\fB\\-\\-help\\fP, \\fB\\-h\\fP\n{}\n"
                                   ".TP\n\\fB\\-\\-version\\fP\n{}\n",
                                   kHelp, kVersion)));
}

TEST(ShellFilesDeathTest, RefuseValuesOfAnOptionThatIsNot) {
  ShellProgram program = Painter();
  program.values = {{"kinds", {{"a", ""}}}};
  EXPECT_DEATH(BashCompletion(program), "paint_it has no --kinds");
  program.values = {{"kind", {{"a b", ""}}}};
  EXPECT_DEATH(ManPage(program, "1"),
               "--kind of paint_it has the value \"a b\"");
}

}  // namespace
}  // namespace astra
