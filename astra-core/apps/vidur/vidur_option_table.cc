#include "astra-core/apps/vidur/vidur_option_table.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_vidur [--profiles DIR] [flags of python -m vidur.main]\n"
    "\n"
    "Serves requests in the way of Vidur, the inference simulator of "
    "Microsoft: "
    "the\n"
    "tables of its profiler, its flags, its schedulers, and its "
    "request_metrics.csv.\n"
    "Flags may have underscores, as in Vidur.\n";

constexpr CommandExample kExamples[] = {
    {"simai_vidur --profiles data/profiling \\\n"
     "  --replica_config_device a100 \\\n"
     "  --replica_config_model_name meta-llama/Meta-Llama-3-8B \\\n"
     "  --length_generator_config_type fixed \\\n"
     "  --poisson_request_interval_generator_config_qps 2",
     "Llama 3 8B on one A100, from a clone of Vidur:"},
    {"simai_vidur --replica_config_device a100 \\\n"
     "  --replica_config_model_name meta-llama/Meta-Llama-3-8B \\\n"
     "  --synthetic_request_generator_config_num_requests 64 \\\n"
     "  --replica_scheduler_config_type vllm",
     "64 requests, with vLLM's first scheduler:"},
};

constexpr OptionSpec kReplica[] = {
    {"profiles", "", "DIR", "Replica",
     "folder with compute, network and cpu_overhead (default data/profiling)"},
    {"replica-config-model-name", "", "NAME", "Replica",
     "(default meta-llama/Llama-2-7b-hf)"},
    {"replica-config-device", "", "NAME", "Replica",
     "a40, a100 (default) or h100"},
    {"replica-config-network-device", "", "NAME", "Replica",
     "folder of network (default a100_pairwise_nvlink)"},
    {"replica-config-tensor-parallel-size", "", "N", "Replica", "(default 1)"},
    {"replica-config-num-pipeline-stages", "", "N", "Replica",
     "(default 1); one batch at a time"},
    {"replica-config-memory-margin-fraction", "", "X", "Replica",
     "share of the memory that stays unused (default 0.1)"},
    {"cluster-config-num-replicas", "", "N", "Replica", "(default 1)"},
    {"global-scheduler-config-type", "", "NAME", "Replica",
     "round_robin (default), random or lor"},
    {"seed", "", "N", "Replica", "of the global scheduler random (default 42)"},

    {"request-generator-config-type", "", "NAME", "Requests",
     "synthetic (default) or trace_replay"},
    {"synthetic-request-generator-config-num-requests", "", "N", "Requests",
     "(default 128)"},
    {"synthetic-request-generator-config-duration", "", "X", "Requests",
     "seconds of arrivals, instead of a number of requests"},
    {"synthetic-request-generator-config-seed", "", "N", "Requests",
     "of arrivals and lengths (default 42)"},
    {"trace-request-generator-config-trace-file", "", "FILE", "Requests",
     "CSV with arrived_at, num_prefill_tokens, num_decode_tokens"},
    {"trace-request-generator-config-prefill-scale-factor", "", "X", "Requests",
     "(default 1)"},
    {"trace-request-generator-config-decode-scale-factor", "", "X", "Requests",
     "(default 1)"},
    {"trace-request-generator-config-time-scale-factor", "", "X", "Requests",
     "(default 1)"},
    {"trace-request-generator-config-max-tokens", "", "N", "Requests",
     "(default 4096)"},

    {"interval-generator-config-type", "", "NAME", "Intervals",
     "poisson (default), gamma or static"},
    {"poisson-request-interval-generator-config-qps", "", "X", "Intervals",
     "requests per second (default 0.5)"},
    {"gamma-request-interval-generator-config-qps", "", "X", "Intervals",
     "requests per second (default 0.2)"},
    {"gamma-request-interval-generator-config-cv", "", "X", "Intervals",
     "deviation over mean (default 0.5)"},

    {"length-generator-config-type", "", "NAME", "Lengths",
     "fixed (default), uniform, zipf or trace"},
    {"fixed-request-length-generator-config-prefill-tokens", "", "N", "Lengths",
     "(default 2048)"},
    {"fixed-request-length-generator-config-decode-tokens", "", "N", "Lengths",
     "(default 512)"},
    {"fixed-request-length-generator-config-max-tokens", "", "N", "Lengths",
     "for which the cache is planned (default 4096)"},
    {"uniform-request-length-generator-config-min-tokens", "", "N", "Lengths",
     "(default 1024)"},
    {"uniform-request-length-generator-config-max-tokens", "", "N", "Lengths",
     "(default 4096)"},
    {"uniform-request-length-generator-config-prefill-to-decode-ratio", "", "X",
     "Lengths", "(default 20)"},
    {"zipf-request-length-generator-config-min-tokens", "", "N", "Lengths",
     "(default 1024)"},
    {"zipf-request-length-generator-config-max-tokens", "", "N", "Lengths",
     "(default 4096)"},
    {"zipf-request-length-generator-config-prefill-to-decode-ratio", "", "X",
     "Lengths", "(default 20)"},
    {"zipf-request-length-generator-config-theta", "", "X", "Lengths",
     "exponent (default 0.6)"},
    {"trace-request-length-generator-config-trace-file", "", "FILE", "Lengths",
     "CSV with num_prefill_tokens, num_decode_tokens"},
    {"trace-request-length-generator-config-prefill-scale-factor", "", "X",
     "Lengths", "(default 1)"},
    {"trace-request-length-generator-config-decode-scale-factor", "", "X",
     "Lengths", "(default 1)"},
    {"trace-request-length-generator-config-max-tokens", "", "N", "Lengths",
     "(default 4096)"},
    {"trace-request-length-generator-config-seed", "", "N", "Lengths",
     "of the order of the rows (default 42)"},

    {"replica-scheduler-config-type", "", "NAME", "Scheduler",
     "sarathi (default), vllm, orca, faster_transformer or lightllm"},
};

// Options of every scheduler, as NAME-scheduler-config-FIELD.
constexpr OptionSpec kOfSchedulers[] = {
    {"batch-size-cap", "", "N", "Scheduler", "sequences (default 128)"},
    {"block-size", "", "N", "Scheduler",
     "tokens of a block (default 16; lightllm: 1)"},
    {"watermark-blocks-fraction", "", "X", "Scheduler",
     "blocks that stay free (default 0.01; of sarathi and vllm alone)"},
    {"num-blocks", "", "N", "Scheduler",
     "(default: what the memory has room for)"},
};

constexpr OptionSpec kRest[] = {
    {"sarathi-scheduler-config-chunk-size", "", "N", "Scheduler",
     "positions of a step (default 512)"},
    {"vllm-scheduler-config-max-tokens-in-batch", "", "N", "Scheduler",
     "positions of a step (default 4096)"},
    {"lightllm-scheduler-config-max-tokens-in-batch", "", "N", "Scheduler",
     "positions of a step (default 4096)"},
    {"lightllm-scheduler-config-max-waiting-iters", "", "N", "Scheduler",
     "decode steps before it admits again (default 10)"},

    {"execution-time-predictor-config-type", "", "NAME", "Predictor",
     "random_forrest"},
    {"random-forrest-execution-time-predictor-config-compute-input-file", "",
     "FILE", "Predictor", "(default compute/{DEVICE}/{MODEL}/mlp.csv)"},
    {"random-forrest-execution-time-predictor-config-attention-input-file", "",
     "FILE", "Predictor", "(default compute/{DEVICE}/{MODEL}/attention.csv)"},
    {"random-forrest-execution-time-predictor-config-all-reduce-input-file", "",
     "FILE", "Predictor", "(default network/{NETWORK_DEVICE}/all_reduce.csv)"},
    {"random-forrest-execution-time-predictor-config-send-recv-input-file", "",
     "FILE", "Predictor", "(default network/{NETWORK_DEVICE}/send_recv.csv)"},
    {"random-forrest-execution-time-predictor-config-cpu-overhead-input-file",
     "", "FILE", "Predictor",
     "(default cpu_overhead/{NETWORK_DEVICE}/{MODEL}/cpu_overheads.csv)"},
    {"no-random-forrest-execution-time-predictor-config-skip-cpu-overhead-"
     "modeling",
     "", "", "Predictor", "let the host take the time of cpu_overheads.csv"},
    {"random-forrest-execution-time-predictor-config-kv-cache-prediction-"
     "granularity",
     "", "N", "Predictor",
     "caches are rounded up to its multiples (default "
     "64)"},
    {"random-forrest-execution-time-predictor-config-prediction-max-prefill-"
     "chunk-size",
     "", "N", "Predictor", "largest chunk that is allowed (default 4096)"},
    {"random-forrest-execution-time-predictor-config-prediction-max-batch-size",
     "", "N", "Predictor", "largest batch size cap (default 128)"},
    {"random-forrest-execution-time-predictor-config-prediction-max-tokens-per-"
     "request",
     "", "N", "Predictor", "longest request (default 4096)"},
    {"random-forrest-execution-time-predictor-config-attention-decode-batching-"
     "overhead-fraction",
     "", "X", "Predictor", "with grouped queries (default 0.1)"},
    {"random-forrest-execution-time-predictor-config-attention-prefill-"
     "batching-overhead-fraction",
     "", "X", "Predictor", "with grouped queries (default 0.1)"},
    {"random-forrest-execution-time-predictor-config-nccl-cpu-launch-overhead-"
     "ms",
     "", "X", "Predictor", "added to an all-reduce (default 0.02)"},
    {"random-forrest-execution-time-predictor-config-nccl-cpu-skew-overhead-"
     "per-device-ms",
     "", "X", "Predictor", "times TP^1.25 (default 0)"},

    {"metrics-config-output-dir", "o", "DIR", "Output",
     "folder for the results (default simulator_output)"},
};

std::vector<OptionSpec> AllOptions() {
  // The names of generated options live as long as the program.
  static std::deque<std::string> names;
  std::vector<OptionSpec> all(std::begin(kReplica), std::end(kReplica));
  for (const std::string_view scheduler : kVidurSchedulers) {
    std::string owner(scheduler);
    std::replace(owner.begin(), owner.end(), '_', '-');
    for (OptionSpec option : kOfSchedulers) {
      names.push_back(
          fmt::format("{}-scheduler-config-{}", owner, option.name));
      option.name = names.back();
      all.push_back(option);
    }
  }
  all.insert(all.end(), std::begin(kRest), std::end(kRest));
  return all;
}

}  // namespace

absl::Span<const OptionSpec> SimaiVidurOptionSpecs() {
  static const std::vector<OptionSpec> all = AllOptions();
  return all;
}

absl::Status RefuseOptionsOf(const CommandLine& flags, std::string_view prefix,
                             std::string_view why) {
  for (const OptionSpec& option : SimaiVidurOptionSpecs()) {
    if (!option.name.starts_with(prefix)) continue;
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&option.name, 1}, why));
  }
  return absl::OkStatus();
}

std::string SimaiVidurHelp() {
  return HelpText(kUsage, SimaiVidurOptionSpecs()) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiVidurExamples() { return kExamples; }

}  // namespace astra
