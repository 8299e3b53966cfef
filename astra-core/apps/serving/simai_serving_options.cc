#include "astra-core/apps/serving/simai_serving_options.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/option_reading.h"
#include "collectives/inference_engines/engine_file.h"
#include "fmt/core.h"
#include "workload/generator/inference.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"
#include "workload/serving/request_trace.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_serving --model NAME|FILE --gpu NAME [--tp N] [--engine "
    "NAME]\n"
    "                     --requests N --isl N --osl N --rate R [options]\n"
    "       simai_serving --compare-table FILE.csv --output DIR\n"
    "\n"
    "Serves requests with replicas of a model, step by step as the scheduler "
    "of "
    "an\n"
    "engine forms them, and tells how long users wait for the first token and "
    "for the\n"
    "next ones.\n";

constexpr CommandExample kExamples[] = {
    {"simai_serving -m llama3-8b --gpu H100 --engine vllm \\\n"
     "  --requests 200 --isl 1024 --osl 128 --rate 10",
     "Llama 3 8B on one H100, at 10 requests per second:"},
    {"simai_serving -m llama3-70b --gpu H100 --tp 4 --replicas 2 \\\n"
     "  --engine sglang --requests 640 --isl 2048 --osl 256 --concurrency 128",
     "Two replicas of 4 GPUs with 128 requests in flight:"},
};

constexpr OptionSpec kOptions[] = {
    {"model", "m model_size", "NAME|FILE", "Deployment",
     "as for gen_workload: a bundled model, a YAML file, or a config.json"},
    {"gpu-type", "gpu", "NAME|FILE", "Deployment", "the GPU"},
    {"dtype", "", "NAME", "Deployment",
     "bfloat16 (default), float16, fp8, fp8_block, mxfp8, nvfp4, or mxfp4: "
     "experts in 4 bits and the rest in BF16"},
    {"tp", "t", "N", "Deployment", "tensor parallelism (default 1)"},
    {"pp", "l", "N", "Deployment", "pipeline stages (default 1)"},
    {"ep", "e", "N", "Deployment",
     "ranks of a TP group that experts are spread over (default 1: TP splits "
     "them)"},
    {"replicas", "", "N", "Deployment", "replicas of the model (default 1)"},

    {"topology", "n", "FILE", "Cluster", "the cluster, as gen_topo draws it"},
    {"system", "", "NAME|FILE", "Cluster",
     "without -n the cluster: servers below one switch (default: the system "
     "that is built with the GPU)"},

    {"engine", "", "NAME", "Engine",
     "vllm (default), sglang, trtllm, or a release such as vllm@0.14"},
    {"scheduler", "", "NAME", "Engine", "(default: that of the engine)"},
    {"router", "", "NAME", "Engine", "which replica a request goes to"},
    {"max-num-batched-tokens", "", "N", "Engine",
     "positions of a step (default: as the engine has for the GPU)"},
    {"max-num-seqs", "", "N", "Engine",
     "sequences that run at once (default: as the engine has for the GPU)"},
    {"num-gpu-blocks", "", "N", "Engine",
     "blocks of the KV cache, as the engine's log says (default: what the "
     "memory has room for)"},
    {"gpu-memory-utilization", "", "X", "Engine",
     "share of the memory that the engine takes (default: as the engine has)"},

    {"trace", "", "FILE", "Load",
     "requests of a trace: CSV of Azure, Vidur or BurstGPT, JSONL of Mooncake"},
    {"requests", "", "N", "Load",
     "requests in all (default of a trace: all of them)"},
    {"isl", "", "N", "Load", "tokens of a prompt"},
    {"osl", "", "N", "Load", "tokens of an answer"},
    {"rate", "", "X", "Load", "requests per second, at random (Poisson)"},
    {"concurrency", "", "N", "Load",
     "instead of --rate: requests in flight; one that ends starts the next"},
    {"seed", "", "N", "Load", "of the arrivals (default 0)"},

    {"compare-table", "", "FILE", "Output",
     "predict the measured points of a table instead, and write how far off "
     "they are"},
    {"steps", "", "", "Output", "also write steps.csv"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: model, GPUs and GPU)"},
};

constexpr int64_t kMost = int64_t{1} << 24;

absl::Status ReadPrecision(const CommandLine& flags, ServingJob& job) {
  constexpr std::string_view kNames[] = {"bfloat16",  "bf16",  "float16",
                                         "fp16",      "mxfp4", "fp8",
                                         "fp8_block", "mxfp8", "nvfp4"};
  constexpr size_t kMxfp4 = 4;
  ASTRA_ASSIGN_OR_RETURN(const size_t choice,
                         Choice(flags, "dtype", 0, kNames));
  job.layout.mxfp4_experts = choice == kMxfp4;
  if (job.layout.mxfp4_experts && !job.model.experts) {
    return absl::InvalidArgumentError(fmt::format(
        "--dtype mxfp4 is for experts, and {} has none", job.model.name));
  }
  if (choice > kMxfp4) {
    job.layout.precision =
        kPrecisions[IndexOf(Precision::kFp8) + choice - kMxfp4 - 1];
  }
  return absl::OkStatus();
}

// Returns `status` with the nearest TP that is legal, if there is one.
absl::Status WithNearestTensor(const absl::Status& status,
                               const ServingJob& job) {
  constexpr int64_t kFarthest = 128;
  for (int64_t distance = 1; distance <= kFarthest; ++distance) {
    for (const int64_t sign : {-1, 1}) {
      ServingLayout layout = job.layout;
      layout.tensor += sign * distance;
      if (layout.tensor < 1 || layout.tensor % layout.expert != 0) continue;
      if (!InferenceBlueprint(job.model, SetupOf(layout)).ok()) continue;
      return absl::InvalidArgumentError(
          fmt::format("{}{}; the nearest --tp is {}", kIllegalLayout,
                      std::string(status.message()), layout.tensor));
    }
  }
  return status;
}

absl::Status ReadLayout(const CommandLine& flags, ServingJob& job) {
  const IntegerOption sizes[] = {{"tp", &job.layout.tensor, kMost},
                                 {"pp", &job.layout.pipeline, kMost},
                                 {"ep", &job.layout.expert, kMost},
                                 {"replicas", &job.replicas, kMost}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  ASTRA_RETURN_IF_ERROR(ReadPrecision(flags, job));
  if (!job.model.experts) {
    constexpr std::string_view kOfExperts[] = {"ep"};
    ASTRA_RETURN_IF_ERROR(Refuse(
        flags, kOfExperts, fmt::format("{} has no experts", job.model.name)));
  }
  if (job.layout.tensor % job.layout.expert != 0) {
    return absl::InvalidArgumentError(
        fmt::format("--ep {} does not divide --tp {}: expected a divisor, such "
                    "as {}",
                    job.layout.expert, job.layout.tensor, job.layout.tensor));
  }
  const absl::Status legal =
      InferenceBlueprint(job.model, SetupOf(job.layout)).status();
  return legal.ok() ? legal : WithNearestTensor(legal, job);
}

absl::Status ReadEngine(const CommandLine& flags,
                        SimaiServingOptions& options) {
  ServingJob& job = options.job;
  ASTRA_ASSIGN_OR_RETURN(
      job.engine, LoadInferenceEngine(flags.value("engine").value_or("vllm")));
  ServingFacts& facts = job.engine.serving;
  if (flags.has("scheduler")) {
    if (facts.scheduler.empty()) return UseFacts(job);
    facts.scheduler = *flags.value("scheduler");
  }
  if (flags.has("gpu-memory-utilization")) {
    constexpr std::string_view kGiven[] = {"gpu-memory-utilization"};
    if (flags.has("num-gpu-blocks")) {
      return Refuse(flags, kGiven, "--num-gpu-blocks is given");
    }
    ASTRA_ASSIGN_OR_RETURN(facts.memory_share,
                           flags.number("gpu-memory-utilization", 1, 1));
  }
  ASTRA_RETURN_IF_ERROR(UseFacts(job));
  if (flags.has("router")) {
    constexpr std::string_view kRouter[] = {"router"};
    if (job.replicas == 1) return Refuse(flags, kRouter, "there is 1 replica");
    ASTRA_ASSIGN_OR_RETURN(job.router, FindRouter(*flags.value("router")));
  }
  const IntegerOption sizes[] = {
      {"max-num-batched-tokens", &job.options.max_batched_tokens, kMost},
      {"max-num-seqs", &job.options.max_sequences, kMost},
      {"num-gpu-blocks", &job.options.num_blocks, kMost}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  job.options.chunk_tokens = job.options.max_batched_tokens;
  if (job.options.num_blocks > 0) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(
      options.room,
      RoomForCache(job.model, job.layout, facts, MemoryOf(job.gpu),
                   job.options.max_batched_tokens));
  job.options.num_blocks = options.room->blocks;
  return absl::OkStatus();
}

// Returns the positions that a sequence may have; 0: any number.
int64_t LongestOf(const ModelSpec& model) {
  return model.positions == Positions::kLearned ? model.max_positions : 0;
}

// Reads where the requests come from.
absl::Status ReadSource(const CommandLine& flags,
                        SimaiServingOptions& options) {
  options.trace = flags.value("trace");
  if (options.trace) {
    constexpr std::string_view kDrawn[] = {"isl", "osl", "rate", "seed"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kDrawn, "--trace says it"));
  } else {
    for (const std::string_view name : {"requests", "isl", "osl"}) {
      ASTRA_RETURN_IF_ERROR(Require(flags, name));
    }
  }
  const IntegerOption sizes[] = {{"requests", &options.requests, kMost},
                                 {"isl", &options.prompt_tokens, kMost},
                                 {"osl", &options.output_tokens, kMost},
                                 {"concurrency", &options.in_flight, kMost}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  const ModelSpec& model = options.job.model;
  const int64_t longest = options.prompt_tokens + options.output_tokens;
  if (LongestOf(model) > 0 && longest > LongestOf(model)) {
    return absl::InvalidArgumentError(fmt::format(
        "--isl and --osl are {} together: {} has learned {} positions", longest,
        model.name, model.max_positions));
  }
  return absl::OkStatus();
}

absl::Status ReadLoad(const CommandLine& flags, SimaiServingOptions& options) {
  ASTRA_RETURN_IF_ERROR(ReadSource(flags, options));
  if (options.trace && !flags.has("concurrency")) return absl::OkStatus();
  if (flags.has("rate") == flags.has("concurrency")) {
    return absl::InvalidArgumentError(
        flags.has("rate") ? "--rate has no effect: --concurrency is given"
                          : "--rate or --concurrency is missing");
  }
  if (flags.has("concurrency")) {
    constexpr std::string_view kSeed[] = {"seed"};
    if (options.requests > 0 && options.in_flight > options.requests) {
      return absl::InvalidArgumentError(fmt::format(
          "--concurrency is {}: expected at most the {} of --requests",
          options.in_flight, options.requests));
    }
    return Refuse(flags, kSeed, "--concurrency draws nothing at random");
  }
  constexpr double kMostRate = 1e9;
  ASTRA_ASSIGN_OR_RETURN(options.rate, flags.number("rate", 0, kMostRate));
  if (options.rate <= 0) {
    return absl::InvalidArgumentError("--rate is 0: no request would arrive");
  }
  ASTRA_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, ReadSeed(flags));
  options.seed = seed.value_or(0);
  return absl::OkStatus();
}

// Checks that nothing but a table and a folder was given.
absl::Status ReadComparison(const CommandLine& flags,
                            SimaiServingOptions& options) {
  for (const OptionSpec& option : kOptions) {
    if (option.name == "compare-table" || option.name == "output") continue;
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&option.name, 1},
                                 "--compare-table says what is served"));
  }
  ASTRA_RETURN_IF_ERROR(Require(flags, "output"));
  options.compare_table = flags.value("compare-table");
  options.output = *flags.value("output");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RequestSource>> SourceOf(
    SimaiServingOptions& options) {
  std::unique_ptr<RequestSource> source;
  if (options.trace) {
    ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                           ReadFile(*options.trace));
    ASTRA_ASSIGN_OR_RETURN(
        RequestTrace trace,
        ParseRequestTrace(*options.trace, contents,
                          {.max_requests = options.requests,
                           .max_tokens = LongestOf(options.job.model)},
                          &options.warnings));
    source = std::make_unique<ListedRequests>(std::move(trace.requests));
    return source;
  }
  SyntheticOptions synthetic;
  synthetic.lengths.prompt_tokens = options.prompt_tokens;
  synthetic.lengths.output_tokens = options.output_tokens;
  synthetic.count = options.requests;
  synthetic.seed = options.seed;
  if (options.in_flight > 0) {
    synthetic.arrivals = ArrivalProcess::kAtOnce;
  } else {
    synthetic.per_second = options.rate;
  }
  ASTRA_ASSIGN_OR_RETURN(SyntheticRequests requests,
                         SyntheticRequests::Create(synthetic));
  source = std::make_unique<SyntheticRequests>(std::move(requests));
  return source;
}

absl::Span<const OptionSpec> SimaiServingOptionSpecs() { return kOptions; }

std::string SimaiServingHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiServingExamples() { return kExamples; }

absl::StatusOr<SimaiServingOptions> ReadSimaiServingOptions(
    const CommandLine& flags) {
  SimaiServingOptions options;
  if (flags.has("compare-table")) {
    ASTRA_RETURN_IF_ERROR(ReadComparison(flags, options));
    return options;
  }
  ServingJob& job = options.job;
  ASTRA_RETURN_IF_ERROR(Require(flags, "model"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpu-type"));
  ASTRA_ASSIGN_OR_RETURN(job.model,
                         FindModel(*flags.value("model"), &options.warnings));
  ASTRA_ASSIGN_OR_RETURN(job.gpu, FindGpu(*flags.value("gpu-type")));
  ASTRA_RETURN_IF_ERROR(ReadLayout(flags, job));
  ASTRA_RETURN_IF_ERROR(ReadEngine(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadLoad(flags, options));
  if (job.layout.num_gpus() == 1) {
    constexpr std::string_view kCluster[] = {"topology", "system"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kCluster, "a replica has 1 GPU"));
  }
  job.topology_file = flags.value("topology");
  job.system = flags.value("system");
  options.writes_steps = flags.has("steps");
  std::string name =
      fmt::format("{}-{}-{}", job.model.name, job.num_gpus(), job.gpu.name);
  std::replace(name.begin(), name.end(), '/', '-');
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
