#include "workload/simai_text/simai_text_file.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As AICB writes it: a space between the words of the first line, a tab between
// columns. In this order it is also what FormatSimaiText writes.
constexpr char kText[] =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 2 "
    "vpp: 3 ga: 5 all_gpus: 32 checkpoints: 1 0 checkpoint_initiates: 2 1 2 "
    "pp_comm: 10485760\n"
    "3\n"
    "embedding\t-1\t100\tALLREDUCE\t4096\t200\tALLGATHER\t8192\t300\t"
    "REDUCESCATTER\t16384\t10\n"
    "moe\t-1\t0\tALLTOALL_EP\t1\t0\tREDUCESCATTER_DP_EP\t2\t0\tALLREDUCE_EP\t"
    "3\t0\n"
    "optimizer1\t-1\t1\tNONE\t0\t2\tNONE\t0\t3\tALLREDUCE_DP_EP\t6271303680\t"
    "100\n";

SimaiText Parse(std::string_view text) {
  Warnings warnings;
  return ValueOrDie(ParseSimaiText("file", text, &warnings));
}

// The warnings of a file that is not wrong.
Warnings WarningsOf(std::string_view text) {
  Warnings warnings;
  ValueOrDie(ParseSimaiText("file", text, &warnings));
  return warnings;
}

TEST(SimaiTextFileTest, ReadsEveryField) {
  SimaiText parts;
  parts.policy = SimaiPolicy::kHybridTransformerFwdInBckwd;
  parts.sizes = {.num_ranks = 32,
                 .tensor = 2,
                 .expert = 4,
                 .pipeline = 2,
                 .virtual_stages = 3,
                 .micro_batches = 5};
  parts.pipeline_message = MiB(10);
  parts.checkpoints = {0u};
  parts.recompute_starts = {1u, 2u};

  // Without a suffix, forward and input gradient are over TP, weight gradient
  // over DP: simai.md 2.4. Times are in nanoseconds.
  using Kind = CollectiveKind;
  using Dimension = ParallelDimension;
  SimaiLayer embedding = {.name = "embedding", .update = Nanoseconds(10)};
  embedding.phases = {
      SimaiPhase{Nanoseconds(100),
                 {{Kind::kAllReduce, Dimension::kTensor, Bytes(4096)}}},
      SimaiPhase{Nanoseconds(200),
                 {{Kind::kAllGather, Dimension::kTensor, Bytes(8192)}}},
      SimaiPhase{Nanoseconds(300),
                 {{Kind::kReduceScatter, Dimension::kData, Bytes(16384)}}}};
  SimaiLayer moe = {.name = "moe"};
  moe.phases = {
      SimaiPhase{TimePs(0), {{Kind::kAllToAll, Dimension::kExpert, Bytes(1)}}},
      SimaiPhase{TimePs(0),
                 {{Kind::kReduceScatter, Dimension::kDataExpert, Bytes(2)}}},
      SimaiPhase{TimePs(0),
                 {{Kind::kAllReduce, Dimension::kExpert, Bytes(3)}}}};
  SimaiLayer optimizer = {.name = "optimizer1", .update = Nanoseconds(100)};
  optimizer.phases = {
      SimaiPhase{Nanoseconds(1), {}}, SimaiPhase{Nanoseconds(2), {}},
      SimaiPhase{
          Nanoseconds(3),
          {{Kind::kAllReduce, Dimension::kDataExpert, Bytes(6'271'303'680)}}}};
  parts.layers = {embedding, moe, optimizer};

  EXPECT_TRUE(Parse(kText) == parts);
  EXPECT_THAT(WarningsOf(kText), IsEmpty());
}

TEST(SimaiTextFileTest, WritesTheSameBytes) {
  EXPECT_EQ(FormatSimaiText(Parse(kText)), kText);
}

TEST(SimaiTextFileTest, TakesEveryTypeInEveryPhase) {
  for (const char* type :
       {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"}) {
    for (const char* suffix : {"", "_EP", "_DP_EP"}) {
      const std::string text = fmt::format(
          "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 "
          "ga: 1 all_gpus: 1 checkpoints: 0 checkpoint_initiates: 0 pp_comm: "
          "0\n1\na\t-1\t1\t{0}{1}\t7\t1\t{0}{1}\t8\t1\t{0}{1}\t9\t0\n",
          type, suffix);
      EXPECT_EQ(FormatSimaiText(Parse(text)), text);
    }
  }
}

// The layer of the tests below; the header is what they are about.
constexpr char kLayer[] = "\n1\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n";

constexpr char kSizes[] =
    " model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4";

TEST(SimaiTextFileTest, TakesTheKeysInAnyOrder) {
  const SimaiText simai =
      Parse(fmt::format("HYBRID_TRANSFORMER pp: 2 pp_comm 64\tall_gpus:\t8  "
                        "ga: 3 ep: 1 vpp: 1 model_parallel_NPU_group: 4{}",
                        kLayer));
  EXPECT_EQ(simai.policy, SimaiPolicy::kHybridTransformer);
  EXPECT_EQ(
      simai.sizes,
      (ParallelSizes{
          .num_ranks = 8, .tensor = 4, .pipeline = 2, .micro_batches = 3}));
  EXPECT_EQ(simai.pipeline_message, Bytes(64));
}

TEST(SimaiTextFileTest, TakesCrLfAndBlankLinesAtTheEnd) {
  std::string text;
  for (const char* c = kText; *c != '\0'; ++c) {
    text += *c == '\n' ? "\r\n" : std::string(1, *c);
  }
  EXPECT_TRUE(Parse(text + "\r\n \n") == Parse(kText));
  EXPECT_TRUE(Parse(text.substr(0, text.size() - 2)) == Parse(kText));
}

TEST(SimaiTextFileTest, SortsTheLayersOfAList) {
  const SimaiText simai = Parse(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 "
      "vpp: 1 ga: 1 all_gpus: 1 checkpoints: 2 1 0 checkpoint_initiates: 2 1 0"
      "\n2\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\nb -1 0 NONE 0 0 NONE 0 0 NONE "
      "0 0\n");
  EXPECT_THAT(simai.checkpoints, ElementsAre(0u, 1u));
  EXPECT_THAT(simai.recompute_starts, ElementsAre(0u, 1u));
}

// AICB writes a float where sequences are split.
TEST(SimaiTextFileTest, TakesAPipelineMessageWithAZeroDecimal) {
  EXPECT_EQ(Parse(fmt::format("HYBRID_TRANSFORMER model_parallel_NPU_group: 1 "
                              "ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 4 pp_comm: "
                              "10485760.0{}",
                              kLayer))
                .pipeline_message,
            Bytes(10'485'760));
}

TEST(SimaiTextFileTest, NamesThePoliciesThatAreNotExecuted) {
  for (const char* policy :
       {"DATA", "DISTRIBUTED_INFERENCE", "HYBRID_CUSTOMIZED",
        "HYBRID_DATA_MODEL", "HYBRID_DLRM", "HYBRID_DLRM_ENHANCED",
        "HYBRID_MODEL_DATA", "MICRO", "MODEL"}) {
    Warnings warnings;
    EXPECT_THAT(
        ParseSimaiText("file", fmt::format("{}{}{}", policy, kSizes, kLayer),
                       &warnings),
        StatusIs(absl::StatusCode::kUnimplemented,
                 fmt::format("file:1:1: policy {} is not executed yet; "
                             "executed are HYBRID_TRANSFORMER and "
                             "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                             policy)));
  }
}

TEST(SimaiTextFileTest, WarnsOfKeysThatItDoesNotKnow) {
  EXPECT_THAT(
      WarningsOf(fmt::format("HYBRID_TRANSFORMER{} mode: 7{}", kSizes, kLayer)),
      ElementsAre("file:1:85: \"mode:\" is not known and has no effect"));
}

// Only a key can be given twice, not what follows one that is not known.
TEST(SimaiTextFileTest, KeysThatItDoesNotKnowMayHaveEqualValues) {
  Parse(fmt::format("HYBRID_TRANSFORMER{} mode: 7 phase: 7{}", kSizes, kLayer));
}

TEST(SimaiTextFileTest, WarnsOfSizesThatAreMissing) {
  EXPECT_THAT(
      WarningsOf(fmt::format(
          "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 all_gpus: 4{}",
          kLayer)),
      ElementsAre("file:1:1: \"ep:\" is missing and taken to be 1",
                  "file:1:1: \"ga:\" is missing and taken to be 1",
                  "file:1:1: \"pp:\" is missing and taken to be 1",
                  "file:1:1: \"vpp:\" is missing and taken to be 1"));
}

TEST(SimaiTextFileTest, WarnsOfMessagesThatDoNotFitTheStages) {
  EXPECT_THAT(
      WarningsOf(
          fmt::format("HYBRID_TRANSFORMER{} pp_comm: 5{}", kSizes, kLayer)),
      ElementsAre(
          "file:1:1: \"pp_comm:\" has no effect with one pipeline stage"));
  EXPECT_THAT(WarningsOf(fmt::format(
                  "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 4 "
                  "vpp: 1 ga: 1 all_gpus: 4 pp_comm: 0{}",
                  kLayer)),
              ElementsAre("file:1:1: 4 pipeline stages exchange messages of 0 "
                          "bytes: \"pp_comm:\" is 0 or missing"));
}

TEST(SimaiTextFileTest, WarnsOfRecomputationThatThePolicyDoesNotKnow) {
  const std::string text = fmt::format(
      "HYBRID_TRANSFORMER{} checkpoints: 1 0 checkpoint_initiates: 1 0{}",
      kSizes, kLayer);
  EXPECT_THAT(
      WarningsOf(text),
      ElementsAre("file:1:102: \"checkpoint_initiates:\" has no effect with "
                  "policy HYBRID_TRANSFORMER",
                  "file:1:85: \"checkpoints:\" has no effect with policy "
                  "HYBRID_TRANSFORMER"));
  EXPECT_THAT(Parse(text).checkpoints, IsEmpty());
  EXPECT_THAT(Parse(text).recompute_starts, IsEmpty());
}

// A line for each sort, with its first place and how often it occurs.
TEST(SimaiTextFileTest, WarnsOnceOfWhatLayersSayWithoutEffect) {
  const std::string text = fmt::format(
      "HYBRID_TRANSFORMER{}\n"
      "2\n"
      "a -1 0 NONE 64 0 NONE 0 0 ALLREDUCE 0 0\n"
      "b 0 0 NONE 64 0 REDUCESCATTER 0 0 ALLREDUCE 0 0\n",
      kSizes);
  EXPECT_THAT(
      WarningsOf(text),
      ElementsAre("file:3:27: ALLREDUCE of 0 bytes does nothing (2 times)",
                  "file:4:17: REDUCESCATTER of 0 bytes does nothing",
                  "file:4:3: a dependency other than -1 has no effect",
                  "file:3:13: a size beside NONE has no effect (2 times)"));
  EXPECT_FALSE(Parse(text).layers[0].phases[0].communication);
}

TEST(SimaiTextFileTest, AddsNoWarningsWhereItFails) {
  Warnings warnings = {"an earlier one"};
  EXPECT_FALSE(
      ParseSimaiText("file",
                     fmt::format("HYBRID_TRANSFORMER{} mode: 7\n1\n", kSizes),
                     &warnings)
          .ok());
  EXPECT_THAT(warnings, ElementsAre("an earlier one"));
}

// As in AICB's inference files: TP 2 x DP 4 ranks of a stage, EP 8.
TEST(SimaiTextFileTest, SpreadsExpertsThatAreMoreThanDataParallelRanks) {
  const std::string text =
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 8 pp: 1 vpp: 1 ga: 1 "
      "all_gpus: 8\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n";
  EXPECT_EQ(Parse(text).sizes.expert_tensor, 1);
  EXPECT_THAT(WarningsOf(text),
              ElementsAre("file:1:1: EP 8 does not divide DP: the experts are "
                          "taken to be spread over TP as well (\"etp: 1\")"));
}

TEST(SimaiTextFileTest, ReadsAndWritesExpertTensorParallelism) {
  const std::string text =
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 etp: 1 pp: 1 vpp: "
      "1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n"
      "1\na\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\t0\n";
  const SimaiText simai = Parse(text);
  EXPECT_EQ(simai.sizes.expert_tensor, 1);
  EXPECT_EQ(FormatSimaiText(simai), text);
  EXPECT_THAT(WarningsOf(text), IsEmpty());
}

}  // namespace
}  // namespace astra
