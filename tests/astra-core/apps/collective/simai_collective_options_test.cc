#include "astra-core/apps/collective/simai_collective_options.h"

#include <string>

#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

absl::StatusOr<SimaiCollectiveOptions> Read(const std::string& arguments) {
  const absl::StatusOr<CommandLine> flags =
      ParseArguments(SimaiCollectiveOptionSpecs(), arguments);
  if (!flags.ok()) return flags.status();
  return ReadSimaiCollectiveOptions(*flags);
}

void ExpectRefused(const std::string& arguments, const std::string& message) {
  EXPECT_THAT(Read(arguments),
              StatusIs(absl::StatusCode::kInvalidArgument, message))
      << arguments;
}

TEST(SimaiCollectiveOptionsTest, OnlyTheSystemIsRequired) {
  const SimaiCollectiveOptions options = ValueOrDie(Read("--system dgx-h100"));
  EXPECT_EQ(options.task, CollectiveTask::kSweep);
  EXPECT_EQ(options.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(options.sizes.min, KiB(1));
  EXPECT_EQ(options.sizes.max, MiB(8192));
  EXPECT_EQ(options.sizes.factor, 2);
  EXPECT_EQ(options.output, "results/all_reduce");
  ExpectRefused("",
                "--system is missing: give a name of --list-systems, or a "
                "file");
}

TEST(SimaiCollectiveOptionsTest, TakesTheLettersOfNcclTests) {
  const SimaiCollectiveOptions options = ValueOrDie(
      Read("--system x -b 8 -e 128M -i 1K -d half -r 3 -g 4 --op broadcast"));
  EXPECT_EQ(options.sizes.min, Bytes(8));
  EXPECT_EQ(options.sizes.max, MiB(128));
  EXPECT_EQ(options.sizes.step, KiB(1));
  EXPECT_EQ(options.type.bytes, 2);
  EXPECT_EQ(options.root, 3u);
  EXPECT_EQ(options.cluster.gpus_per_server, 4u);
}

TEST(SimaiCollectiveOptionsTest, NamesOfCollectivesComeInAllSpellings) {
  for (const std::string name :
       {"all_gather", "all-gather", "allgather", "AllGather"}) {
    EXPECT_EQ(ValueOrDie(Read("--system x --op " + name)).kind,
              CollectiveKind::kAllGather);
  }
  ExpectRefused("--system x --op all_gathr",
                "unknown --op \"all_gathr\"; did you mean \"all_gather\"? "
                "(known: all_reduce, all_gather, reduce_scatter, alltoall, "
                "sendrecv, broadcast, reduce, gather, scatter, dispatch, "
                "combine)");
}

TEST(SimaiCollectiveOptionsTest, RanksAreListsAndRanges) {
  EXPECT_THAT(ValueOrDie(Read("--system x --ranks 8,0-2")).cluster.ranks,
              ElementsAre(RankId(8), RankId(0), RankId(1), RankId(2)));
  for (const std::string entry : {"a", "3-1", "-", "1-"}) {
    ExpectRefused(
        "--system x --ranks 0," + entry,
        "--ranks: \"" + entry + "\" is neither a rank nor a range such as 0-7");
  }
  ExpectRefused("--system x --ranks 0-9,0-16777215",
                "--ranks: more than the limit of 16777216 ranks");
}

TEST(SimaiCollectiveOptionsTest, WhatHasNoEffectIsRefused) {
  const std::string s = "--system x ";
  ExpectRefused(s + "-n t --servers 2",
                "--servers has no effect: -n says what the cluster is");
  ExpectRefused(s + "--servers 2 --gpus 16",
                "--servers has no effect beside --gpus");
  ExpectRefused(s + "-f 2 -i 8",
                "--step-bytes has no effect beside --step-factor");
  ExpectRefused(s + "--op alltoall --redop sum",
                "--redop has no effect: alltoall adds up nothing");
  ExpectRefused(s + "--root 1", "--root has no effect: all_reduce has no root");
  ExpectRefused(s + "--schedule a.xml",
                "--schedule is gone: --algorithm NAME|FILE takes its place "
                "(--help has it)");
  ExpectRefused(s + "--calibrate-table t.csv",
                "--calibrate-table is gone: --calibrate SOURCE takes its place "
                "(--help has it)");
  ExpectRefused(s + "--algorithm ring --nccl NCCL_ALGO=Ring",
                "--nccl has no effect with --algorithm: NCCL chooses nothing");
  ExpectRefused(
      s + "--algorithm ring --engine vllm",
      "--engine has no effect with --algorithm: NCCL chooses nothing");
  ExpectRefused(
      s + "--algorithm a.xml --tuning",
      "--tuning has no effect with --algorithm: NCCL chooses nothing");
  ExpectRefused(s + "--op dispatch --dispatcher d --measured t.csv",
                "--measured has no effect beside --dispatcher");
  ExpectRefused(s + "--in-place",
                "--in-place has no effect without --compare or --calibrate");
  ExpectRefused("--compare-table t.csv --system x --servers 2",
                "--servers has no effect with --compare-table");
  ExpectRefused(s + "--compare log --tuning",
                "--tuning has no effect with --compare");
  ExpectRefused(s + "--calibrate log --compare log",
                "--calibrate has no effect with --compare");
  ExpectRefused("--list-systems -o d",
                "--output has no effect with --list-systems");
}

TEST(SimaiCollectiveOptionsTest, WrongValuesAreRefused) {
  const std::string s = "--system x ";
  ExpectRefused(s + "-b 2K -e 1K",
                "--min-bytes is 2048, above --max-bytes, 1024");
  ExpectRefused(s + "-f 1",
                "--step-factor is \"1\": expected a whole number from 2 to "
                "65536");
  ExpectRefused(s + "--redop add",
                "unknown --redop \"add\" (known: sum, prod, min, max, avg)");
  ExpectRefused(s + "--fidelity ns3",
                "unknown --fidelity \"ns3\" (known: closed-form, analytical, "
                "flow, packet)");
  ExpectRefused(s + "-c n.yaml",
                "--network has no effect with --fidelity closed-form");
  ExpectRefused(s + "--fidelity flow --tuning",
                "--tuning has no effect with --fidelity flow");
  ExpectRefused(s + "--fidelity flow -t 2",
                "--threads has no effect with --fidelity flow");
  ExpectRefused(s + "--threads 0",
                "--threads is \"0\": expected a whole number from 1 to 1024");
  ExpectRefused(s + "--flows f.csv",
                "--flows writes one size: give -b and -e the same");
  ExpectRefused(s + "--result a/b",
                "--result is \"a/b\": expected a name without \"/\" and "
                "control characters; see -o");
}

TEST(SimaiCollectiveOptionsTest, TablesAreComparedWithOrWithoutASystem) {
  EXPECT_EQ(ValueOrDie(Read("--compare-table t.csv")).cluster.system, "");
  EXPECT_EQ(ValueOrDie(Read("--compare-table t.csv --system x")).cluster.system,
            "x");
}

TEST(SimaiCollectiveOptionsTest, ComparisonsAreNamedAfterTheirFile) {
  EXPECT_EQ(ValueOrDie(Read("--compare-table data/runs.csv")).output,
            "results/runs");
  EXPECT_EQ(ValueOrDie(Read("--compare a.log --system x --out d")).output, "d");
}

}  // namespace
}  // namespace astra
