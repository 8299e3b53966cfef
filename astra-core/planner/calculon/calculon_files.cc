#include "astra-core/planner/calculon/calculon_files.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/planner/calculon/calculon_rules.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 31;  // Of a whole number.
constexpr int64_t kMostParallel = 1 << 20;       // Of ranks in one dimension.
constexpr double kMostNumber = 1e15;
// Least rate or factor that counts as one; smaller ones make times infinite.
constexpr double kLeastFactor = 1e-9;

constexpr std::string_view kApplicationKeys[] = {"hidden",    "feedforward",
                                                 "seq_size",  "attn_heads",
                                                 "attn_size", "num_blocks"};
constexpr std::string_view kExecutionKeys[] = {"num_procs",
                                               "tensor_par",
                                               "pipeline_par",
                                               "data_par",
                                               "tensor_par_net",
                                               "pipeline_par_net",
                                               "data_par_net",
                                               "batch_size",
                                               "microbatch_size",
                                               "datatype",
                                               "fused_activation",
                                               "attention_type",
                                               "activation_recompute",
                                               "pipeline_interleaving",
                                               "optimizer_sharding",
                                               "tensor_par_comm_type",
                                               "tensor_par_overlap",
                                               "seq_par_ag_redo",
                                               "data_par_overlap",
                                               "weight_offload",
                                               "activations_offload",
                                               "optimizer_offload",
                                               "training"};
constexpr std::string_view kSystemKeys[] = {
    "matrix", "vector", "mem1", "mem2", "processing_mode", "networks"};
constexpr std::string_view kEngineKeys[] = {"tflops", "gflops_efficiency"};
constexpr std::string_view kMemoryKeys[] = {"GiB", "GBps", "MB_efficiency"};
constexpr std::string_view kNetworkKeys[] = {
    "bandwidth", "efficiency",     "size",           "latency",
    "ops",       "must_be_filled", "processor_usage"};

// Number formats with the bytes of an element.
constexpr std::pair<std::string_view, double> kDatatypes[] = {
    {"float8", 1}, {"float16", 2}, {"float32", 4}, {"bfloat16", 2}};

// Warns of keys other than `known`.
void WarnOfOthers(std::string_view file, YamlFields& fields,
                  absl::Span<const std::string_view> known,
                  Warnings* warnings) {
  for (const std::string& key : fields.keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const YamlValue& value = *fields.Value(key);
    warnings->push_back(fmt::format(
        "{}:{}:{}: {} is not a key of Calculon and left out{}", file,
        value.line, value.column, Quoted(key), DidYouMean(key, known)));
  }
}

int64_t Count(YamlFields& fields, std::string_view key,
              int64_t max = kMostSize) {
  return fields.Integer(key, 1, max);
}

double Positive(YamlFields& fields, std::string_view key,
                double max = kMostNumber) {
  return fields.Number(key, kLeastFactor, max);
}

// Reads a field that must be there and is a mapping.
YamlFields Part(YamlFields& fields, std::string_view key,
                std::string_view what) {
  if (!fields.has(key)) {
    fields.Error(key, fmt::format("{} has no \"{}\"", what, key));
  }
  return fields.Map(key, key);
}

absl::StatusOr<CalculonApplication> ReadApplication(const CalculonFile& file,
                                                    Warnings* warnings) {
  YamlDocument document(file.name, file.contents);
  YamlFields fields = document.Root("the application");
  WarnOfOthers(file.name, fields, kApplicationKeys, warnings);
  CalculonApplication application;
  application.hidden = Count(fields, "hidden");
  application.feedforward = Count(fields, "feedforward");
  application.seq_size = Count(fields, "seq_size");
  application.attn_heads = Count(fields, "attn_heads");
  application.attn_size = Count(fields, "attn_size");
  application.num_blocks = Count(fields, "num_blocks");
  ASTRA_RETURN_IF_ERROR(document.status());
  return application;
}

template <typename Choice>
Choice ReadChoice(YamlFields& fields, std::string_view key,
                  absl::Span<const std::string_view> names) {
  return static_cast<Choice>(fields.Choice(key, names));
}

void ReadSizes(YamlFields& fields, CalculonExecution& execution) {
  constexpr int64_t kMostNetworks = 1'000;
  execution.num_procs = Count(fields, "num_procs");
  execution.tensor_par = Count(fields, "tensor_par", kMostParallel);
  execution.pipeline_par = Count(fields, "pipeline_par", kMostParallel);
  execution.data_par = Count(fields, "data_par", kMostParallel);
  const auto network = [&](std::string_view key) {
    return static_cast<size_t>(fields.Integer(key, 0, kMostNetworks));
  };
  execution.tensor_par_net = network("tensor_par_net");
  execution.pipeline_par_net = network("pipeline_par_net");
  execution.data_par_net = network("data_par_net");
  execution.batch_size = Count(fields, "batch_size");
  execution.microbatch_size = Count(fields, "microbatch_size");
  execution.pipeline_interleaving = Count(fields, "pipeline_interleaving");
}

CalculonExecution ReadExecution(YamlFields& fields) {
  constexpr std::string_view kAttentions[] = {"multihead", "multiquery"};
  constexpr std::string_view kRecomputes[] = {"full", "attn_only", "none"};
  constexpr std::string_view kComms[] = {"ar", "p2p_rs_ag", "rs_ag"};
  constexpr std::string_view kOverlaps[] = {"none", "ring", "pipe"};
  std::string_view datatypes[std::size(kDatatypes)];
  for (size_t i = 0; i < std::size(kDatatypes); ++i) {
    datatypes[i] = kDatatypes[i].first;
  }
  CalculonExecution execution;
  ReadSizes(fields, execution);
  const auto& [datatype, bytes] =
      kDatatypes[fields.Choice("datatype", datatypes)];
  execution.datatype = datatype;
  execution.bytes_per_element = bytes;
  execution.fused_activation = fields.Bool("fused_activation");
  execution.attention_type =
      ReadChoice<CalculonAttention>(fields, "attention_type", kAttentions);
  execution.activation_recompute = ReadChoice<CalculonRecompute>(
      fields, "activation_recompute", kRecomputes);
  execution.optimizer_sharding = fields.Bool("optimizer_sharding");
  execution.tensor_par_comm_type =
      ReadChoice<CalculonTensorComm>(fields, "tensor_par_comm_type", kComms);
  execution.tensor_par_overlap = ReadChoice<CalculonTensorOverlap>(
      fields, "tensor_par_overlap", kOverlaps);
  execution.seq_par_ag_redo = fields.Bool("seq_par_ag_redo");
  execution.data_par_overlap = fields.Bool("data_par_overlap");
  execution.weight_offload = fields.Bool("weight_offload");
  execution.activations_offload = fields.Bool("activations_offload");
  execution.optimizer_offload = fields.Bool("optimizer_offload");
  execution.training = fields.Bool("training");
  return execution;
}

// Reads a system. The datatype decides which of the rates count; all are
// checked.
class SystemReader {
 public:
  SystemReader(const CalculonFile& file, std::string_view datatype,
               Warnings* warnings)
      : file_(file.name),
        datatype_(datatype),
        warnings_(warnings),
        document_(file.name, file.contents) {}

  absl::StatusOr<CalculonSystem> Read() {
    YamlFields fields = document_.Root("the system");
    WarnOfOthers(file_, fields, kSystemKeys, warnings_);
    CalculonSystem system;
    system.matrix = ReadEngine(fields, "matrix");
    system.vector = ReadEngine(fields, "vector");
    system.mem1 = ReadMemory(fields, "mem1");
    system.mem2 = ReadMemory(fields, "mem2");
    constexpr std::string_view kModes[] = {"no_overlap", "roofline"};
    system.overlaps_memory = fields.Choice("processing_mode", kModes) == 1;
    for (YamlFields& network : fields.Maps("networks", "a network")) {
      system.networks.push_back(ReadNetwork(network));
    }
    if (system.networks.empty()) {
      fields.Error("networks", "the system has no \"networks\"");
    }
    ASTRA_RETURN_IF_ERROR(document_.status());
    return system;
  }

 private:
  CalculonRate ReadEngine(YamlFields& system, std::string_view key) {
    constexpr double kTera = 1e12;
    constexpr double kGiga = 1e9;
    YamlFields engine = Part(system, key, "the system");
    CalculonRate rate;
    for (const std::string& datatype : engine.keys()) {
      YamlFields fields = engine.Map(datatype, datatype);
      WarnOfOthers(file_, fields, kEngineKeys, warnings_);
      CalculonRate one;
      one.peak = Positive(fields, "tflops") * kTera;
      one.steps = ReadSteps(fields, "gflops_efficiency", kGiga);
      if (datatype == datatype_) rate = std::move(one);
    }
    if (rate.steps.empty()) {
      const std::vector<std::string> keys = engine.keys();
      const std::vector<std::string_view> names(keys.begin(), keys.end());
      system.Error(key, fmt::format("{}: {}", key,
                                    UnknownName("datatype", datatype_, names)));
    }
    return rate;
  }

  CalculonMemory ReadMemory(YamlFields& system, std::string_view key) {
    constexpr double kGiga = 1e9;
    constexpr double kMega = 1e6;
    YamlFields fields = Part(system, key, "the system");
    WarnOfOthers(file_, fields, kMemoryKeys, warnings_);
    CalculonMemory memory;
    memory.capacity = fields.Number("GiB", 0, kMostNumber) * kBytesPerGib;
    memory.rate.peak = Positive(fields, "GBps") * kGiga;
    memory.rate.steps = ReadSteps(fields, "MB_efficiency", kMega);
    return memory;
  }

  // Reads [[least, efficiency], ...]; `unit` is that of `least`.
  std::vector<CalculonRate::Step> ReadSteps(YamlFields& fields,
                                            std::string_view key, double unit) {
    std::vector<CalculonRate::Step> steps;
    const YamlValue* list = fields.Value(key);
    if (list == nullptr || list->children.empty()) {
      fields.Error(key, fmt::format("expected {} as a list of pairs", key));
      return steps;
    }
    for (const auto& [_, pair] : list->children) {
      CalculonRate::Step step;
      if (pair.kind != YamlValue::Kind::kList || pair.children.size() != 2) {
        document_.Error(
            pair, fmt::format("{}: expected pairs [least, efficiency]", key));
        return steps;
      }
      step.least = Item(key, pair.children[0].value, 0, kMostNumber) * unit;
      step.efficiency = Item(key, pair.children[1].value, kLeastFactor, 1);
      if (!steps.empty() && step.least >= steps.back().least) {
        document_.Error(
            pair, fmt::format("{}: expected steps from the largest to 0", key));
      }
      steps.push_back(step);
    }
    if (steps.back().least > 0) {
      document_.Error(list->children.back().value,
                      fmt::format("{}: the last step begins at {}: expected 0, "
                                  "for the smallest operations",
                                  key, steps.back().least / unit));
    }
    return steps;
  }

  CalculonNetwork ReadNetwork(YamlFields& fields) {
    constexpr double kGiga = 1e9;
    constexpr double kMostLatency = 1e3;
    WarnOfOthers(file_, fields, kNetworkKeys, warnings_);
    CalculonNetwork network;
    network.bandwidth = Positive(fields, "bandwidth") * kGiga;
    network.efficiency = Positive(fields, "efficiency", 1);
    network.size = fields.Integer("size", 0, kMostSize);
    network.latency = fields.Number("latency", 0, kMostLatency);
    network.must_be_filled = fields.Bool("must_be_filled");
    network.processor_usage = fields.Number("processor_usage", 0, 1);
    if (network.processor_usage >= 1) {
      fields.Error("processor_usage", "processor_usage is 1: expected less");
    }
    YamlFields ops = Part(fields, "ops", "a network");
    WarnOfOthers(file_, ops, kCalculonOps, warnings_);
    for (size_t op = 0; op < network.ops.size(); ++op) {
      network.ops[op] = ReadTraffic(ops, static_cast<CalculonOp>(op));
    }
    return network;
  }

  // Reads [scalar, offset]; the offset of a message is null.
  CalculonNetwork::Traffic ReadTraffic(YamlFields& ops, CalculonOp op) {
    constexpr double kMost = 1e6;
    const std::string_view name = kCalculonOps[static_cast<size_t>(op)];
    const bool is_message = op == CalculonOp::kPointToPoint;
    const YamlValue* pair = ops.Value(name);
    CalculonNetwork::Traffic traffic;
    if (pair == nullptr) {
      ops.Error(name, fmt::format("ops has no \"{}\"", name));
      return traffic;
    }
    if (pair->kind != YamlValue::Kind::kList || pair->children.size() != 2 ||
        is_message !=
            (pair->children[1].value.kind == YamlValue::Kind::kNull)) {
      document_.Error(*pair, fmt::format("{}: expected [scalar, {}]", name,
                                         is_message ? "null" : "offset"));
      return traffic;
    }
    traffic.scalar = Item(name, pair->children[0].value, kLeastFactor, kMost);
    if (!is_message) {
      traffic.offset = Item(name, pair->children[1].value, -1, kMost);
    }
    return traffic;
  }

  double Item(std::string_view key, const YamlValue& value, double min,
              double max) {
    const absl::StatusOr<double> number =
        ParseNumber(key, value.text, min, max);
    if (number.ok()) return *number;
    document_.Error(value, std::string(number.status().message()));
    return min;
  }

  std::string_view file_;
  std::string_view datatype_;
  Warnings* warnings_;
  YamlDocument document_;
};

}  // namespace

absl::StatusOr<CalculonInputs> ReadCalculonInputs(
    const CalculonFile& application, const CalculonFile& execution,
    const CalculonFile& system, Warnings* warnings) {
  CalculonInputs inputs;
  ASTRA_ASSIGN_OR_RETURN(inputs.application,
                         ReadApplication(application, warnings));
  YamlDocument document(execution.name, execution.contents);
  YamlFields fields = document.Root("the execution");
  WarnOfOthers(execution.name, fields, kExecutionKeys, warnings);
  inputs.execution = ReadExecution(fields);
  ASTRA_RETURN_IF_ERROR(document.status());
  ASTRA_ASSIGN_OR_RETURN(
      inputs.system,
      SystemReader(system, inputs.execution.datatype, warnings).Read());
  const absl::Status rules = CheckCalculonExecution(inputs);
  if (!rules.ok()) {
    document.ErrorAt(FieldOf(rules), std::string(rules.message()));
  }
  ASTRA_RETURN_IF_ERROR(document.status());
  return inputs;
}

}  // namespace astra
