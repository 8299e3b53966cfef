// How those who measured serving set up the engine and sent requests, by what
// the column `source` of a table of measured points says.
//
// clang-format off
//   source          sequences at once   positions of a step        lengths
//   AIConfigurator  as many in flight   in flight + isl + 1500     as stated
//   InferenceX      as many in flight   as the engine has          80 to 100 %
//   others          as the engine has   as the engine has          as stated
// clang-format on
//
// All of them keep so many requests in flight, and count ten of them for each.
// AIConfigurator's SGLang takes isl + 1500 positions of prompts into a step,
// leaves its chunks as they are, and mixes decodes into them since 0.5.3; 0.5.1
// does as the engine has it. Engines with products in FP8 keep the KV cache in
// FP8 with TensorRT-LLM.
//
// Sources: ai-dynamo/aiconfigurator, src/aiconfigurator/generator/rule_plugin/
// benchmark/{vllm,trtllm,sglang}.rule (max_num_tokens, max_batch_size,
// max_prefill_tokens), config/
// backend_templates/sglang/cli_args.*.j2 (enable-mixed-chunk), and
// eval/benchmarks/genai_perf_runner.py (--request-count of 10 x concurrency,
// standard deviations of 0); SemiAnalysisAI/InferenceX,
// benchmarks/gptoss_fp4_h100_docker.sh (--max-num-seqs, --num-prompts) and
// utils/bench_serving/benchmark_serving.py (--random-range-ratio 0.8).

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_BENCHMARKS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_BENCHMARKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/serving/batching_options.h"
#include "workload/serving/request.h"

namespace astra {

// The load of a measured point.
struct BenchmarkLoad {
  int64_t prompt = 0;     // Tokens.
  int64_t output = 0;     // Tokens.
  int64_t in_flight = 0;  // Requests.
};

// Sets what the benchmark told the engine, such as "vllm 0.12.0"; the rest
// stays as the engine has it.
void SetUpEngine(std::string_view source, const BenchmarkLoad& load,
                 std::string_view engine, BatchingOptions& options);

// Returns whether the engine keeps the KV cache in FP8 where its products are
// in FP8.
bool HasFp8Cache(std::string_view source, std::string_view engine);

// Returns the requests that the benchmark sends, in order.
std::vector<Request> RequestsOfBenchmark(std::string_view source,
                                         const BenchmarkLoad& load);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_BENCHMARKS_H_
