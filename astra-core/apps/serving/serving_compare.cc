#include "astra-core/apps/serving/serving_compare.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_benchmarks.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_pools.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/csv.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/inference_engines/engine_file.h"
#include "fmt/core.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr int64_t kMostNumber = int64_t{1} << 24;

// One row, with what was assumed because it does not say it.
struct MeasuredPoint {
  std::string model;
  std::string gpu;
  std::string framework;
  std::string precision;
  std::string notes;
  std::string source;
  int64_t replicas = 1;
  ServingLayout layout;  // Without the precision.
  // Replicas that only decode; 0: those above compute prompts and decode.
  int64_t decode_replicas = 0;
  ServingLayout decode_layout;
  BenchmarkLoad load;

  int64_t num_gpus() const {
    return replicas * layout.num_gpus() +
           decode_replicas * decode_layout.num_gpus();
  }
};

// A deployment, ready to serve.
struct Deployment {
  ServingJob job;
  std::unique_ptr<ReplicaTimes> times;
  std::optional<DecodePool> decode;
  std::unique_ptr<ServingCluster> cluster;  // Of `job` and `decode`.
  std::unique_ptr<ServingPools> pools;  // Of `job` and `decode`; does not move.
  std::vector<std::string> assumed;
};

struct Prediction {
  double ttft_ms = 0;
  double tpot_ms = 0;
};

absl::Status LeftOut(const std::string& why) {
  return absl::InvalidArgumentError(why);
}

class PointReader {
 public:
  explicit PointReader(CsvReader& csv) : csv_(csv) {}

  std::string Text(std::string_view name) const {
    const std::optional<size_t> column = csv_.Find(name);
    return column ? csv_.cell(*column).text : "";
  }

  // Returns a whole number such as "2" or "2.0"; `otherwise` for an empty cell.
  absl::StatusOr<int64_t> Integer(std::string_view name,
                                  int64_t otherwise) const {
    const std::string text = Text(name);
    if (text.empty()) return otherwise;
    ASTRA_ASSIGN_OR_RETURN(
        const double value,
        ParseNumber(name, text, 0, static_cast<double>(kMostNumber)));
    if (value >= 1 && std::floor(value) == value) {
      return static_cast<int64_t>(value);
    }
    return LeftOut(fmt::format("{} is {}", name, text));
  }

  absl::StatusOr<MeasuredPoint> Read() const {
    MeasuredPoint point;
    if (Text("mode") == "disagg") {
      ASTRA_RETURN_IF_ERROR(ReadPool("prefill_", point.replicas, point.layout));
      ASTRA_RETURN_IF_ERROR(
          ReadPool("decode_", point.decode_replicas, point.decode_layout));
    } else {
      ASTRA_RETURN_IF_ERROR(ReadLayout("", point.layout));
    }
    point.model = Text("model");
    point.gpu = Text("gpu");
    point.framework = Text("framework");
    point.precision = LowerCase(Text("precision"));
    point.notes = Text("notes");
    point.source = Text("source");
    for (const auto& [name, value] :
         {std::pair{"isl", &point.load.prompt},
          std::pair{"osl", &point.load.output},
          std::pair{"concurrency", &point.load.in_flight}}) {
      ASTRA_ASSIGN_OR_RETURN(*value, Integer(name, 0));
      if (*value == 0) return LeftOut(fmt::format("no {}", name));
    }
    return point;
  }

 private:
  absl::Status ReadLayout(const std::string& prefix,
                          ServingLayout& layout) const {
    for (const auto& [name, value] :
         {std::pair{"tp", &layout.tensor}, std::pair{"pp", &layout.pipeline},
          std::pair{"ep", &layout.expert},
          std::pair{"dp", &layout.attention_ranks}}) {
      ASTRA_ASSIGN_OR_RETURN(*value, Integer(prefix + name, 1));
    }
    if (layout.attention_ranks > 1 &&
        layout.expert != layout.tensor * layout.attention_ranks) {
      return LeftOut("data-parallel attention, and experts not on all ranks");
    }
    return absl::OkStatus();
  }

  // Reads one of the pools of separate GPUs.
  absl::Status ReadPool(const std::string& prefix, int64_t& replicas,
                        ServingLayout& layout) const {
    for (const char* const name : {"workers", "tp"}) {
      if (Text(prefix + name).empty()) {
        return LeftOut(fmt::format(
            "prefill and decode on separate GPUs, without {}{}", prefix, name));
      }
    }
    ASTRA_ASSIGN_OR_RETURN(replicas, Integer(prefix + "workers", 1));
    return ReadLayout(prefix, layout);
  }

  CsvReader& csv_;
};

// Returns a bundled model by its name at Hugging Face, of which the last parts
// ("-Instruct", "-FP8") may tell nothing of the shape.
absl::StatusOr<ModelSpec> ModelOf(const std::string& name) {
  std::string text = name.substr(name.rfind('/') + 1);
  Warnings ignored;
  absl::StatusOr<ModelSpec> model = FindModel(text, &ignored);
  while (!model.ok() && text.rfind('-') != std::string::npos) {
    text.resize(text.rfind('-'));
    absl::StatusOr<ModelSpec> shorter = FindModel(text, &ignored);
    if (shorter.ok()) model = std::move(shorter);
  }
  return model;
}

// The model that is published with experts in MXFP4, and in no other precision.
constexpr std::string_view kMxfp4Model = "gpt-oss-120b";

absl::StatusOr<Precision> PrecisionOf(const MeasuredPoint& point,
                                      std::string_view model) {
  const std::string& name = point.precision;
  if (model == kMxfp4Model) return Precision::kBf16;
  if (name.empty() || name == "bf16" || name == "fp16") return Precision::kBf16;
  if (name == "fp8") {
    const bool is_block = point.notes.find("fp8_block") != std::string::npos;
    return is_block ? Precision::kFp8Block : Precision::kFp8;
  }
  if (name == "fp4" || name == "nvfp4") return Precision::kNvfp4;
  return LeftOut(fmt::format("precision {}", name));
}

// Loads an engine such as "vllm 0.12.0".
absl::StatusOr<InferenceEngine> EngineOf(const std::string& text,
                                         std::vector<std::string>& assumed) {
  const size_t blank = text.find(' ');
  const std::string name = text.substr(0, blank);
  const std::string release =
      blank == std::string::npos ? "" : text.substr(blank + 1);
  if (release.empty()) {
    assumed.emplace_back("newest release");
    return LoadInferenceEngine(name);
  }
  return LoadInferenceEngine(fmt::format("{}@{}", name, release));
}

// Checks that a model can be laid out in a way.
absl::Status CheckRanks(const ModelSpec& model, const ServingLayout& layout) {
  if (layout.attention_ranks == 1 || model.experts) return absl::OkStatus();
  return LeftOut(fmt::format("dp {}, and no experts", layout.attention_ranks));
}

// Sets up the engine of a pool as the benchmark did, and finds the blocks that
// this leaves room for.
absl::Status SetUp(const MeasuredPoint& point, ServingJob& job) {
  ASTRA_RETURN_IF_ERROR(UseFacts(job));
  SetUpEngine(point.source, point.load, point.framework, job.options);
  ASTRA_ASSIGN_OR_RETURN(
      const CacheRoom room,
      RoomForCache(job.model, job.layout, job.engine.serving, MemoryOf(job.gpu),
                   {.step_tokens = job.options.max_batched_tokens,
                    .frees_windows = job.scheduler->frees_windows}));
  UseRoom(room, &job.options);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Deployment>> DeploymentOf(
    const MeasuredPoint& point) {
  auto deployment = std::make_unique<Deployment>();
  ServingJob& job = deployment->job;
  ASTRA_ASSIGN_OR_RETURN(job.model, ModelOf(point.model));
  ASTRA_ASSIGN_OR_RETURN(job.gpu, FindGpu(point.gpu));
  ASTRA_ASSIGN_OR_RETURN(job.engine,
                         EngineOf(point.framework, deployment->assumed));
  ASTRA_RETURN_IF_ERROR(CheckRanks(job.model, point.layout));
  ASTRA_RETURN_IF_ERROR(CheckRanks(job.model, point.decode_layout));
  job.layout = point.layout;
  job.replicas = point.replicas;
  ASTRA_ASSIGN_OR_RETURN(job.layout.precision,
                         PrecisionOf(point, job.model.name));
  if (point.precision.empty()) deployment->assumed.emplace_back("bf16");
  if (job.model.name == kMxfp4Model) {
    job.layout.mxfp4_experts = true;
    deployment->assumed.emplace_back("experts in MXFP4, as published");
  }
  job.layout.fp8_cache = HasFp8Cache(point.source, point.framework) &&
                         job.layout.precision != Precision::kBf16;
  if (job.layout.fp8_cache) deployment->assumed.emplace_back("FP8 cache");
  ASTRA_RETURN_IF_ERROR(SetUp(point, job));
  Warnings ignored;
  ASTRA_ASSIGN_OR_RETURN(deployment->times,
                         ReplicaTimes::Create(job, &ignored));
  if (point.decode_replicas == 0) return deployment;
  ServingJob decode = job;
  decode.replicas = point.decode_replicas;
  decode.layout.tensor = point.decode_layout.tensor;
  decode.layout.attention_ranks = point.decode_layout.attention_ranks;
  decode.layout.pipeline = point.decode_layout.pipeline;
  decode.layout.expert = point.decode_layout.expert;
  ASTRA_RETURN_IF_ERROR(SetUp(point, decode));
  deployment->decode.emplace(DecodePool{.job = std::move(decode)});
  ASTRA_ASSIGN_OR_RETURN(deployment->cluster,
                         ServingCluster::Create(job, &*deployment->decode));
  ASTRA_ASSIGN_OR_RETURN(deployment->pools,
                         ServingPools::Create(job, *deployment->decode,
                                              *deployment->cluster, &ignored));
  return deployment;
}

absl::StatusOr<Prediction> Predict(const MeasuredPoint& point,
                                   Deployment& deployment) {
  ServingJob& job = deployment.job;
  ASTRA_RETURN_IF_ERROR(SetUp(point, job));
  if (deployment.decode) {
    ASTRA_RETURN_IF_ERROR(SetUp(point, deployment.decode->job));
  }
  ListedRequests requests(RequestsOfBenchmark(point.source, point.load));
  std::optional<DecodeSide> decode;
  if (deployment.pools != nullptr) decode.emplace(deployment.pools->Side());
  ASTRA_ASSIGN_OR_RETURN(
      const ServingRun run,
      RunServing(job, *deployment.times,
                 {.source = &requests, .in_flight = point.load.in_flight},
                 {.decode = decode ? &*decode : nullptr}));
  if (decode) ASTRA_RETURN_IF_ERROR(deployment.pools->status());
  constexpr double kMsPerPs = 1e-9;
  return Prediction{kMsPerPs * run.summary.ttft.mean,
                    kMsPerPs * run.summary.tpot.mean};
}

// Returns the error of `predicted` in percent; empty if nothing was measured.
std::string ErrorOf(double predicted, const std::string& measured) {
  const absl::StatusOr<double> value = ParseNumber("time", measured, 0, 1e12);
  if (!value.ok() || *value <= 0) return "";
  return fmt::format("{:.2f}", 100 * (predicted / *value - 1));
}

std::string KeyOf(int64_t replicas, const ServingLayout& layout) {
  return fmt::format("{}x{}.{}.{}.{}", replicas, layout.tensor,
                     layout.attention_ranks, layout.pipeline, layout.expert);
}

class Comparer {
 public:
  explicit Comparer(const PointLimits& limits) : limits_(limits) {}

  // Appends the columns of a prediction to `line`. Returns whether there is
  // one.
  bool Append(const PointReader& reader, std::string& line) {
    const absl::StatusOr<MeasuredPoint> point = reader.Read();
    std::vector<std::string> assumed;
    const absl::StatusOr<Prediction> prediction =
        point.ok() ? PredictPoint(*point, assumed) : point.status();
    if (!prediction.ok()) {
      line += fmt::format(",,,,,,{}\n",
                          CsvField("not predicted: " +
                                   std::string(prediction.status().message())));
      return false;
    }
    const double seconds =
        1e-3 *
        (prediction->ttft_ms +
         prediction->tpot_ms * static_cast<double>(point->load.output - 1));
    const double rate =
        static_cast<double>(point->load.in_flight * point->load.output) /
        seconds / static_cast<double>(point->num_gpus());
    std::string status = "ok";
    for (size_t i = 0; i < assumed.size(); ++i) {
      status += (i == 0 ? ": assumed " : ", ") + assumed[i];
    }
    const bool has_tpot = point->load.output > 1;
    line += fmt::format(
        ",{:.3f},{},{:.2f},{},{},{}\n", prediction->ttft_ms,
        has_tpot ? fmt::format("{:.4f}", prediction->tpot_ms) : "", rate,
        ErrorOf(prediction->ttft_ms, reader.Text("ttft_ms")),
        has_tpot ? ErrorOf(prediction->tpot_ms, reader.Text("tpot_ms")) : "",
        CsvField(status));
    return true;
  }

 private:
  absl::StatusOr<Prediction> PredictPoint(const MeasuredPoint& point,
                                          std::vector<std::string>& assumed) {
    const std::string key = fmt::format(
        "{}|{}|{}|{}|{}|{}|{}", point.model, point.gpu, point.framework,
        point.precision, point.notes.find("fp8_block") != std::string::npos,
        KeyOf(point.replicas, point.layout),
        KeyOf(point.decode_replicas, point.decode_layout));
    const auto [entry, is_new] =
        deployments_.try_emplace(key, absl::UnknownError("not made yet"));
    if (is_new) entry->second = DeploymentOf(point);
    if (!entry->second.ok()) return entry->second.status();
    if (kRounds * point.load.in_flight > limits_.requests ||
        kRounds * point.load.output > limits_.output_tokens) {
      return LeftOut(fmt::format(
          "{} x concurrency {} and osl {}: expected at most {} requests and {} "
          "tokens after one another",
          kRounds, point.load.in_flight, point.load.output, limits_.requests,
          limits_.output_tokens));
    }
    Deployment& deployment = **entry->second;
    assumed = deployment.assumed;
    return Predict(point, deployment);
  }

  PointLimits limits_;
  std::map<std::string, absl::StatusOr<std::unique_ptr<Deployment>>>
      deployments_;
};

}  // namespace

absl::StatusOr<ServingComparison> CompareServing(std::string_view file,
                                                 std::string_view contents,
                                                 const PointLimits& limits) {
  CsvReader csv(file, contents);
  for (const std::string_view name :
       {"model", "gpu", "tp", "framework", "isl", "osl", "concurrency"}) {
    csv.Column(name);
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  ServingComparison comparison;
  for (const CsvCell& cell : csv.header()) {
    comparison.csv += CsvField(cell.text) + ",";
  }
  comparison.csv +=
      "predicted_ttft_ms,predicted_tpot_ms,predicted_throughput_tok_s_gpu,"
      "ttft_error_pct,tpot_error_pct,status\n";
  Comparer comparer(limits);
  const PointReader reader(csv);
  while (csv.NextRow()) {
    std::string line;
    for (size_t i = 0; i < csv.header().size(); ++i) {
      line += (i > 0 ? "," : "") + CsvField(csv.cell(i).text);
    }
    ++comparison.rows;
    if (comparer.Append(reader, line)) ++comparison.predicted;
    comparison.csv += line;
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return comparison;
}

}  // namespace astra
