#include "astra-core/apps/vidur/simai_vidur_options.h"

#include <gtest/gtest.h>

#include <string>

#include "astra-core/apps/vidur/vidur_option_table.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;

absl::StatusOr<SimaiVidurOptions> TryRead(const std::string& text) {
  return ReadSimaiVidurOptions(
      ValueOrDie(ParseArguments(SimaiVidurOptionSpecs(), text)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

// The large example of Vidur's README, with its flags.
const std::string kPredictor =
    "--random_forrest_execution_time_predictor_config_";
const std::string kExample =
    "--replica_config_device a100 "
    "--replica_config_model_name meta-llama/Meta-Llama-3-8B "
    "--cluster_config_num_replicas 1 "
    "--replica_config_tensor_parallel_size 1 "
    "--replica_config_num_pipeline_stages 1 "
    "--request_generator_config_type synthetic "
    "--synthetic_request_generator_config_num_requests 512 "
    "--length_generator_config_type trace "
    "--trace_request_length_generator_config_max_tokens 16384 "
    "--trace_request_length_generator_config_trace_file t.csv "
    "--interval_generator_config_type poisson "
    "--poisson_request_interval_generator_config_qps 6.45 "
    "--replica_scheduler_config_type sarathi "
    "--sarathi_scheduler_config_batch_size_cap 512 "
    "--sarathi_scheduler_config_chunk_size 512 " +
    kPredictor + "prediction_max_prefill_chunk_size 16384 " + kPredictor +
    "prediction_max_batch_size 512 " + kPredictor +
    "prediction_max_tokens_per_request 16384";

TEST(SimaiVidurOptionsTest, TakesTheExampleOfVidur) {
  const SimaiVidurOptions options = ValueOrDie(TryRead(kExample));
  EXPECT_EQ(options.scheduler->name, "sarathi");
  EXPECT_EQ(options.batching.max_sequences, 512);
  EXPECT_EQ(options.batching.chunk_tokens, 512);
  EXPECT_EQ(options.batching.num_blocks, 1024 * 29);
  EXPECT_EQ(options.load.qps, 6.45);
  EXPECT_EQ(options.load.count, 512);
  EXPECT_EQ(options.load.max_tokens, 16384);
  EXPECT_EQ(options.trace_file, "t.csv");
  EXPECT_EQ(options.tables[0],
            "data/profiling/compute/a100/meta-llama/Meta-Llama-3-8B/mlp.csv");
  EXPECT_EQ(options.tables[2], "");
}

TEST(SimaiVidurOptionsTest, HasVidursDefaults) {
  const SimaiVidurOptions options = ValueOrDie(TryRead(""));
  EXPECT_EQ(options.replica.model.name, "meta-llama/Llama-2-7b-hf");
  EXPECT_EQ(options.load.prefill_tokens, 2048);
  EXPECT_EQ(options.load.decode_tokens, 512);
  EXPECT_EQ(options.load.qps, 0.5);
  EXPECT_EQ(options.batching.max_sequences, 128);
  EXPECT_EQ(options.batching.watermark, 0.01);
}

TEST(SimaiVidurOptionsTest, RefusesWhatHasNoEffect) {
  EXPECT_EQ(ErrorOf("--orca_scheduler_config_block_size 8"),
            "--orca-scheduler-config-block-size has no effect: "
            "--replica-scheduler-config-type is sarathi");
  EXPECT_EQ(ErrorOf("--gamma_request_interval_generator_config_cv 1"),
            "--gamma-request-interval-generator-config-cv has no effect: "
            "--interval-generator-config-type is poisson");
  EXPECT_EQ(ErrorOf("--replica_config_network_device a100_dgx"),
            "--replica-config-network-device has no effect: a replica has 1 "
            "GPU");
  EXPECT_EQ(ErrorOf("--seed 3"),
            "--seed has no effect: of requests it is "
            "--synthetic_request_generator_config_seed");
}

TEST(SimaiVidurOptionsTest, HoldsToTheSizesOfThePredictor) {
  EXPECT_EQ(ErrorOf("--sarathi_scheduler_config_batch_size_cap 129"),
            "a batch size cap of 129: "
            "--random-forrest-execution-time-predictor-config-prediction-max-"
            "batch-size is 128, expected as many");
  EXPECT_EQ(ErrorOf("--fixed_request_length_generator_config_prefill_tokens "
                    "4000"),
            "--fixed-request-length-generator-config-max-tokens is 4096: "
            "expected at least the 4512 of prompt and output");
}

}  // namespace
}  // namespace astra
