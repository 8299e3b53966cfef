// Workload files that the reader of SimAI's text must refuse, each with its
// whole message.

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr std::string_view kPolicy = "HYBRID_TRANSFORMER_FWD_IN_BCKWD";

// Two layers on 8 GPUs. Most cases change one line of it.
constexpr std::string_view kGood =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: "
    "1 "
    "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 "
    "pp_comm: "
    "0\n"
    "2\n"
    "first\t-1\t10\tALLREDUCE\t4096\t20\tNONE\t0\t30\tALLGATHER\t8192\t1\n"
    "second\t-1\t10\tNONE\t0\t20\tNONE\t0\t30\tALLREDUCE_DP_EP\t64\t0\n";

std::string Line(size_t number, std::string_view text) {
  return testing::WithLine(kGood, number, text);
}

// The first line with these words behind the policy and a space.
std::string Keys(std::string_view words) {
  return Line(1, fmt::format("{} {}", kPolicy, words));
}

std::vector<BadInput> BadHeaders() {
  return {
      {"EmptyFile", "", "w:1:1: expected a policy, such as HYBRID_TRANSFORMER"},
      {"BlankFirstLine", "\n" + std::string(kGood),
       "w:1:1: expected a policy, such as HYBRID_TRANSFORMER"},
      {"BinaryJunk", std::string("PK\x03\x04\0\n", 6),
       "w:1:1: unknown policy \"PK\\x03\\x04\\x00\" (known: DATA, "
       "DISTRIBUTED_INFERENCE, HYBRID_CUSTOMIZED, HYBRID_DATA_MODEL, "
       "HYBRID_DLRM, HYBRID_DLRM_ENHANCED, HYBRID_MODEL_DATA, MICRO, MODEL, "
       "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD)"},
      {"PolicyUnknown", Line(1, "HYBRID_TRANSFORMR all_gpus: 8"),
       "w:1:1: unknown policy \"HYBRID_TRANSFORMR\"; did you mean "
       "\"HYBRID_TRANSFORMER\"? (known: DATA, DISTRIBUTED_INFERENCE, "
       "HYBRID_CUSTOMIZED, HYBRID_DATA_MODEL, HYBRID_DLRM, "
       "HYBRID_DLRM_ENHANCED, HYBRID_MODEL_DATA, MICRO, MODEL, "
       "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD)"},
      {"KeyGivenTwice", Keys("ep: 1 pp: 1 ep: 1"),
       "w:1:45: \"ep:\" is given twice"},
      {"PipelineMessageGivenTwice", Keys("pp_comm: 1 pp_comm 1"),
       "w:1:44: \"pp_comm\" is given twice"},
      {"ValueMissing", Keys("model_parallel_NPU_group: 2 all_gpus:"),
       "w:1:70: expected a value after \"all_gpus:\""},
      {"ValueIsAKey", Keys("model_parallel_NPU_group: ep: 1"),
       "w:1:59: model_parallel_NPU_group: is \"ep:\": expected a whole number "
       "from 1 to 16777216"},
      {"TensorMissing", Keys("ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8"),
       "w:1:69: \"model_parallel_NPU_group:\" is missing"},
      {"GpusMissing", Keys("model_parallel_NPU_group: 2"),
       "w:1:60: \"all_gpus:\" is missing"},
      {"TensorZero", Keys("model_parallel_NPU_group: 0 all_gpus: 8"),
       "w:1:59: model_parallel_NPU_group: is \"0\": expected a whole number "
       "from 1 to 16777216"},
      {"ExpertNegative", Keys("ep: -1"),
       "w:1:37: ep: is \"-1\": expected a whole number from 1 to 16777216"},
      {"StagesFractional", Keys("pp: 1.5"),
       "w:1:37: pp: is \"1.5\": expected a whole number from 1 to 16777216"},
      {"VirtualStagesNoNumber", Keys("vpp: two"),
       "w:1:38: vpp: is \"two\": expected a whole number from 1 to 16777216"},
      {"MicroBatchesBeyondTheLimit", Keys("ga: 16777217"),
       "w:1:37: ga: is \"16777217\": expected a whole number from 1 to "
       "16777216"},
      {"GpusBeyond64Bits", Keys("all_gpus: 99999999999999999999"),
       "w:1:43: all_gpus: is \"99999999999999999999\": expected a whole number "
       "from 1 to 16777216"},
      {"PipelineMessageNegative", Keys("pp_comm: -1"),
       "w:1:42: pp_comm: is \"-1\": expected a whole number from 0 to "
       "1125899906842624"},
      {"PipelineMessageFractional", Keys("pp_comm: 10.5"),
       "w:1:42: pp_comm: is \"10.5\": expected a whole number from 0 to "
       "1125899906842624"},
      {"PipelineMessageBeyondTheLimit", Keys("pp_comm: 1125899906842625"),
       "w:1:42: pp_comm: is \"1125899906842625\": expected a whole number from "
       "0 to 1125899906842624"},
      {"CheckpointsNegative", Keys("checkpoints: -1"),
       "w:1:46: checkpoints: is \"-1\": expected a whole number from 0 to "
       "2097152"},
      {"CheckpointsCutShort", Keys("checkpoints: 3 0 1"),
       "w:1:51: expected a value after \"checkpoints:\""},
      {"CheckpointNoNumber", Keys("checkpoint_initiates: 2 1 all_gpus: 8"),
       "w:1:59: the number of a layer is \"all_gpus:\": expected a whole "
       "number from 0 to 2097152"},
  };
}

std::vector<BadInput> BadLayerCounts() {
  return {
      {"HeaderAlone", std::string(kGood.substr(0, kGood.find('\n') + 1)),
       "w:2:1: expected the number of layers"},
      {"CountMissing", Line(2, ""), "w:2:1: expected the number of layers"},
      {"CountZero", Line(2, "0"),
       "w:2:1: the number of layers is \"0\": expected a whole number from 1 "
       "to 2097152"},
      {"CountNegative", Line(2, "-2"),
       "w:2:1: the number of layers is \"-2\": expected a whole number from 1 "
       "to 2097152"},
      {"CountBeyondTheLimit", Line(2, "2097153"),
       "w:2:1: the number of layers is \"2097153\": expected a whole number "
       "from 1 to 2097152"},
      {"CountNoNumber", Line(2, "two"),
       "w:2:1: the number of layers is \"two\": expected a whole number from 1 "
       "to 2097152"},
      {"CountWithMore", Line(2, "2 layers"),
       "w:2:3: unexpected \"layers\" after the number of layers"},
      {"CountTooLarge", Line(2, "2097152"),
       "w:5:1: 2 layers, but line 2 says 2097152"},
      {"CountTooSmall", Line(2, "1"),
       "w:4:1: more layers than the 1 that line 2 says"},
      {"LinesTooMany", std::string(kGood) + "\r\nthird -1\n",
       "w:6:1: more layers than the 2 that line 2 says"},
  };
}

std::vector<BadInput> BadLayers() {
  return {
      {"FileTruncatedInALine",
       std::string(kGood.substr(0, kGood.find("\tALLREDUCE_DP_EP"))),
       "w:4:33: 9 columns, expected 12"},
      {"LayerBlank", Line(3, ""), "w:3:1: 0 columns, expected 12"},
      {"ColumnsMissing", Line(3, "a -1 0 NONE 0 0 NONE 0 0 NONE 0"),
       "w:3:32: 11 columns, expected 12"},
      {"ColumnsTooMany", Line(3, "a -1 0 NONE 0 0 NONE 0 0 NONE 0 0 MODEL"),
       "w:3:35: unexpected \"MODEL\" after the 12 columns of a layer"},
      {"DependencyNoNumber", Line(3, "a none 0 NONE 0 0 NONE 0 0 NONE 0 0"),
       "w:3:3: the dependency is \"none\": expected a whole number from -1 to "
       "2097152"},
      {"DependencyBelowMinusOne", Line(3, "a -2 0 NONE 0 0 NONE 0 0 NONE 0 0"),
       "w:3:3: the dependency is \"-2\": expected a whole number from -1 to "
       "2097152"},
      {"ForwardTimeNegative", Line(3, "a -1 -5 NONE 0 0 NONE 0 0 NONE 0 0"),
       "w:3:6: the compute time in ns is \"-5\": expected a whole number from "
       "0 to 1000000000000000"},
      {"InputGradientTimeFractional",
       Line(3, "a -1 0 NONE 0 1.5 NONE 0 0 NONE 0 0"),
       "w:3:15: the compute time in ns is \"1.5\": expected a whole number "
       "from 0 to 1000000000000000"},
      {"WeightGradientTimeBeyondTheLimit",
       Line(3, "a -1 0 NONE 0 0 NONE 0 1000000000000001 NONE 0 0"),
       "w:3:24: the compute time in ns is \"1000000000000001\": expected a "
       "whole number from 0 to 1000000000000000"},
      {"UpdateTimeNegative", Line(3, "a -1 0 NONE 0 0 NONE 0 0 NONE 0 -1"),
       "w:3:33: the update time is \"-1\": expected a whole number from 0 to "
       "1000000000000000"},
      {"SizeNegative", Line(3, "a -1 0 ALLREDUCE -1 0 NONE 0 0 NONE 0 0"),
       "w:3:18: the size in bytes is \"-1\": expected a whole number from 0 to "
       "1125899906842624"},
      {"SizeWithAUnit", Line(3, "a -1 0 ALLREDUCE 16MiB 0 NONE 0 0 NONE 0 0"),
       "w:3:18: the size in bytes is \"16MiB\": expected a whole number from 0 "
       "to 1125899906842624"},
      {"SizeBeyond64Bits",
       Line(3, "a -1 0 NONE 0 0 ALLREDUCE 18446744073709551616 0 NONE 0 0"),
       "w:3:27: the size in bytes is \"18446744073709551616\": expected a "
       "whole number from 0 to 1125899906842624"},
      {"TypeUnknown", Line(3, "a -1 0 ALLREDUCES 8 0 NONE 0 0 NONE 0 0"),
       "w:3:8: unknown communication \"ALLREDUCES\"; did you mean "
       "\"ALLREDUCE\"? (known: NONE, ALLREDUCE, ALLREDUCE_EP, "
       "ALLREDUCE_DP_EP, ALLGATHER, ALLGATHER_EP, ALLGATHER_DP_EP, "
       "REDUCESCATTER, REDUCESCATTER_EP, REDUCESCATTER_DP_EP, ALLTOALL, "
       "ALLTOALL_EP, ALLTOALL_DP_EP)"},
      // SimAI takes what it does not know for no communication at all.
      {"TypeOfAnotherGroup",
       Line(3, "a -1 0 NONE 0 0 ALLTOALL_PE 8 0 NONE 0 0"),
       "w:3:17: unknown communication \"ALLTOALL_PE\"; did you mean "
       "\"ALLTOALL_EP\"? (known: NONE, ALLREDUCE, ALLREDUCE_EP, "
       "ALLREDUCE_DP_EP, ALLGATHER, ALLGATHER_EP, ALLGATHER_DP_EP, "
       "REDUCESCATTER, REDUCESCATTER_EP, REDUCESCATTER_DP_EP, ALLTOALL, "
       "ALLTOALL_EP, ALLTOALL_DP_EP)"},
      {"TypeInLowerCase", Line(3, "a -1 0 NONE 0 0 NONE 0 0 none 0 0"),
       "w:3:26: unknown communication \"none\"; did you mean \"NONE\"? (known: "
       "NONE, ALLREDUCE, ALLREDUCE_EP, ALLREDUCE_DP_EP, ALLGATHER, "
       "ALLGATHER_EP, ALLGATHER_DP_EP, REDUCESCATTER, REDUCESCATTER_EP, "
       "REDUCESCATTER_DP_EP, ALLTOALL, ALLTOALL_EP, ALLTOALL_DP_EP)"},
      {"TypeAndSizeSwapped", Line(3, "a -1 0 64 ALLREDUCE 0 NONE 0 0 NONE 0 0"),
       "w:3:11: the size in bytes is \"ALLREDUCE\": expected a whole number "
       "from 0 to 1125899906842624"},
  };
}

// What no single line gets wrong.
std::vector<BadInput> BadWhole() {
  return {
      {"SizesThatDoNotDivide",
       Keys("model_parallel_NPU_group: 3 pp: 2 all_gpus: 8"),
       "w:1:67: TP 3 x PP 2 does not divide the 8 GPUs: there is no whole DP"},
      {"ExpertsThatDoNotDivide",
       Keys("model_parallel_NPU_group: 2 ep: 3 all_gpus: 8"),
       "w:1:61: EP 3 does not divide DP 4 = 8 GPUs / (TP 2 x PP 1)"},
      {"CheckpointThatIsNoLayer",
       Keys("model_parallel_NPU_group: 2 all_gpus: 8 checkpoints: 1 2"),
       "w:1:73: checkpoint 2 is no layer: the last one is 1"},
      {"RecomputationThatIsNoLayer",
       Keys("model_parallel_NPU_group: 2 all_gpus: 8 checkpoints: 1 0 "
            "checkpoint_initiates: 1 2097152"),
       "w:1:90: checkpoint_initiate 2097152 is no layer: the last one is 1"},
      {"RecomputationFromNoCheckpoint",
       Keys("model_parallel_NPU_group: 2 all_gpus: 8 checkpoints: 1 1 "
            "checkpoint_initiates: 1 0"),
       "w:1:90: checkpoint_initiate 0 has no checkpoint at or before it"},
  };
}

class BadWorkloadTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadWorkloadTest, IsRefused) {
  Warnings warnings;
  EXPECT_THAT(ParseSimaiProgram("w", GetParam().contents, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

std::string Name(const ::testing::TestParamInfo<BadInput>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Header, BadWorkloadTest,
                         ::testing::ValuesIn(BadHeaders()), Name);
INSTANTIATE_TEST_SUITE_P(LayerCount, BadWorkloadTest,
                         ::testing::ValuesIn(BadLayerCounts()), Name);
INSTANTIATE_TEST_SUITE_P(Layers, BadWorkloadTest,
                         ::testing::ValuesIn(BadLayers()), Name);
INSTANTIATE_TEST_SUITE_P(Whole, BadWorkloadTest,
                         ::testing::ValuesIn(BadWhole()), Name);

// Else the cases above would prove nothing.
TEST(GoodWorkloadTest, WhatTheBadOnesAreMadeFromIsAccepted) {
  Warnings warnings;
  EXPECT_EQ(FormatSimaiText(ValueOrDie(ParseSimaiText("w", kGood, &warnings))),
            kGood);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
}

}  // namespace
}  // namespace astra
