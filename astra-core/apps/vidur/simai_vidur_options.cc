#include "astra-core/apps/vidur/simai_vidur_options.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/vidur/vidur_option_table.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMostFactor = 1e6;
constexpr std::string_view kPredictor =
    "random-forrest-execution-time-predictor-config-";

// Reads the options of one part of the configuration.
class PartReader {
 public:
  PartReader(const CommandLine& flags, std::string_view prefix)
      : flags_(flags), prefix_(prefix) {}

  std::string NameOf(std::string_view field) const {
    return fmt::format("{}{}", prefix_, field);
  }

  PartReader& Integer(std::string_view field, int64_t* value, int64_t min = 1) {
    if (!status_.ok()) return *this;
    const auto read = flags_.integer(NameOf(field), *value, min, kMostCount);
    status_ = read.status();
    if (read.ok()) *value = *read;
    return *this;
  }

  PartReader& Number(std::string_view field, double* value,
                     double max = kMostFactor, bool may_be_zero = true) {
    if (!status_.ok()) return *this;
    const auto read = flags_.number(NameOf(field), *value, max);
    status_ = read.status();
    if (!read.ok()) return *this;
    if (*read == 0 && !may_be_zero && flags_.has(NameOf(field))) {
      status_ = absl::InvalidArgumentError(
          fmt::format("--{} is 0: expected more", NameOf(field)));
    }
    *value = *read;
    return *this;
  }

  PartReader& Seed(std::string_view field, uint32_t* value) {
    if (!status_.ok()) return *this;
    const auto read = flags_.integer(NameOf(field), *value, 0,
                                     std::numeric_limits<uint32_t>::max());
    status_ = read.status();
    if (read.ok()) *value = static_cast<uint32_t>(*read);
    return *this;
  }

  const absl::Status& status() const { return status_; }

 private:
  const CommandLine& flags_;
  std::string_view prefix_;
  absl::Status status_;
};

std::string WithHyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// Refuses the options of each of `names` but the chosen one.
absl::Status RefuseOthers(const CommandLine& flags,
                          absl::Span<const std::string_view> names,
                          size_t chosen, std::string_view suffix,
                          std::string_view type_option) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == chosen) continue;
    ASTRA_RETURN_IF_ERROR(
        RefuseOptionsOf(flags, WithHyphens(names[i]) + std::string(suffix),
                        fmt::format("--{} is {}", type_option, names[chosen])));
  }
  return absl::OkStatus();
}

absl::Status ReadReplica(const CommandLine& flags, SimaiVidurOptions& options) {
  VidurReplica& replica = options.replica;
  ASTRA_ASSIGN_OR_RETURN(
      replica.model, FindVidurModel(flags.value("replica-config-model-name")
                                        .value_or("meta-llama/Llama-2-7b-hf")));
  ASTRA_ASSIGN_OR_RETURN(
      replica.device,
      FindVidurDevice(flags.value("replica-config-device").value_or("a100")));
  ASTRA_RETURN_IF_ERROR(
      PartReader(flags, "replica-config-")
          .Integer("tensor-parallel-size", &replica.tensor)
          .Integer("num-pipeline-stages", &replica.stages)
          .Number("memory-margin-fraction", &replica.memory_margin, 1)
          .status());
  ASTRA_RETURN_IF_ERROR(CheckVidurReplica(replica));
  constexpr std::string_view kNetwork = "replica-config-network-device";
  if (replica.tensor * replica.stages == 1 && !options.has_host_time) {
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&kNetwork, 1}, "a replica has 1 GPU"));
  }
  options.network_device =
      flags.value(kNetwork).value_or("a100_pairwise_nvlink");
  if (replica.stages > 1) {
    options.warnings.push_back(fmt::format(
        "a replica works on one batch at a time; Vidur keeps {} in its stages, "
        "so that it serves more requests",
        replica.stages));
  }
  constexpr std::string_view kReplicas = "cluster-config-num-replicas";
  ASTRA_ASSIGN_OR_RETURN(options.replicas,
                         flags.integer(kReplicas, 1, 1, kMostCount));
  constexpr std::string_view kRouter = "global-scheduler-config-type";
  if (options.replicas == 1) {
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&kRouter, 1}, "there is 1 replica"));
  }
  ASTRA_ASSIGN_OR_RETURN(const size_t router,
                         Choice(flags, kRouter, 0, kVidurRouters));
  ASTRA_ASSIGN_OR_RETURN(options.router, FindRouter(kRoutersOfVidur[router]));
  constexpr std::string_view kSeed = "seed";
  if (kVidurRouters[router] != "random") {
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, {&kSeed, 1},
               "of requests it is --synthetic_request_generator_config_seed"));
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t seed,
                         flags.integer(kSeed, 42, 0, kMostCount));
  options.seed = static_cast<uint64_t>(seed);
  return absl::OkStatus();
}

absl::Status ReadIntervals(const CommandLine& flags, VidurLoad& load) {
  constexpr std::string_view kType = "interval-generator-config-type";
  ASTRA_ASSIGN_OR_RETURN(const size_t type,
                         Choice(flags, kType, 0, kVidurIntervals));
  load.intervals = static_cast<VidurIntervals>(type);
  constexpr std::string_view kSuffix = "-request-interval-generator-config-";
  ASTRA_RETURN_IF_ERROR(
      RefuseOthers(flags, kVidurIntervals, type, kSuffix, kType));
  const std::string prefix =
      fmt::format("{}{}", kVidurIntervals[type], kSuffix);
  constexpr double kGammaQps = 0.2;
  constexpr double kMostCv = 30;
  if (load.intervals == VidurIntervals::kGamma) load.qps = kGammaQps;
  return PartReader(flags, prefix)
      .Number("qps", &load.qps, 1e9, false)
      .Number("cv", &load.cv, kMostCv)
      .status();
}

absl::Status ReadLengths(const CommandLine& flags, SimaiVidurOptions& options) {
  VidurLoad& load = options.load;
  constexpr std::string_view kType = "length-generator-config-type";
  ASTRA_ASSIGN_OR_RETURN(const size_t type,
                         Choice(flags, kType, 0, kVidurLengths));
  load.lengths = static_cast<VidurLengths>(type);
  constexpr std::string_view kSuffix = "-request-length-generator-config-";
  ASTRA_RETURN_IF_ERROR(
      RefuseOthers(flags, kVidurLengths, type, kSuffix, kType));
  const std::string prefix = fmt::format("{}{}", kVidurLengths[type], kSuffix);
  if (load.lengths == VidurLengths::kTrace) {
    const std::string name = prefix + "trace-file";
    ASTRA_RETURN_IF_ERROR(Require(flags, name));
    options.trace_file = *flags.value(name);
  }
  ASTRA_RETURN_IF_ERROR(
      PartReader(flags, prefix)
          .Integer("prefill-tokens", &load.prefill_tokens)
          .Integer("decode-tokens", &load.decode_tokens)
          .Integer("min-tokens", &load.min_tokens, 2)
          .Integer("max-tokens", &load.max_tokens, 2)
          .Number("prefill-to-decode-ratio", &load.prefill_to_decode)
          .Number("theta", &load.theta, 0.99)
          .Number("prefill-scale-factor", &load.prefill_scale)
          .Number("decode-scale-factor", &load.decode_scale)
          .Seed("seed", &load.order_seed)
          .status());
  const bool is_range = load.lengths == VidurLengths::kUniform ||
                        load.lengths == VidurLengths::kZipf;
  if (is_range && load.max_tokens < load.min_tokens) {
    return absl::InvalidArgumentError(
        fmt::format("--{}max-tokens is {}: expected at least the {} of "
                    "min-tokens",
                    prefix, load.max_tokens, load.min_tokens));
  }
  const int64_t fixed = load.prefill_tokens + load.decode_tokens;
  if (load.lengths == VidurLengths::kFixed && fixed > load.max_tokens) {
    return absl::InvalidArgumentError(
        fmt::format("--{}max-tokens is {}: expected at least the {} of prompt "
                    "and output",
                    prefix, load.max_tokens, fixed));
  }
  return absl::OkStatus();
}

absl::Status ReadLoad(const CommandLine& flags, SimaiVidurOptions& options) {
  VidurLoad& load = options.load;
  constexpr std::string_view kType = "request-generator-config-type";
  constexpr std::string_view kTypes[] = {"synthetic", "trace_replay"};
  ASTRA_ASSIGN_OR_RETURN(const size_t type, Choice(flags, kType, 0, kTypes));
  options.replays = type == 1;
  if (options.replays) {
    const std::string why = fmt::format("--{} is trace_replay", kType);
    for (const std::string_view prefix :
         {"synthetic-", "interval-", "length-", "poisson-", "gamma-", "fixed-",
          "uniform-", "zipf-", "trace-request-length-"}) {
      ASTRA_RETURN_IF_ERROR(RefuseOptionsOf(flags, prefix, why));
    }
    const std::string name = "trace-request-generator-config-trace-file";
    ASTRA_RETURN_IF_ERROR(Require(flags, name));
    options.trace_file = *flags.value(name);
    return PartReader(flags, "trace-request-generator-config-")
        .Integer("max-tokens", &load.max_tokens, 2)
        .Number("prefill-scale-factor", &load.prefill_scale)
        .Number("decode-scale-factor", &load.decode_scale)
        .Number("time-scale-factor", &load.time_scale)
        .status();
  }
  ASTRA_RETURN_IF_ERROR(
      RefuseOptionsOf(flags, "trace-request-generator-config-",
                      fmt::format("--{} is synthetic", kType)));
  const std::string prefix = "synthetic-request-generator-config-";
  ASTRA_RETURN_IF_ERROR(PartReader(flags, prefix)
                            .Integer("num-requests", &load.count)
                            .Number("duration", &load.duration_s, 1e6, false)
                            .Seed("seed", &load.seed)
                            .status());
  if (load.duration_s > 0) {
    ASTRA_RETURN_IF_ERROR(
        RefuseOptionsOf(flags, prefix + "num-requests",
                        fmt::format("--{}duration is given", prefix)));
  }
  ASTRA_RETURN_IF_ERROR(ReadIntervals(flags, load));
  if (load.duration_s > 0 && load.intervals == VidurIntervals::kStatic) {
    return absl::InvalidArgumentError(
        fmt::format("--{}duration: static requests all arrive at 0", prefix));
  }
  return ReadLengths(flags, options);
}

absl::Status ReadScheduler(const CommandLine& flags,
                           SimaiVidurOptions& options) {
  constexpr std::string_view kType = "replica-scheduler-config-type";
  ASTRA_ASSIGN_OR_RETURN(const size_t type,
                         Choice(flags, kType, 0, kVidurSchedulers));
  constexpr std::string_view kSuffix = "-scheduler-config-";
  ASTRA_RETURN_IF_ERROR(
      RefuseOthers(flags, kVidurSchedulers, type, kSuffix, kType));
  ASTRA_ASSIGN_OR_RETURN(options.scheduler,
                         FindScheduler(kSchedulersOfVidur[type]));
  BatchingOptions& batching = options.batching;
  batching = options.scheduler->defaults;
  batching.max_sequence_tokens = options.load.max_tokens;
  const std::string prefix =
      WithHyphens(kVidurSchedulers[type]) + std::string(kSuffix);
  ASTRA_RETURN_IF_ERROR(
      PartReader(flags, prefix)
          .Integer("batch-size-cap", &batching.max_sequences)
          .Integer("block-size", &batching.block_tokens)
          .Number("watermark-blocks-fraction", &batching.watermark, 1)
          .Integer("num-blocks", &batching.num_blocks, 0)
          .Integer("chunk-size", &batching.chunk_tokens)
          .Integer("max-tokens-in-batch", &batching.max_batched_tokens)
          .Integer("max-waiting-iters", &batching.max_waiting_steps, 0)
          .status());
  options.replica.block_tokens = batching.block_tokens;
  if (batching.num_blocks > 0) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(batching.num_blocks,
                         VidurBlocks(options.replica, options.load.max_tokens));
  return absl::OkStatus();
}

// Checks a size against a limit of the predictor, for which Vidur tabulates its
// forests.
absl::Status CheckLimit(const CommandLine& flags, std::string_view field,
                        int64_t otherwise, std::string_view what,
                        int64_t size) {
  int64_t limit = otherwise;
  const PartReader reader(flags, kPredictor);
  ASTRA_RETURN_IF_ERROR(
      PartReader(flags, kPredictor).Integer(field, &limit).status());
  if (size <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} of {}: --{} is {}, expected as many", what, size,
                  reader.NameOf(field), limit));
}

absl::Status ReadPredictor(const CommandLine& flags,
                           SimaiVidurOptions& options) {
  constexpr std::string_view kTypes[] = {"random_forrest"};
  ASTRA_RETURN_IF_ERROR(
      Choice(flags, "execution-time-predictor-config-type", 0, kTypes)
          .status());
  VidurPredictorOptions& predictor = options.predictor;
  ASTRA_RETURN_IF_ERROR(
      PartReader(flags, kPredictor)
          .Integer("kv-cache-prediction-granularity", &predictor.kv_granularity)
          .Number("attention-decode-batching-overhead-fraction",
                  &predictor.decode_overhead)
          .Number("attention-prefill-batching-overhead-fraction",
                  &predictor.prefill_overhead)
          .Number("nccl-cpu-launch-overhead-ms", &predictor.nccl_launch_ms)
          .Number("nccl-cpu-skew-overhead-per-device-ms",
                  &predictor.nccl_skew_ms)
          .status());
  constexpr int64_t kTokens = 4096;
  constexpr int64_t kSequences = 128;
  ASTRA_RETURN_IF_ERROR(CheckLimit(flags, "prediction-max-tokens-per-request",
                                   kTokens, "requests",
                                   options.load.max_tokens));
  ASTRA_RETURN_IF_ERROR(CheckLimit(flags, "prediction-max-batch-size",
                                   kSequences, "a batch size cap",
                                   options.batching.max_sequences));
  const int64_t chunk = options.scheduler->name == "sarathi"
                            ? options.batching.chunk_tokens
                            : options.load.max_tokens;
  return CheckLimit(flags, "prediction-max-prefill-chunk-size", kTokens,
                    "chunks", chunk);
}

// Replaces the first `name` in `path`.
void Insert(std::string_view name, std::string_view value, std::string* path) {
  const size_t at = path->find(name);
  if (at != std::string::npos) path->replace(at, name.size(), value);
}

// Returns the path of a table, with the names of the replica in it.
std::string PathOf(const CommandLine& flags, const SimaiVidurOptions& options,
                   std::string_view field, std::string_view otherwise) {
  const std::string folder = flags.value("profiles").value_or("data/profiling");
  std::string path = flags.value(PartReader(flags, kPredictor).NameOf(field))
                         .value_or(fmt::format("{}/{}", folder, otherwise));
  Insert("{DEVICE}", options.replica.device.name, &path);
  Insert("{MODEL}", options.replica.model.name, &path);
  Insert("{NETWORK_DEVICE}", options.network_device, &path);
  return path;
}

// Chooses the tables that the replica needs.
absl::Status ReadTables(const CommandLine& flags, SimaiVidurOptions& options) {
  struct Source {
    VidurTable table;
    std::string_view field;
    std::string_view otherwise;
    bool is_needed;
    std::string_view why;
  };
  const VidurReplica& replica = options.replica;
  const Source sources[] = {
      {VidurTable::kCompute, "compute-input-file",
       "compute/{DEVICE}/{MODEL}/mlp.csv", true, ""},
      {VidurTable::kAttention, "attention-input-file",
       "compute/{DEVICE}/{MODEL}/attention.csv", true, ""},
      {VidurTable::kAllReduce, "all-reduce-input-file",
       "network/{NETWORK_DEVICE}/all_reduce.csv", replica.tensor > 1,
       "tensor parallelism is 1"},
      {VidurTable::kSendRecv, "send-recv-input-file",
       "network/{NETWORK_DEVICE}/send_recv.csv", replica.stages > 1,
       "there is 1 stage"},
      {VidurTable::kCpuOverhead, "cpu-overhead-input-file",
       "cpu_overhead/{NETWORK_DEVICE}/{MODEL}/cpu_overheads.csv",
       options.has_host_time, "the host takes no time"}};
  for (const Source& source : sources) {
    if (!source.is_needed) {
      ASTRA_RETURN_IF_ERROR(RefuseOptionsOf(
          flags, PartReader(flags, kPredictor).NameOf(source.field),
          source.why));
      continue;
    }
    options.tables[static_cast<size_t>(source.table)] =
        PathOf(flags, options, source.field, source.otherwise);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimaiVidurOptions> ReadSimaiVidurOptions(
    const CommandLine& flags) {
  SimaiVidurOptions options;
  options.has_host_time = flags.has(
      "no-random-forrest-execution-time-predictor-config-skip-cpu-overhead-"
      "modeling");
  ASTRA_RETURN_IF_ERROR(ReadReplica(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadLoad(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadScheduler(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadPredictor(flags, options));
  ASTRA_RETURN_IF_ERROR(ReadTables(flags, options));
  options.output =
      flags.value("metrics-config-output-dir").value_or("simulator_output");
  if (options.output.empty()) {
    return absl::InvalidArgumentError(
        "--metrics-config-output-dir is empty: expected a folder");
  }
  return options;
}

}  // namespace astra
