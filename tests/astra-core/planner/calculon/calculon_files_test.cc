#include "astra-core/planner/calculon/calculon_files.h"

#include <string>
#include <string_view>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonTexts;
using ::astra::testing::TryReadCalculon;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns `text` with `after` in the place of `before`, which must be there.
std::string Replaced(std::string text, std::string_view before,
                     std::string_view after) {
  const size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), after);
}

std::string ErrorOf(const CalculonTexts& texts) {
  Warnings warnings;
  return std::string(TryReadCalculon(texts, &warnings).status().message());
}

std::string ErrorOfSystem(std::string_view before, std::string_view after) {
  CalculonTexts texts;
  texts.system = Replaced(texts.system, before, after);
  return ErrorOf(texts);
}

std::string ErrorOfExecution(std::string_view before, std::string_view after) {
  CalculonTexts texts;
  texts.execution = Replaced(texts.execution, before, after);
  return ErrorOf(texts);
}

TEST(CalculonFilesTest, ReadsTheExample) {
  Warnings warnings;
  const CalculonInputs inputs =
      testing::ValueOrDie(TryReadCalculon({}, &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(inputs.application.hidden, 25600);
  EXPECT_EQ(inputs.execution.micro_batches(), 64);  // 3072 / 12 / 4.
  EXPECT_EQ(inputs.execution.bytes_per_element, 2);
  EXPECT_EQ(inputs.execution.tensor_par_comm_type, CalculonTensorComm::kSplit);
  EXPECT_EQ(inputs.system.matrix.peak, 312e12);
  EXPECT_EQ(inputs.system.matrix.steps[1].least, 16e9);
  EXPECT_EQ(inputs.system.mem2.capacity, 512.0 * (1 << 30));
  const CalculonNetwork& nvlink = inputs.system.networks[0];
  EXPECT_EQ(nvlink.bandwidth, 300e9);
  EXPECT_EQ(nvlink.ops[3].scalar, 2);
  EXPECT_EQ(nvlink.ops[3].offset, -1);
  EXPECT_TRUE(nvlink.must_be_filled);
}

TEST(CalculonFilesTest, WarnsOfUnknownKeysWithTheNearestOne) {
  CalculonTexts texts;
  texts.application =
      Replaced(texts.application, "{", "{\n  \"head_size\": 160,");
  texts.execution =
      Replaced(texts.execution, "{", "{\n  \"micro_batch_size\": 4,");
  texts.system =
      Replaced(texts.system, "\"GBps\": 2048", "\"GBps\": 2048, \"GBs\": 1");
  Warnings warnings;
  ASSERT_TRUE(TryReadCalculon(texts, &warnings).ok());
  EXPECT_THAT(
      warnings,
      ElementsAre("model:2:16: \"head_size\" is not a key of Calculon and left "
                  "out; did you mean \"seq_size\"?",
                  "run:2:23: \"micro_batch_size\" is not a key of Calculon and "
                  "left out; did you mean \"microbatch_size\"?",
                  "machine:25:26: \"GBs\" is not a key of Calculon and left "
                  "out; did you mean \"GBps\"?"));
}

TEST(CalculonFilesTest, RefusesValuesWithTheirPlace) {
  EXPECT_EQ(ErrorOfExecution("\"num_procs\": 3072,", ""),
            "run:1:1: the execution has no \"num_procs\"");
  EXPECT_EQ(
      ErrorOfExecution("\"batch_size\": 3072", "\"batch_size\": 1.5"),
      "run:9:17: batch_size is \"1.5\": expected a whole number from 1 to "
      "2147483648");
  EXPECT_EQ(ErrorOfExecution("\"full\"", "\"all\""),
            "run:14:27: unknown activation_recompute \"all\" (known: full, "
            "attn_only, none)");
  EXPECT_EQ(ErrorOfExecution("\"training\": true", "\"training\": 1"),
            "run:24:15: training is \"1\": expected true or false");
  EXPECT_EQ(ErrorOfExecution("float16", "float8"),
            "machine:2:14: matrix: unknown datatype \"float8\"; did you mean "
            "\"float16\"? (known: float16)");
}

TEST(CalculonFilesTest, RefusesSystemsThatSayNoTime) {
  EXPECT_EQ(ErrorOfSystem("\"GBps\": 2048", "\"GBps\": 0"),
            "machine:25:13: GBps is \"0\": expected a number from 1e-09 to "
            "1000000000000000");
  EXPECT_EQ(ErrorOfSystem("[16, 0.9]", "[128, 0.9]"),
            "machine:7:9: gflops_efficiency: expected steps from the largest "
            "to 0");
  EXPECT_EQ(ErrorOfSystem("[0, 0.1]", "[0.5, 0.1]"),
            "machine:9:9: gflops_efficiency: the last step begins at 0.5: "
            "expected 0, for the smallest operations");
  EXPECT_EQ(
      ErrorOfSystem("[0, 0.1]", "[0, 1.1]"),
      "machine:9:13: gflops_efficiency is \"1.1\": expected a number from "
      "1e-09 to 1");
  EXPECT_EQ(ErrorOfSystem("[1.5, -1]", "[1.5, null]"),
            "machine:52:27: reduce_scatter: expected [scalar, offset]");
  EXPECT_EQ(ErrorOfSystem("[1.0, null]", "[1.0, 0]"),
            "machine:51:16: p2p: expected [scalar, null]");
  EXPECT_EQ(ErrorOfSystem("[2.0, -1]", "[2.0, -1.5]"),
            "machine:54:29: all_reduce is \"-1.5\": expected a number from -1 "
            "to 1000000");
  EXPECT_EQ(ErrorOfSystem("\"mem2\"", "\"mem3\""),
            "machine:1:1: the system has no \"mem2\"");
}

}  // namespace
}  // namespace astra
