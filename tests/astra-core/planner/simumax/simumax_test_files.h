// Small files of SimuMax for tests.

#ifndef TESTS_ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_TEST_FILES_H_
#define TESTS_ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_TEST_FILES_H_

#include <string_view>

#include "astra-core/planner/simumax/simumax_files.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra::testing {

inline constexpr std::string_view kModelText = R"({
  "model_name": "small", "hidden_size": 64, "head_num": 4, "kv_head_num": 2,
  "head_size": 16, "intermediate_size": 128, "layer_num": 4,
  "vocab_size": 1000, "use_swiglu": true
})";

inline constexpr std::string_view kStrategyText =
    R"({"seq_len": 32, "micro_batch_size": 1, "micro_batch_num": 4})";

// 100 TFLOP/s at half the efficiency, or 0.8 for one shape; 1000 GiB/s at half
// the efficiency and 10 us; networks of 30 GiB/s at half and 10 us.
inline constexpr std::string_view kSystemText = R"({
  "sys_name": "small", "num_per_node": 8,
  "accelerator": {
    "backend": "cuda", "mem_gbs": 80, "mode": "roofline",
    "op": {
      "default": {"tflops": 100, "efficient_factor": 0.5},
      "matmul": {"tflops": 100, "efficient_factor": 0.5,
                 "accurate_efficient_factor": {"exact": 0.8}}},
    "bandwidth": {
      "default": {"gbps": 1000, "efficient_factor": 0.5, "latency_us": 10}}},
  "networks": {
    "high_intra_node": {
      "processor_usage": 0,
      "bandwidth": {"gbps": 30, "efficient_factor": 0.5, "latency_us": 10},
      "op": {"all_reduce": {"scale": 2, "offset": -1},
             "all_gather": {"scale": 1, "offset": -1},
             "reduce_scatter": {"scale": 1, "offset": -1},
             "p2p": {"scale": 1, "offset": 0},
             "all2all": {"scale": 1, "offset": -1}}},
    "inter_node": {
      "processor_usage": 0,
      "bandwidth": {"gbps": 16, "efficient_factor": 1, "latency_us": 20},
      "op": {"all_reduce": {"scale": 2, "offset": -1},
             "all_gather": {"scale": 1, "offset": -1},
             "reduce_scatter": {"scale": 1, "offset": -1,
                                "fixed_latency_us": 5,
                                "fixed_latency_us_by_comm_num": {"16": 7}},
             "p2p": {"scale": 1, "offset": 0},
             "all2all": {"scale": 1, "offset": -1}}}}
})";

// Returns the small files, which need no warning.
inline SimumaxFiles SmallFiles() {
  Warnings warnings;
  SimumaxFiles files;
  files.model = ValueOrDie(ParseSimumaxModel("m.json", kModelText, &warnings));
  files.strategy =
      ValueOrDie(ParseSimumaxStrategy("s.json", kStrategyText, &warnings));
  files.system =
      ValueOrDie(ParseSimumaxSystem("y.json", kSystemText, &warnings));
  EXPECT_THAT(warnings, ::testing::IsEmpty());
  return files;
}

// Returns the files of inputs/simumax: Llama 3 8B on 8 A100 with PCIe.
inline SimumaxFiles LlamaFiles() {
  Warnings warnings;
  const SimumaxFiles files = ValueOrDie(
      ReadSimumaxFiles({SourcePath("inputs/simumax/llama3-8b.json"),
                        SourcePath("inputs/simumax/tp1_pp2_dp4_mbs1.json"),
                        SourcePath("inputs/simumax/a100_pcie.json")},
                       &warnings));
  EXPECT_THAT(warnings, ::testing::IsEmpty());
  return files;
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_TEST_FILES_H_
