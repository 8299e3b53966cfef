#include "astra-core/sweep/sweep_sections.h"

#include <string>

#include "fmt/core.h"
#include "tests/astra-core/sweep/small_sweeps.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ErrorOf;
using ::astra::testing::Read;

TEST(ReadSectionsTest, ReadsOptionsInAnySpellingButOnce) {
  const Sweep sweep = Read("make_topo: {nv_bw: 1Gbps, -g: 8}\nrun: {}\n");
  EXPECT_EQ(sweep.sections[0].options[0].name, "nvlink-bw");
  EXPECT_EQ(sweep.sections[0].options[1].name, "gpu");
  EXPECT_EQ(ErrorOf("make_topo: {nvbw: 1Gbps, nvlink_bw: 2Gbps}\nrun: {}\n"),
            "2:37: \"nvbw\" and \"nvlink_bw\" are the same option, "
            "--nvlink-bw");
  EXPECT_EQ(ErrorOf("make_topo: {gpus: 1}\nrun: {}\n"),
            "2:19: unknown option of make_topo \"gpus\"; did you mean "
            "\"gpu\"? (known: topology, gpu, nvlink-bw, ro)");
  EXPECT_EQ(ErrorOf("run: {o: x}\n"), "2:10: the sweep itself gives --output");
  EXPECT_EQ(ErrorOf("run: {help: true}\n"),
            "2:13: --help prints and stops: it cannot be swept");
}

TEST(ReadSectionsTest, RefusesOptionsWithoutOneValue) {
  constexpr std::string_view kAdvice =
      "an option holds one value; put the list under \"axes\" and write "
      "\"${NAME}\"";
  EXPECT_EQ(ErrorOf("make_topo: {gpu: [8, 16]}\nrun: {}\n"),
            fmt::format("2:18: --gpu is a list: {}", kAdvice));
  EXPECT_EQ(ErrorOf("make_topo: {gpu: {from: 1}}\nrun: {}\n"),
            fmt::format("2:18: --gpu is a mapping: {}", kAdvice));
  EXPECT_EQ(ErrorOf("make_topo: {gpu: ~}\nrun: {}\n"),
            fmt::format("2:18: --gpu is nothing: {}", kAdvice));
  EXPECT_EQ(ErrorOf("make_topo: {ro: [true]}\nrun: {}\n"),
            "2:17: --ro is a list: expected true or false");
  EXPECT_EQ(ErrorOf("make_topo: {ro: 1}\nrun: {}\n"),
            "2:17: --ro is \"1\": expected true or false");
  EXPECT_EQ(ErrorOf("make_topo: {gpu: $8}\nrun: {}\n"),
            "2:18: --gpu: at character 1 of \"$8\": \"$\" alone: expected "
            "\"${\", or \"$$\" for a dollar");
  EXPECT_EQ(ErrorOf("make_topo: {gpu: \"${8 / 0}\"}\nrun: {}\n"),
            "2:18: division by zero: 8 / 0");
}

TEST(ReadSectionsTest, RunsOneProgramThatReadsWhatTheOthersWrite) {
  EXPECT_EQ(ErrorOf("make_topo: {g: 8}\n"),
            "1:1: a sweep has a section for the program that runs: run, "
            "simulate, collective");
  EXPECT_EQ(ErrorOf("run: {}\nsimulate: {}\n"),
            "3:11: simulate beside run: a sweep runs one of them");
  EXPECT_EQ(ErrorOf("make_work: {tp: 8}\ncollective: {}\n"),
            "2:12: nothing reads what make_work writes: collective takes no "
            "workload");
  EXPECT_EQ(ErrorOf("make_topo: {g: 8}\nrun: {n: a.txt}\n"),
            "2:12: nothing reads what make_topo writes: run is told "
            "--topology of its own");
  EXPECT_EQ(ErrorOf("make_topo: {g: 8}\nrun: {w: a.txt}\n"), "no error");
  EXPECT_EQ(ErrorOf("run: [1]\n"), "2:6: run is a list, expected a mapping");
}

}  // namespace
}  // namespace astra
