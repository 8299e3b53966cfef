#include "astra-core/sweep/point_commands.h"

#include <set>
#include <string>
#include <vector>

#include "astra-core/base/sha256.h"
#include "astra-core/sweep/sweep_file.h"
#include "fmt/core.h"
#include "tests/astra-core/sweep/made_up_programs.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;

class PointCommandsTest : public ::testing::Test {
 protected:
  PointCommandsTest() {
    for (const SweptProgram& program : testing::kMadePrograms) {
      WriteText(programs_.PathOf(program.name),
                fmt::format("the code of {}", program.name));
    }
  }

  absl::StatusOr<std::vector<PreparedPoint>> Try(std::string_view parts) {
    sweep_ =
        ValueOrDie(ReadSweep("s.yaml", fmt::format("simai_sweep: 1\n{}", parts),
                             inputs_.path(), testing::kMadePrograms));
    FileHashes hashes;
    return PreparePoints(sweep_, ValueOrDie(ExpandSweep(sweep_)),
                         programs_.path(), hashes);
  }

  std::vector<PreparedPoint> Prepare(std::string_view parts) {
    return ValueOrDie(Try(parts));
  }

  std::string KeyOf(std::string_view parts) {
    return Prepare(parts).front().key();
  }

  TemporaryFolder programs_;
  TemporaryFolder inputs_;
  Sweep sweep_;
};

using Texts = std::vector<std::string>;

TEST_F(PointCommandsTest, SpellsOptionsInTheOrderOfTheFile) {
  WriteText(inputs_.PathOf("a.txt"), "a");
  const auto points = Prepare(
      "axes: {gpus: [8, 0.10], on: [true, false]}\n"
      "run: {overlap: \"${on}\"}\n"
      "make_work: {tensor_model_parallel_size: 2, m: \"gpt ${gpus}$$\"}\n"
      "make_topo: {ro: true, g: \"${gpus}\", topo: \"\"}\n");
  ASSERT_EQ(points.size(), 4);
  ASSERT_EQ(points[2].steps.size(), 3);
  const PointStep& topology = points[2].steps[0];
  const PointStep& workload = points[2].steps[1];
  const PointStep& run = points[2].steps[2];
  EXPECT_EQ(topology.program->name, "make_topo");
  EXPECT_EQ(topology.arguments,
            (Texts{"--ro", "--gpu", "0.10", "--topology", ""}));
  EXPECT_EQ(workload.program->name, "make_work");
  EXPECT_EQ(workload.arguments, (Texts{"--tp", "2", "--model", "gpt 0.10$"}));
  EXPECT_EQ(run.program->name, "run");
  EXPECT_EQ(run.arguments, Texts{"--overlap"});
  EXPECT_EQ(points[3].steps[2].arguments, Texts{});
  EXPECT_EQ(points[3].point.number, 4);
}

TEST_F(PointCommandsTest, GivesRepeatsTheirSeeds) {
  const auto points = Prepare(
      "repeats: {count: 2, first: 7}\n"
      "simulate: {}\n");
  ASSERT_EQ(points.size(), 2);
  EXPECT_EQ(points[1].steps[0].arguments, (Texts{"--seed", "8"}));
}

TEST_F(PointCommandsTest, KeyFollowsFromEverythingThatARunReads) {
  WriteText(inputs_.PathOf("a.txt"), "a");
  WriteText(inputs_.PathOf("b.txt"), "a");
  const std::string_view parts =
      "make_topo: {gpu: 8}\n"
      "run: {workload: a.txt}\n";
  std::set<std::string> keys;
  const std::string key = KeyOf(parts);
  EXPECT_EQ(key.size(), 24);
  EXPECT_EQ(KeyOf(parts), key);
  keys.insert(key);
  // Another argument, though the file is the same; of an earlier step; no
  // earlier step; another program; and an option more.
  for (const std::string_view other :
       {"make_topo: {gpu: 8}\nrun: {workload: b.txt}\n",
        "make_topo: {gpu: 9}\nrun: {workload: a.txt}\n",
        "run: {workload: a.txt}\n",
        "make_topo: {gpu: 8}\nsimulate: {workload: a.txt}\n",
        "make_topo: {gpu: 8}\nrun: {workload: a.txt, overlap: true}\n"}) {
    EXPECT_TRUE(keys.insert(KeyOf(other)).second) << other;
  }
  // The contents of a file, and the code of each program.
  for (const std::string& path :
       {inputs_.PathOf("a.txt"), programs_.PathOf("run"),
        programs_.PathOf("make_topo")}) {
    WriteText(path, "another");
    EXPECT_TRUE(keys.insert(KeyOf(parts)).second) << path;
  }
  // What a sweep is called and computes of results does not.
  EXPECT_EQ(KeyOf(parts),
            KeyOf(fmt::format("name: other\nmetrics: {{m: iteration_ms * 2}}\n"
                              "axes: {{a: [1, 2]}}\nexclude: a > 1\n{}",
                              parts)));
}

TEST_F(PointCommandsTest, KeyTellsApartWhereArgumentsEnd) {
  // In a row, both of each pair are the same.
  EXPECT_NE(KeyOf("make_topo: {g: 8--ro}\nrun: {}\n"),
            KeyOf("make_topo: {g: 8, ro: true}\nrun: {}\n"));
  EXPECT_NE(KeyOf("make_topo: {topo: --gpu1, g: 2}\nrun: {}\n"),
            KeyOf("make_topo: {topo: \"\", g: 1--gpu2}\nrun: {}\n"));
}

TEST_F(PointCommandsTest, KeyTellsApartProgramsOfTheSameCode) {
  WriteText(programs_.PathOf("run"), "code");
  WriteText(programs_.PathOf("simulate"), "code");
  EXPECT_NE(KeyOf("run: {}\n"), KeyOf("simulate: {}\n"));
}

TEST_F(PointCommandsTest, PointsThatDifferInMetricsAloneShareTheirKey) {
  const auto points = Prepare(
      "axes: {price: [1, 2], gpus: [8, 16]}\n"
      "make_topo: {gpu: \"${gpus}\"}\n"
      "run: {overlap: false}\n"
      "metrics: {cost: price * iteration_ms}\n");
  ASSERT_EQ(points.size(), 4);
  EXPECT_EQ(points[0].key(), points[2].key());
  EXPECT_EQ(points[1].key(), points[3].key());
  EXPECT_NE(points[0].key(), points[1].key());
}

TEST_F(PointCommandsTest, StepsThatWriteDoNotDependOnOneAnother) {
  const auto points = Prepare(
      "axes: {gpus: [8, 16]}\n"
      "make_topo: {gpu: \"${gpus}\"}\n"
      "make_work: {tp: 2}\n"
      "run: {}\n");
  EXPECT_NE(points[0].steps[0].key, points[1].steps[0].key);
  EXPECT_EQ(points[0].steps[1].key, points[1].steps[1].key);
  EXPECT_NE(points[0].steps[2].key, points[1].steps[2].key);
}

TEST_F(PointCommandsTest, ListsTheFilesThatItReadsOnce) {
  WriteText(inputs_.PathOf("gpt"), "model");
  WriteText(inputs_.PathOf("t1"), "one");
  WriteText(inputs_.PathOf("t2"), "two");
  const std::string absolute = inputs_.PathOf("t1");
  const auto points = Prepare(
      fmt::format("make_work: {{model: gpt, operator-table: \"t2,t1,t2\"}}\n"
                  "run: {{topology: \"{}\"}}\n",
                  absolute));
  std::vector<std::string> inputs;
  for (const auto& [path, sha256] : points[0].inputs) {
    inputs.push_back(fmt::format("{} {}", path, sha256));
  }
  EXPECT_EQ(inputs,
            (Texts{"gpt " + Sha256("model"), "t2 " + Sha256("two"),
                   "t1 " + Sha256("one"), absolute + " " + Sha256("one")}));
}

TEST_F(PointCommandsTest, TakesANameWhereAFileIsOnlyAnAlternative) {
  const auto points = Prepare(
      "make_work: {model: gpt-7b}\n"
      "run: {}\n");
  EXPECT_TRUE(points[0].inputs.empty());
}

TEST_F(PointCommandsTest, RefusesAFileThatIsNotThere) {
  WriteText(inputs_.PathOf("t1"), "one");
  EXPECT_THAT(Try("axes: {file: [t1, t2]}\n"
                  "run: {n: \"${file}\"}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:3:10: t2: no such file (at file=t2)"));
  EXPECT_THAT(Try("make_work: {operator-table: \"t1,t3\"}\nrun: {}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:2:29: t3: no such file"));
  EXPECT_THAT(Try("run: {n: .}\n"),  // A folder.
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:2:10: .: no such file"));
}

TEST_F(PointCommandsTest, SaysWhereAndAtWhichPointAnOptionFails) {
  EXPECT_THAT(Try("axes: {tp: [2, x]}\n"
                  "make_work: {tp: \"${tp * 2}\"}\n"
                  "run: {}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:3:17: --tp: \"*\" takes two numbers: found "
                       "\"x\" (at tp=x)"));
  EXPECT_THAT(Try("axes: {on: [true, 1]}\n"
                  "run: {overlap: \"${on}\"}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "s.yaml:3:16: --overlap is \"1\": expected true or "
                       "false (at on=1)"));
}

TEST_F(PointCommandsTest, RefusesAProgramThatIsNotThere) {
  const TemporaryFolder empty;
  sweep_ = ValueOrDie(ReadSweep("s.yaml", "simai_sweep: 1\nrun: {}\n", "",
                                testing::kMadePrograms));
  FileHashes hashes;
  EXPECT_THAT(
      PreparePoints(sweep_, ValueOrDie(ExpandSweep(sweep_)), empty.path(),
                    hashes),
      StatusIs(absl::StatusCode::kNotFound,
               fmt::format("{}: cannot be read: No such file or directory",
                           empty.PathOf("run"))));
}

TEST(FileHashesTest, ReadsAFileOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("a");
  FileHashes hashes;
  EXPECT_EQ(ValueOrDie(hashes.OfAny(path)), std::nullopt);
  WriteText(path, "first");
  EXPECT_EQ(ValueOrDie(hashes.OfAny(path)), std::nullopt);
  EXPECT_EQ(ValueOrDie(hashes.Of(path)), Sha256("first"));
  WriteText(path, "second");
  EXPECT_EQ(ValueOrDie(hashes.Of(path)), Sha256("first"));
  EXPECT_EQ(ValueOrDie(hashes.OfAny(path)), Sha256("first"));
}

}  // namespace
}  // namespace astra
