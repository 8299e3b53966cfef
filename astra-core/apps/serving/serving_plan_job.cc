#include "astra-core/apps/serving/serving_plan_job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/serving/deployment_options.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "workload/models/model_library.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr std::string_view kBeyondMemory = "do not fit into the memory";

// Reads rising numbers such as "1,2,8"; none where the option is not given.
absl::StatusOr<std::vector<int64_t>> ReadSizes(const CommandLine& flags,
                                               std::string_view name) {
  std::vector<int64_t> sizes;
  if (!flags.has(name)) return sizes;
  const std::vector<std::string> items =
      absl::StrSplit(*flags.value(name), ',');
  for (const std::string& item : items) {
    ASTRA_ASSIGN_OR_RETURN(
        const int64_t size,
        ParseInteger(fmt::format("--{}", name), item, 1, kMostPlanGpus));
    if (!sizes.empty() && size <= sizes.back()) {
      return absl::InvalidArgumentError(
          fmt::format("--{} is {}: expected rising numbers, such as 1,2,8",
                      name, *flags.value(name)));
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Refuses options that a plan searches itself, or knows nothing of.
absl::Status RefuseOthers(const CommandLine& flags) {
  constexpr std::string_view kHeeded[] = {"plan",
                                          "model",
                                          "attention-dp",
                                          "gpu-type",
                                          "gpus",
                                          "dtype",
                                          "pools",
                                          "tp",
                                          "pp",
                                          "ep",
                                          "engine",
                                          "scheduler",
                                          "max-num-batched-tokens",
                                          "max-num-seqs",
                                          "gpu-memory-utilization",
                                          "system",
                                          "slo-ttft",
                                          "slo-tpot",
                                          "slo-share",
                                          "trace",
                                          "isl",
                                          "osl",
                                          "requests",
                                          "seed",
                                          "top",
                                          "exhaustive",
                                          "output",
                                          "result"};
  for (const OptionSpec& option : SimaiServingOptionSpecs()) {
    if (std::find(std::begin(kHeeded), std::end(kHeeded), option.name) !=
        std::end(kHeeded)) {
      continue;
    }
    ASTRA_RETURN_IF_ERROR(Refuse(flags, {&option.name, 1}, "--plan is given"));
  }
  return absl::OkStatus();
}

absl::Status ReadPools(const CommandLine& flags, ServingPlanJob& plan) {
  constexpr std::string_view kPools[] = {"both", "shared", "separate"};
  ASTRA_ASSIGN_OR_RETURN(const size_t pools, Choice(flags, "pools", 0, kPools));
  plan.has_shared = pools != 2;
  plan.has_separate = pools != 1;
  return absl::OkStatus();
}

absl::Status ReadSpace(const CommandLine& flags, ServingPlanJob& plan) {
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpus"));
  const IntegerOption gpus[] = {{"gpus", &plan.gpus, kMostPlanGpus}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, gpus));
  ASTRA_RETURN_IF_ERROR(ReadPools(flags, plan));
  ASTRA_ASSIGN_OR_RETURN(plan.tensor, ReadSizes(flags, "tp"));
  ASTRA_ASSIGN_OR_RETURN(plan.pipeline, ReadSizes(flags, "pp"));
  ASTRA_ASSIGN_OR_RETURN(plan.expert, ReadSizes(flags, "ep"));
  ASTRA_ASSIGN_OR_RETURN(plan.attention_ranks,
                         ReadSizes(flags, "attention-dp"));
  if (!plan.job.model.experts) {
    constexpr std::string_view kOfExperts[] = {"ep", "attention-dp"};
    return Refuse(flags, kOfExperts,
                  fmt::format("{} has no experts", plan.job.model.name));
  }
  return absl::OkStatus();
}

// Returns `values` up to `most`, or the powers of two where there are none.
std::vector<int64_t> SizesUpTo(const std::vector<int64_t>& values,
                               int64_t most) {
  std::vector<int64_t> sizes;
  if (values.empty()) {
    for (int64_t size = 1; size <= most; size *= 2) sizes.push_back(size);
    return sizes;
  }
  for (const int64_t size : values) {
    if (size <= most) sizes.push_back(size);
  }
  return sizes;
}

// Returns the values of EP beside TP and ranks of attention.
std::vector<int64_t> ExpertsOf(const ServingPlanJob& job, int64_t tensor,
                               int64_t ranks) {
  const int64_t experts =
      job.job.model.experts ? job.job.model.experts->experts : 1;
  if (ranks == 1) return SizesUpTo(job.expert, std::min(tensor, experts));
  // Ranks of attention spread the experts over all of their GPUs.
  const int64_t all = tensor * ranks;
  const bool is_listed =
      job.expert.empty() ||
      std::find(job.expert.begin(), job.expert.end(), all) != job.expert.end();
  return is_listed && all <= experts ? std::vector<int64_t>{all}
                                     : std::vector<int64_t>();
}

// Returns the layouts of a replica on servers of `domain` GPUs.
std::vector<ServingLayout> LayoutsOf(const ServingPlanJob& job,
                                     int64_t domain) {
  const ModelSpec& model = job.job.model;
  std::vector<ServingLayout> layouts;
  ServingLayout layout = job.job.layout;
  for (const int64_t tensor :
       SizesUpTo(job.tensor, std::min(job.gpus, domain))) {
    layout.tensor = tensor;
    for (const int64_t pipeline :
         SizesUpTo(job.pipeline, std::min(model.layers, job.gpus / tensor))) {
      layout.pipeline = pipeline;
      const int64_t most_ranks =
          model.experts ? job.gpus / tensor / pipeline : 1;
      for (const int64_t ranks : SizesUpTo(job.attention_ranks, most_ranks)) {
        layout.attention_ranks = ranks;
        for (const int64_t expert : ExpertsOf(job, tensor, ranks)) {
          layout.expert = expert;
          layouts.push_back(layout);
        }
      }
    }
  }
  return layouts;
}

double SecondsOf(const std::optional<TimePs>& limit) {
  return limit ? ToSeconds(*limit) : std::numeric_limits<double>::infinity();
}

}  // namespace

absl::StatusOr<ServingPlanJob> ReadServingPlanJob(const CommandLine& flags) {
  ASTRA_RETURN_IF_ERROR(RefuseOthers(flags));
  ServingPlanJob plan;
  ASTRA_RETURN_IF_ERROR(Require(flags, "model"));
  ASTRA_RETURN_IF_ERROR(Require(flags, "gpu-type"));
  ASTRA_ASSIGN_OR_RETURN(plan.job.model,
                         FindModel(*flags.value("model"), &plan.warnings));
  ASTRA_ASSIGN_OR_RETURN(plan.job.gpu, FindGpu(*flags.value("gpu-type")));
  ASTRA_RETURN_IF_ERROR(ReadServingPrecision(flags, plan.job));
  ASTRA_RETURN_IF_ERROR(ReadSpace(flags, plan));
  ASTRA_RETURN_IF_ERROR(ReadServingEngine(flags, plan.job));
  ASTRA_RETURN_IF_ERROR(CheckSteadyScheduler(plan.job.scheduler->name));
  plan.model = *flags.value("model");
  plan.gpu = *flags.value("gpu-type");
  plan.job.system = flags.value("system");
  ASTRA_ASSIGN_OR_RETURN(plan.limits, ReadSizingLimits(flags));
  ASTRA_ASSIGN_OR_RETURN(plan.share, ReadSizingShare(flags));
  ASTRA_ASSIGN_OR_RETURN(plan.load,
                         ReadSizingLoad(flags, plan.job.model, &plan.warnings));
  constexpr int64_t kMostTop = 100;
  auto top = static_cast<int64_t>(plan.top);
  const IntegerOption count[] = {{"top", &top, kMostTop}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, count));
  plan.top = static_cast<size_t>(top);
  plan.exhaustive = flags.has("exhaustive");
  std::string name = fmt::format("plan-{}-{}-{}", plan.job.model.name,
                                 plan.gpus, plan.job.gpu.name);
  std::replace(name.begin(), name.end(), '/', '-');
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  plan.name = std::move(output.name);
  plan.output = std::move(output.folder);
  return plan;
}

absl::StatusOr<std::unique_ptr<PlanShapes>> PlanShapes::Create(
    const ServingPlanJob& job, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, SystemOfJob(job.job));
  const auto gpus = static_cast<uint32_t>(job.gpus);
  ASTRA_ASSIGN_OR_RETURN(
      Topology topology,
      BuildSystemTopology(system, gpus,
                          GpusOfDomain(gpus, system.gpus_per_server)));
  const int64_t domain = system.gpus_per_server;
  std::unique_ptr<PlanShapes> shapes(new PlanShapes());
  ASTRA_ASSIGN_OR_RETURN(
      shapes->pricing_,
      ServingPricing::Create(job.job, std::move(system), std::move(topology),
                             job.gpus, warnings));
  for (const ServingLayout& layout : LayoutsOf(job, domain)) {
    ASTRA_RETURN_IF_ERROR(shapes->Add(job, layout));
  }
  ServingSpace& space = shapes->space_;
  space.requests = job.load.lengths;
  space.scheduler = std::string(job.job.scheduler->name);
  space.request_seconds = 1e-6 * job.job.engine.serving.request_us;
  space.gpus = job.gpus;
  space.has_shared = job.has_shared;
  space.has_pools = job.has_separate;
  space.transfer_seconds = shapes->TransferSeconds(job);
  space.most_ttft = SecondsOf(job.limits.to_first_token);
  space.most_tpot = SecondsOf(job.limits.per_token);
  space.exhaustive = job.exhaustive;
  return shapes;
}

absl::Status PlanShapes::Add(const ServingPlanJob& job,
                             const ServingLayout& layout) {
  const bool has_ranks = layout.attention_ranks > 1;
  if (has_ranks && layout.tensor > 1 && pricing_->facts().ranks_are_gpus) {
    ++left_out_[fmt::format("a rank of attention of {} is one GPU",
                            job.job.engine.name)];
    return absl::OkStatus();
  }
  if (!has_ranks && layout.tensor % layout.expert != 0) {
    ++left_out_[fmt::format("EP {} does not divide TP {}", layout.expert,
                            layout.tensor)];
    return absl::OkStatus();
  }
  const absl::Status legal =
      InferenceBlueprint(job.job.model, SetupOf(layout)).status();
  if (!legal.ok()) {
    ++left_out_[std::string(legal.message())];
    return absl::OkStatus();
  }
  BatchingOptions options = job.job.options;
  ShareBudget(pricing_->facts(), layout.attention_ranks, options);
  const absl::StatusOr<CacheRoom> room = RoomForCache(
      job.job.model, layout, pricing_->facts(), MemoryOf(job.job.gpu),
      {.step_tokens = options.max_batched_tokens,
       .frees_windows = job.job.scheduler->frees_windows});
  if (!room.ok()) {
    ++left_out_[std::string(kBeyondMemory)];
    return absl::OkStatus();
  }
  ASTRA_ASSIGN_OR_RETURN(
      std::unique_ptr<ReplicaSteps> steps,
      ReplicaSteps::Create(job.job.model, layout, /*draft=*/std::nullopt,
                           pricing_->facts(), pricing_->sources()));
  ServingShape shape = {layout, options, steps.get()};
  UseRoom(*room, &shape.options);
  space_.shapes.push_back(shape);
  rooms_.push_back(*room);
  steps_.push_back(std::move(steps));
  return absl::OkStatus();
}

// The cache of a prompt leaves and arrives at the rate of the NICs of a GPU,
// also within a server.
double PlanShapes::TransferSeconds(const ServingPlanJob& job) const {
  const int64_t positions = pricing_->facts().block_positions;
  const int64_t prompt = job.load.lengths.prompt_tokens;
  const double blocks_of_prompt =
      static_cast<double>(prompt) / static_cast<double>(positions);
  double bytes = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < rooms_.size(); ++i) {
    // The GPUs of one rank of attention, which has caches of its own.
    const ServingLayout& layout = space_.shapes[i].layout;
    const CacheBlock& block = rooms_[i].block;
    const int64_t held =
        block.held.Beside((prompt + positions - 1) / positions);
    bytes = std::min(
        bytes, (blocks_of_prompt + static_cast<double>(held)) *
                   static_cast<double>(block.bytes.count() * layout.tensor *
                                       layout.pipeline));
  }
  const SystemSpec& system = pricing_->system();
  const double rate = system.nic_GBps * 1e9 *
                      static_cast<double>(system.nics_per_server) /
                      static_cast<double>(system.gpus_per_server);
  if (rooms_.empty() || rate == 0) return 0;
  return bytes / rate;
}

}  // namespace astra
