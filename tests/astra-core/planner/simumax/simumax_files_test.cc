#include "astra-core/planner/simumax/simumax_files.h"

#include <string>

#include "tests/astra-core/planner/simumax/simumax_test_files.h"

namespace astra {
namespace {

using ::astra::testing::kModelText;
using ::astra::testing::kStrategyText;
using ::astra::testing::kSystemText;
using ::astra::testing::SmallFiles;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns `text` with `more` in front of its first key.
std::string With(std::string_view text, std::string_view more) {
  std::string changed(text);
  changed.insert(1, std::string(more) + ", ");
  return changed;
}

std::string Replace(std::string_view text, std::string_view before,
                    std::string_view after) {
  std::string changed(text);
  const size_t at = changed.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return changed.replace(at, before.size(), after);
}

std::string ErrorOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

std::string ModelError(std::string_view text) {
  Warnings warnings;
  return ErrorOf(ParseSimumaxModel("m.json", text, &warnings).status());
}

std::string StrategyError(std::string_view more) {
  Warnings warnings;
  return ErrorOf(
      ParseSimumaxStrategy("s.json", With(kStrategyText, more), &warnings)
          .status());
}

std::string SystemError(std::string_view before, std::string_view after) {
  Warnings warnings;
  return ErrorOf(ParseSimumaxSystem(
                     "y.json", Replace(kSystemText, before, after), &warnings)
                     .status());
}

TEST(SimumaxFilesTest, AbsentKeysHaveTheDefaultsOfSimumax) {
  const SimumaxFiles files = SmallFiles();
  const SimumaxStrategy& strategy = files.strategy;
  EXPECT_EQ(strategy.gpus, 8);
  EXPECT_EQ(strategy.data(), 8);
  EXPECT_EQ(strategy.global_batch(), 32);
  EXPECT_EQ(strategy.zero, 1);
  EXPECT_EQ(strategy.gradient_bytes, 4);
  EXPECT_EQ(strategy.memory_share, 0.94);
  EXPECT_TRUE(strategy.sequence_parallel);
  EXPECT_EQ(strategy.recompute.granularity, SimumaxGranularity::kNone);
  EXPECT_EQ(files.model.experts, 1);
  EXPECT_EQ(files.model.expert_ffn, files.model.ffn);
  EXPECT_EQ(files.model.vocabulary_divisor, 128);
  EXPECT_FALSE(files.system.has_pcie);
}

TEST(SimumaxFilesTest, NullIsAbsent) {
  Warnings warnings;
  const SimumaxStrategy strategy = ValueOrDie(ParseSimumaxStrategy(
      "s.json",
      With(kStrategyText,
           R"("recompute_granularity": null, "te_version": null)"),
      &warnings));
  EXPECT_EQ(strategy.recompute.granularity, SimumaxGranularity::kNone);
  EXPECT_EQ(strategy.transformer_engine, "");
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(SimumaxFilesTest, WarnsOfWhatChangesNothing) {
  Warnings warnings;
  const SimumaxStrategy strategy = ValueOrDie(ParseSimumaxStrategy(
      "s.json",
      With(kStrategyText,
           "\"tp_sise\": 2,\n\"zero_state\": 3,\n\"pp_net\": \"inter_node\""),
      &warnings));
  EXPECT_EQ(strategy.zero, 1);
  EXPECT_THAT(
      warnings,
      ElementsAre("s.json:2:15: zero_state 3 is taken for 1: SimuMax supports "
                  "0 and 1",
                  "s.json:3:11: pp_net has no effect: SimuMax chooses the "
                  "network of each group itself",
                  "s.json:1:13: unknown key \"tp_sise\" has no effect; did "
                  "you mean \"tp_size\"?"));
}

TEST(SimumaxFilesTest, LimitsItsWarnings) {
  std::string more = "\"key_0\": 1";
  for (int i = 1; i < 30; ++i) more += fmt::format(", \"key_{}\": 1", i);
  Warnings warnings;
  EXPECT_TRUE(
      ParseSimumaxModel("m.json", With(kModelText, more), &warnings).ok());
  EXPECT_EQ(warnings.size(), 21);
  EXPECT_EQ(warnings.back(), "m.json: 10 more unknown keys have no effect");
}

TEST(SimumaxFilesTest, RefusesWrongModels) {
  EXPECT_EQ(ModelError(R"({"hidden_size": 64})"),
            "m.json:1:1: a model of SimuMax has no \"intermediate_size\"");
  EXPECT_EQ(ModelError(Replace(kModelText, "64", "\"wide\"")),
            "m.json:2:41: hidden_size is \"wide\": expected a whole number "
            "from 1 to 16777216");
  EXPECT_EQ(ModelError(With(kModelText, R"("expert_num": 8)")),
            "m.json:1:1: the model has experts and no \"topk\"");
  EXPECT_EQ(ModelError(With(kModelText, R"("expert_num": 8, "topk": 9)")),
            "m.json:1:27: topk is 9: expected at most the 8 experts of "
            "expert_num");
  EXPECT_EQ(ModelError(With(kModelText, R"("attention_type": "mlp")")),
            "m.json:1:20: unknown attention_type \"mlp\"; did you mean "
            "\"mla\"? (known: mha, mla)");
  EXPECT_EQ(ModelError(Replace(kModelText, "\"kv_head_num\": 2",
                               "\"kv_head_num\": 3")),
            "m.json:2:75: kv_head_num is 3: expected a divisor of the 4 heads "
            "of head_num; the nearest are 2 and 4");
  EXPECT_EQ(ModelError("{"), "m.json:1:1: not YAML: end of map flow not found");
}

TEST(SimumaxFilesTest, RefusesWrongStrategies) {
  EXPECT_EQ(StrategyError(R"("world_size": 10, "tp_size": 4)"),
            "s.json:1:16: world_size is 10: expected a multiple of tp_size x "
            "cp_size x pp_size = 4; the nearest are 8 and 12");
  EXPECT_EQ(StrategyError(R"("ep_size": 16)"),
            "s.json:1:1: world_size is 8: expected a multiple of ep_size x "
            "etp_size x pp_size = 16; the nearest is 16");
  EXPECT_EQ(StrategyError(R"("cp_size": 8, "tp_size": 8, "world_size": 64)"),
            "s.json:1:59: seq_len is 32: expected a multiple of tp_size x "
            "cp_size = 64; the nearest is 64");
  EXPECT_EQ(StrategyError(R"("use_flash_sdp": false)"),
            "s.json:1:19: use_flash_sdp is false: expected true; attention "
            "that stores its scores is not timed");
  EXPECT_EQ(StrategyError(R"("mlp_rms_recompute": true, )"
                          R"("recompute_granularity": "selective_recompute")"),
            "s.json:1:23: mlp_rms_recompute needs mlp_recompute");
  EXPECT_EQ(StrategyError(R"("megatron_recompute_modules": ["mlp"])"),
            "s.json:1:32: megatron_recompute_modules needs megatron_recompute");
}

TEST(SimumaxFilesTest, ChunksNeedBlockingMessagesAndWholeGroups) {
  constexpr std::string_view kChunks =
      R"("interleaving_size": 2, "pp_size": 4, "pp_comm_async": )";
  EXPECT_EQ(StrategyError(std::string(kChunks) + "true"),
            "s.json:1:57: pp_comm_async is true: expected false where "
            "interleaving_size is above 1; SimuMax times no other");
  EXPECT_EQ(StrategyError(R"("interleaving_size": 2, "pp_size": 2)"),
            "s.json:1:23: interleaving_size is 2: expected 1 with pp_size 2; "
            "several chunks need 3 stages or more");
  Warnings warnings;
  const std::string text = With(Replace(kStrategyText, "\"micro_batch_num\": 4",
                                        "\"micro_batch_num\": 6"),
                                std::string(kChunks) + "false");
  EXPECT_EQ(ErrorOf(ParseSimumaxStrategy("s.json", text, &warnings).status()),
            "s.json:1:121: micro_batch_num is 6: expected a multiple of "
            "pp_size 4 where interleaving_size is above 1; the nearest are 4 "
            "and 8");
}

TEST(SimumaxFilesTest, RefusesWrongSystems) {
  EXPECT_EQ(SystemError("\"sys_name\": \"small\", ", ""),
            "y.json:1:1: a system of SimuMax has no \"sys_name\"");
  EXPECT_EQ(SystemError("\"default\": {\"tflops\"", "\"other\": {\"tflops\""),
            "y.json:5:11: accelerator.op has no \"default\"");
  EXPECT_EQ(SystemError("\"tflops\": 100", "\"tflops\": NaN"),
            "y.json:6:29: tflops is \"NaN\": expected a number from 1e-06 to "
            "1000000000");
  EXPECT_EQ(SystemError("\"exact\": 0.8", "\"exact\": -1"),
            "y.json:8:47: accurate_efficient_factor: exact is \"-1\": expected "
            "a number from 0 to 1000");
  EXPECT_EQ(SystemError("\"16\": 7", "\"many\": 7"),
            "y.json:27:65: fixed_latency_us_by_comm_num: the number of ranks "
            "is \"many\": expected a whole number of at least 1");
}

TEST(SimumaxFilesTest, DeepFilesAreErrors) {
  constexpr size_t kLevels = 10'000;
  const std::string deep = "{\"a\":" + std::string(kLevels, '[');
  Warnings warnings;
  EXPECT_FALSE(ParseSimumaxModel("m.json", deep, &warnings).ok());
  EXPECT_FALSE(ParseSimumaxStrategy("s.json", deep, &warnings).ok());
  EXPECT_FALSE(ParseSimumaxSystem("y.json", deep, &warnings).ok());
}

}  // namespace
}  // namespace astra
