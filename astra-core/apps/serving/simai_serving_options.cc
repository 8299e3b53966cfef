#include "astra-core/apps/serving/simai_serving_options.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/serving/cache_blocks.h"
#include "astra-core/apps/serving/deployment_options.h"
#include "astra-core/apps/serving/serving_mechanics_options.h"
#include "astra-core/apps/serving/session_options.h"
#include "astra-core/apps/serving/sizing_options.h"
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
    "                     --requests N --isl N --osl N --rate LIST [options]\n"
    "       simai_serving --capacity --slo-ttft MS --slo-tpot MS --isl N --osl "
    "N [...]\n"
    "       simai_serving --plan --gpus N --slo-ttft MS --slo-tpot MS [...]\n"
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
    {"simai_serving -m llama3-8b --gpu H100 --isl 1024 --osl 128 \\\n"
     "  --concurrency 1..128 --slo-ttft 500 --slo-tpot 12 --threads 4",
     "Throughput over interactivity, and goodput under limits:"},
};

constexpr OptionSpec kOptions[] = {
    {"model", "m model_size", "NAME|FILE", "Deployment",
     "as for gen_workload: a bundled model, a YAML file, or a config.json"},
    {"gpu-type", "gpu", "NAME|FILE", "Deployment", "the GPU"},
    {"dtype", "", "NAME", "Deployment",
     "bfloat16 (default), float16, fp8, fp8_block, mxfp8, nvfp4, or mxfp4: "
     "experts in 4 bits and the rest in BF16"},
    {"tp", "t", "N", "Deployment", "tensor parallelism (default 1)"},
    {"pp", "l", "N", "Deployment",
     "pipeline stages, each with a step of its own (default 1)"},
    {"ep", "e", "N", "Deployment",
     "ranks of a TP group that experts are spread over (default 1: TP splits "
     "them; with --attention-dp all of its GPUs)"},
    {"attention-dp", "dp data-parallel-size", "N", "Deployment",
     "ranks of TP GPUs, each with sequences of its own, that share the "
     "experts (default 1)"},
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

    {"speculative-tokens", "", "N", "Mechanics",
     "draft tokens that a step verifies for each running sequence (default 0)"},
    {"acceptance-rate", "", "X", "Mechanics",
     "chance that a draft token is accepted if those before it are"},
    {"draft-model", "", "NAME|FILE|mtp", "Mechanics",
     "the model that makes the drafts, or mtp: a block of the model itself "
     "(default: drafts cost nothing, as those of n-grams)"},
    {"host-kv-gib", "", "X", "Mechanics",
     "GiB of the host's memory for the blocks of each GPU that prefixes lose "
     "(default 0)"},
    {"host-kv-gbps", "", "X", "Mechanics",
     "10^9 bytes a second from there to each GPU"},
    {"prefill-schedule-interval", "", "N", "Mechanics",
     "let prompts start only in every N-th step of all ranks of attention "
     "while "
     "others decode (default 1)"},

    {"prefill-delay-passes", "", "N", "Mechanics",
     "SGLang's prefill delayer: while only some ranks of attention have "
     "prompts, "
     "start none for at most N - 1 steps (default 0: no delay)"},

    {"trace", "", "FILE", "Load",
     "requests of a trace: CSV of Azure, Vidur or BurstGPT, JSONL of Mooncake"},
    {"requests", "", "N", "Load",
     "requests in all (default of a trace: all of them; with --concurrency: 10 "
     "for each in flight)"},
    {"isl", "", "N", "Load", "tokens of a prompt"},
    {"osl", "", "N", "Load", "tokens of an answer"},
    {"rate", "", "LIST", "Load",
     "requests per second, at random (Poisson); a list such as 0.5,1..32, "
     "doubled up to 32, is a curve"},
    {"concurrency", "", "LIST", "Load",
     "instead of --rate: requests in flight; one that ends starts the next; a "
     "list such as 1,2,8..256 is a curve"},
    {"shared-prefix", "", "N", "Load",
     "first tokens of a prompt that it shares with others (default 0)"},
    {"prefix-groups", "", "N", "Load",
     "how many such prefixes there are (default 1)"},
    {"turns", "", "N", "Load",
     "requests of a session, each behind the prompt and the answer of the one "
     "before (default 1); --rate and --concurrency count sessions"},
    {"turn-wait-ms", "", "X", "Load",
     "mean time from an answer to the next turn: thoughts, tools (default 0)"},
    {"turn-wait-cv", "", "X", "Load",
     "deviation of this time over its mean (default 1: exponential)"},
    {"seed", "", "N", "Load", "of the arrivals (default 0)"},

    {"decode-replicas", "", "N", "Separate pools",
     "replicas that only decode; those of --replicas only compute prompts"},
    {"decode-tp", "", "N", "Separate pools", "their TP (default: --tp)"},
    {"decode-pp", "", "N", "Separate pools", "their PP (default: --pp)"},
    {"decode-ep", "", "N", "Separate pools", "their EP (default: --ep)"},
    {"decode-attention-dp", "", "N", "Separate pools",
     "their ranks of attention (default: --attention-dp)"},
    {"decode-router", "", "NAME", "Separate pools",
     "which of them a request goes to"},
    {"decode-max-num-batched-tokens", "", "N", "Separate pools",
     "positions of their steps (default: as the other pool)"},
    {"decode-max-num-seqs", "", "N", "Separate pools",
     "sequences that run at once (default: as the other pool)"},
    {"decode-num-gpu-blocks", "", "N", "Separate pools",
     "blocks of their KV caches (default: what the memory has room for)"},
    {"decode-first-gpu", "", "N", "Separate pools",
     "their first GPU in -n (default: behind the other pool)"},
    {"kv-transfer", "", "NAME", "Separate pools",
     "whole (default): a KV cache moves behind its prompt; layerwise: beside "
     "it, and the last layer behind"},
    {"first-token", "", "NAME", "Separate pools",
     "pool that hands out the first token: decode (default), once the KV cache "
     "is there, or prefill"},

    {"fidelity", "", "NAME", "Fabric",
     "of KV caches between pools, of weights, and of collectives of replicas "
     "that span servers. closed-form (default): each by itself, without a "
     "network; analytical, flow, packet: with all others on the network"},
    {"network", "c network_conf", "FILE", "Fabric",
     "NICs and switches, with --fidelity flow and packet"},
    {"beside", "", "FILE", "Fabric",
     "workload of a job on the same network, repeated until serving ends"},
    {"beside-first-gpu", "", "N", "Fabric",
     "its first GPU (default: the first server behind the pools)"},
    {"load-weights", "", "NAME", "Fabric",
     "load weights before the first step. storage: from a server that holds "
     "them; replica: from the first replica, which has them (default: they are "
     "there)"},
    {"storage-first-gpu", "", "N", "Fabric",
     "first GPU of the server in -n whose NICs send the weights (default: the "
     "first server behind the pools)"},

    {"capacity", "", "", "Sizing",
     "find the largest rate that keeps the limits instead; with --rate the "
     "fewest replicas"},
    {"plan", "", "", "Sizing",
     "rank all deployments on --gpus instead, by output tokens a second and "
     "GPU under the limits; --tp, --pp, --ep and --attention-dp may be lists"},
    {"gpus", "", "N", "Sizing", "GPUs that --plan uses"},
    {"pools", "", "NAME", "Sizing",
     "deployments of --plan: shared (replicas that do all), separate (pools "
     "for prompts and for decoding), both (default)"},
    {"slo-share", "", "X", "Sizing",
     "share of the requests that must keep the limits (default 0.99)"},
    {"top", "", "N", "Sizing",
     "plans that get a folder, the best of up to 4 x N that are replayed "
     "(default 5)"},
    {"exhaustive", "", "", "Sizing",
     "--plan tries every number of sequences, which takes longer and finds up "
     "to 1 % more where times of steps jump"},

    {"compare-table", "", "FILE", "Output",
     "predict the measured points of a table instead, and write how far off "
     "they are"},
    {"steps", "", "", "Output", "also write steps.csv"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: model, GPUs and GPU)"},

    {"slo-ttft", "", "MS", "Answers",
     "count requests whose first token comes within so many milliseconds"},
    {"slo-tpot", "", "MS", "Answers",
     "and whose later tokens take at most so many each, in their mean"},
    {"slo-e2e", "", "MS", "Answers",
     "and whose last token comes within so many"},
    {"timeline", "", "", "Answers",
     "write trace.json for Perfetto or chrome://tracing"},
    {"curves", "", "DIR[,DIR]", "Answers",
     "draw the curves of these results in the same page"},
    {"threads", "", "N", "Answers",
     "serve the loads of a list on N threads (default 1); the results are the "
     "same"},
};

absl::Status ReadEngine(const CommandLine& flags,
                        SimaiServingOptions& options) {
  ServingJob& job = options.job;
  ASTRA_RETURN_IF_ERROR(ReadServingEngine(flags, job));
  if (flags.has("router")) {
    constexpr std::string_view kRouter[] = {"router"};
    if (job.replicas * job.layout.attention_ranks == 1) {
      return Refuse(flags, kRouter, "there is 1 replica");
    }
    ASTRA_ASSIGN_OR_RETURN(job.router, FindRouter(*flags.value("router")));
  }
  ASTRA_RETURN_IF_ERROR(ReadMechanics(flags, job, &options.warnings));
  ASTRA_ASSIGN_OR_RETURN(
      options.room, SetCacheBlocks("num-gpu-blocks", job, &options.warnings));
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
    constexpr std::string_view kDrawn[] = {
        "isl",   "osl",           "rate",
        "seed",  "shared-prefix", "prefix-groups",
        "turns", "turn-wait-ms",  "turn-wait-cv"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kDrawn, "--trace says it"));
  } else {
    for (const std::string_view name : {"requests", "isl", "osl"}) {
      if (name == "requests" && flags.has("concurrency")) continue;
      ASTRA_RETURN_IF_ERROR(Require(flags, name));
    }
  }
  const IntegerOption sizes[] = {{"requests", &options.requests, kMostCount},
                                 {"isl", &options.prompt_tokens, kMostCount},
                                 {"osl", &options.output_tokens, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  if (!options.trace) {
    ASTRA_ASSIGN_OR_RETURN(
        options.sessions,
        ReadSessions(flags, options.requests, options.prompt_tokens));
  }
  if (options.trace) return absl::OkStatus();
  return CheckPositions(
      options.job.model,
      (options.prompt_tokens + options.output_tokens) * options.sessions.turns,
      &options.warnings);
}

absl::Status ReadSeedOf(const CommandLine& flags,
                        SimaiServingOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, ReadSeed(flags));
  options.seed = seed.value_or(0);
  return absl::OkStatus();
}

// Reads the rate of a search; the rest of its load is read by ReadSizingLoad.
absl::Status ReadCapacityRate(const CommandLine& flags,
                              SimaiServingOptions& options) {
  options.points = {LoadPoint{}};
  if (!flags.has("rate")) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(options.points, ReadPoints(flags, kMostCount));
  if (options.points.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--rate is {}: expected one rate with --capacity", *flags.value("rate")));
}

absl::Status ReadLoad(const CommandLine& flags, SimaiServingOptions& options) {
  if (flags.has("capacity")) return ReadCapacityRate(flags, options);
  constexpr std::string_view kOfSizing[] = {"slo-share"};
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, kOfSizing, "neither --plan nor --capacity is given"));
  ASTRA_RETURN_IF_ERROR(ReadSource(flags, options));
  options.points = {LoadPoint{}};
  if (options.trace && !flags.has("concurrency")) return absl::OkStatus();
  if (flags.has("rate") == flags.has("concurrency")) {
    return absl::InvalidArgumentError(
        flags.has("rate") ? "--rate has no effect: --concurrency is given"
                          : "--rate or --concurrency is missing");
  }
  ASTRA_ASSIGN_OR_RETURN(options.points, ReadPoints(flags, kMostCount));
  if (flags.has("concurrency")) {
    constexpr std::string_view kSeed[] = {"seed"};
    const bool draws = options.job.options.draft_tokens > 0 ||
                       options.sessions.prefix_groups > 1 ||
                       (options.sessions.turn_wait > TimePs(0) &&
                        options.sessions.turn_wait_cv > 0);
    const int64_t sessions = options.requests / options.sessions.turns;
    const int64_t in_flight = options.points.back().in_flight;
    if (options.requests > 0 && in_flight > sessions) {
      return absl::InvalidArgumentError(fmt::format(
          "--concurrency is {}: expected at most the {}{} of --requests",
          in_flight, sessions, options.sessions.turns > 1 ? " sessions" : ""));
    }
    if (draws) return ReadSeedOf(flags, options);
    return Refuse(flags, kSeed, "--concurrency draws nothing at random");
  }
  return ReadSeedOf(flags, options);
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

int64_t SimaiServingOptions::num_requests() const {
  if (trace) return static_cast<int64_t>(traced.size());
  return requests > 0 ? requests
                      : kRounds * sessions.turns * points.front().in_flight;
}

absl::Status ReadTrace(SimaiServingOptions& options) {
  if (!options.trace) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(*options.trace));
  ASTRA_ASSIGN_OR_RETURN(
      RequestTrace trace,
      ParseRequestTrace(*options.trace, contents,
                        {.max_requests = options.requests,
                         .max_tokens = LongestOf(options.job.model)},
                        &options.warnings));
  options.traced = std::move(trace.requests);
  const auto count = static_cast<int64_t>(options.traced.size());
  if (options.requests > count) {
    options.warnings.push_back(fmt::format("--requests is {}: the trace has {}",
                                           options.requests, count));
  }
  if (options.points.back().in_flight > count) {
    return absl::InvalidArgumentError(fmt::format(
        "--concurrency is {}: expected at most the {} requests of {}",
        options.points.back().in_flight, count, *options.trace));
  }
  const bool has_prefixes = std::any_of(
      options.traced.begin(), options.traced.end(),
      [](const Request& request) { return !request.prefix.hashes.empty(); });
  if (options.job.options.host_blocks > 0 && !has_prefixes) {
    return absl::InvalidArgumentError(fmt::format(
        "--host-kv-gib has no effect: {} does not tell which prompts begin "
        "alike",
        *options.trace));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RequestSource>> SourceOf(
    const SimaiServingOptions& options, const LoadPoint& point) {
  std::unique_ptr<RequestSource> source;
  if (options.trace) {
    source = std::make_unique<ListedRequests>(options.traced);
    return source;
  }
  SyntheticOptions synthetic = options.sessions;
  synthetic.lengths.prompt_tokens = options.prompt_tokens;
  synthetic.lengths.output_tokens = options.output_tokens;
  synthetic.count = options.requests > 0 ? options.requests / synthetic.turns
                                         : kRounds * point.in_flight;
  synthetic.seed = options.seed;
  if (point.in_flight > 0) {
    synthetic.arrivals = ArrivalProcess::kAtOnce;
  } else {
    synthetic.per_second = point.rate;
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
  constexpr std::string_view kOfPlans[] = {"gpus", "pools", "top",
                                           "exhaustive"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kOfPlans, "--plan is not given"));
  ServingJob& job = options.job;
  ASTRA_RETURN_IF_ERROR(Require(flags, "model"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpu-type"));
  ASTRA_ASSIGN_OR_RETURN(job.model,
                         FindModel(*flags.value("model"), &options.warnings));
  ASTRA_ASSIGN_OR_RETURN(job.gpu, FindGpu(*flags.value("gpu-type")));
  ASTRA_RETURN_IF_ERROR(ReadServingLayout(flags, job));
  ASTRA_RETURN_IF_ERROR(ReadEngine(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadLoad(flags, options));
  ASTRA_ASSIGN_OR_RETURN(options.answers,
                         ReadAnswers(flags, options.points.size()));
  ASTRA_ASSIGN_OR_RETURN(options.decode,
                         ReadDecodePool(flags, job, &options.warnings));
  ASTRA_ASSIGN_OR_RETURN(options.fabric, ReadFabricOptions(flags));
  const bool shares_topology = options.decode || options.fabric.load_weights ||
                               options.fabric.fidelity != Fidelity::kClosedForm;
  if (job.layout.num_gpus() == 1 && !shares_topology) {
    constexpr std::string_view kCluster[] = {"topology", "system"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kCluster, "a replica has 1 GPU"));
  }
  job.topology_file = flags.value("topology");
  job.system = flags.value("system");
  job.shares_topology = shares_topology;
  job.is_on_network = options.fabric.fidelity != Fidelity::kClosedForm;
  if (options.decode) {
    options.decode->job.shares_topology = true;
    options.decode->job.is_on_network = job.is_on_network;
    options.decode->job.topology_file = job.topology_file;
    options.decode->job.system = job.system;
  }
  options.writes_steps = flags.has("steps");
  std::string name =
      fmt::format("{}-{}-{}", job.model.name, options.num_gpus(), job.gpu.name);
  std::replace(name.begin(), name.end(), '/', '-');
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
