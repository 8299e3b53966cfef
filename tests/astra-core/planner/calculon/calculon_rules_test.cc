#include "astra-core/planner/calculon/calculon_rules.h"

#include <string>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonChanges;
using ::astra::testing::CalculonTexts;
using ::astra::testing::TryReadCalculon;
using ::astra::testing::WithCalculonChanges;

std::string ErrorOf(const CalculonChanges& changes) {
  CalculonTexts texts;
  texts.execution = WithCalculonChanges(texts.execution, changes);
  Warnings warnings;
  return std::string(TryReadCalculon(texts, &warnings).status().message());
}

TEST(CalculonRulesTest, SizesMultiply) {
  EXPECT_EQ(ErrorOf({{"num_procs", "3000"}}),
            "run:2:16: num_procs is 3000: expected 3072, which is tensor_par 4 "
            "x pipeline_par 64 x data_par 12");
  EXPECT_EQ(ErrorOf({{"batch_size", "3080"}}),
            "run:9:17: batch_size is 3080: expected a multiple of data_par 12; "
            "the nearest is 3084");
  EXPECT_EQ(ErrorOf({{"microbatch_size", "5"}}),
            "run:10:22: microbatch_size is 5: expected a divisor of batch_size "
            "/ data_par, which is 256; the nearest legal value is 4");
}

TEST(CalculonRulesTest, TensorParallelismDividesTheModel) {
  // 160 heads, and 2^12 x 25, 2^10 x 25 elements: 5 and 10 divide these, but
  // not the 2^13 positions of a micro-batch.
  EXPECT_EQ(
      ErrorOf({{"num_procs", "2304"}, {"tensor_par", "3"}}),
      "run:3:17: tensor_par is 3: expected a divisor of hidden 25600; the "
      "nearest legal value is 2");
  EXPECT_EQ(
      ErrorOf({{"num_procs", "3840"}, {"tensor_par", "5"}}),
      "run:3:17: tensor_par is 5: expected a divisor of microbatch_size x "
      "seq_size, which is 8192; the nearest legal value is 4");
}

TEST(CalculonRulesTest, BlocksFormChunks) {
  EXPECT_EQ(ErrorOf({{"pipeline_interleaving", "3"}}),
            "run:15:28: pipeline_interleaving is 3: expected a divisor of the "
            "blocks of a processor, which are 2; the nearest legal value is 2");
  EXPECT_EQ(ErrorOf({{"weight_offload", "true"}}),
            "run:21:21: weight_offload is true: expected false where a "
            "processor has 2 of the 128 blocks, and not 3 or more");
}

TEST(CalculonRulesTest, ASettingStandsWithTheOneThatItNeeds) {
  EXPECT_EQ(ErrorOf({{"training", "false"}}),
            "run:14:27: activation_recompute is full: expected none where "
            "training is false");
  EXPECT_EQ(ErrorOf({{"seq_par_ag_redo", "true"}}),
            "run:19:22: seq_par_ag_redo is true: expected false where "
            "activation_recompute is full");
  EXPECT_EQ(ErrorOf({{"num_procs", "256"}, {"data_par", "1"}}),
            "run:16:25: optimizer_sharding is true: expected false where "
            "data_par is 1");
  EXPECT_EQ(ErrorOf({{"num_procs", "768"},
                     {"tensor_par", "1"},
                     {"tensor_par_overlap", "ring"}}),
            "run:18:25: tensor_par_overlap is ring: expected none where "
            "tensor_par is 1");
}

TEST(CalculonRulesTest, OneStageHasOneChunk) {
  EXPECT_EQ(ErrorOf({{"num_procs", "48"},
                     {"pipeline_par", "1"},
                     {"pipeline_interleaving", "4"}}),
            "run:15:28: pipeline_interleaving is 4: expected 1 where "
            "pipeline_par is 1");
}

TEST(CalculonRulesTest, NetworksHoldTheirGroups) {
  EXPECT_EQ(ErrorOf({{"data_par_net", "2"}}),
            "run:8:19: data_par_net is 2: expected a network of the system, 0 "
            "to 1");
  EXPECT_EQ(ErrorOf({{"data_par_net", "0"}}),
            "run:5:15: tensor_par 4 x data_par 12 is on network 0 of the "
            "system, which joins 8: expected at most 8");
  EXPECT_EQ(ErrorOf({{"num_procs", "3840"},
                     {"tensor_par", "5"},
                     {"tensor_par_comm_type", "ar"}}),
            "run:3:17: tensor_par 5 is on network 0 of the system, which must "
            "be filled: expected a divisor of its size 8; the nearest is 4");
}

}  // namespace
}  // namespace astra
