#include "workload/generator/aicb_log.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

using Dimension = ParallelDimension;

constexpr std::string_view kEpochEnd =
    "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";

std::string_view TypeName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return "all_to_all";
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      break;
  }
  ASTRA_CHECK(false, "no module has a {}", Name(kind));
}

absl::StatusOr<std::string_view> GroupName(Dimension dimension,
                                           const ParallelSizes& sizes) {
  switch (dimension) {
    case Dimension::kTensor:
      return "tp_group";
    case Dimension::kData:
      return "dp_group";
    case Dimension::kExpert:
      return "ep_group";
    case Dimension::kDataExpert:
      return "ep_dp_group";
    case Dimension::kPipeline:
      return "pp_group";
    case Dimension::kExpertTensor:
      if (sizes.expert_tensor.value_or(sizes.tensor) == sizes.tensor) {
        return "tp_group";
      }
      return absl::UnimplementedError(
          "AICB's log has no group for ETP other than TP");
    case Dimension::kContext:
      return absl::UnimplementedError("AICB's log has no group for CP");
  }
  ASTRA_CHECK(false, "dimension {}", static_cast<int>(dimension));
}

// Returns the rows x columns of both operands of a product, as AICB writes
// them.
std::string ShapesOf(const Gemm& gemm) {
  const std::string groups =
      gemm.groups == 1 ? std::string() : fmt::format("{} ", gemm.groups);
  return fmt::format("(({}{} {}) ({}{} {}))", groups, gemm.m, gemm.k, groups,
                     gemm.k, gemm.n);
}

class Writer {
 public:
  Writer(const Blueprint& blueprint, const ParallelPlan& plan,
         const AicbLogOptions& options)
      : blueprint_(blueprint),
        plan_(plan),
        options_(options),
        has_previous_(options.pipeline_rank > 0),
        has_next_(options.pipeline_rank + 1 < blueprint.sizes.pipeline) {}

  absl::StatusOr<std::string> Write(const ProgramStage& stage) &&;

 private:
  absl::Status Forward(const ProgramStage& stage, int64_t micro_batch);
  absl::Status Backward(const ProgramStage& stage, int64_t micro_batch);
  absl::Status Pass(const MockModule& module, ModulePass pass,
                    std::string_view prefix, int64_t micro_batch);
  absl::Status Add(const ModuleStep& step, const std::string& stage);
  void Message(std::string_view type, std::string_view stage,
               std::string_view neighbour);

  bool Runs(StepWhen when, int64_t micro_batch) const {
    switch (when) {
      case StepWhen::kEach:
        return true;
      case StepWhen::kFirst:
        return micro_batch == 0;
      case StepWhen::kLast:
        return micro_batch + 1 == blueprint_.sizes.micro_batches;
    }
    return true;
  }

  const Blueprint& blueprint_;
  const ParallelPlan& plan_;
  const AicbLogOptions& options_;
  const bool has_previous_;
  const bool has_next_;
  std::string text_;
};

absl::Status Writer::Add(const ModuleStep& step, const std::string& stage) {
  constexpr std::string_view kRest = "None,None,,None,None,None,1";
  if (step.kind == StepKind::kWait) return absl::OkStatus();
  if (step.kind == StepKind::kCompute) {
    const Gemm* gemm = std::get_if<Gemm>(&step.op.shape);
    if (gemm == nullptr || !options_.with_products) return absl::OkStatus();
    AppendFormat(&text_, "CommType.computation,None,None,{},{}.{},{}\n",
                 ShapesOf(*gemm), stage, step.op.name, kRest);
    return absl::OkStatus();
  }
  const Communication& what = step.communication;
  ASTRA_ASSIGN_OR_RETURN(const std::string_view group,
                         GroupName(what.dimension, blueprint_.sizes));
  AppendFormat(&text_, "CommType.{},CommGroup.{},{},{},{},{}\n",
               TypeName(what.kind), group, plan_.GroupSize(what.dimension),
               what.bytes.count(), stage, kRest);
  return absl::OkStatus();
}

void Writer::Message(std::string_view type, std::string_view stage,
                     std::string_view neighbour) {
  AppendFormat(&text_,
               "CommType.{},CommGroup.pp_group,{},{},{}_step,None,None,{},"
               "None,None,None,1\n",
               type, blueprint_.sizes.pipeline,
               blueprint_.pipeline_message.count(), stage, neighbour);
}

absl::Status Writer::Pass(const MockModule& module, ModulePass pass,
                          std::string_view prefix, int64_t micro_batch) {
  const std::string stage = fmt::format("{}.{}", prefix, module.name);
  for (const ModuleStep& step : module.pass(pass)) {
    if (!Runs(step.when, micro_batch)) continue;
    ASTRA_RETURN_IF_ERROR(Add(step, stage));
  }
  return absl::OkStatus();
}

absl::Status Writer::Forward(const ProgramStage& stage, int64_t micro_batch) {
  if (has_previous_) Message("irecv", "forward", "recv_prev");
  for (const ModuleRun& run : stage.runs) {
    for (int64_t time = 0; time < run.times; ++time) {
      for (const ModuleId id : run.modules) {
        ASTRA_RETURN_IF_ERROR(Pass(blueprint_.modules[id.index()],
                                   ModulePass::kForward, "forward",
                                   micro_batch));
      }
    }
  }
  if (has_next_) Message("isend", "forward", "send_next");
  return absl::OkStatus();
}

absl::Status Writer::Backward(const ProgramStage& stage, int64_t micro_batch) {
  constexpr ModulePass kPasses[] = {ModulePass::kRecompute,
                                    ModulePass::kInputGradient,
                                    ModulePass::kWeightGradient};
  if (blueprint_.forward_only) return absl::OkStatus();
  if (has_next_) Message("irecv", "backward", "recv_next");
  for (auto run = stage.runs.rbegin(); run != stage.runs.rend(); ++run) {
    for (int64_t time = 0; time < run->times; ++time) {
      for (auto id = run->modules.rbegin(); id != run->modules.rend(); ++id) {
        for (const ModulePass pass : kPasses) {
          ASTRA_RETURN_IF_ERROR(Pass(blueprint_.modules[id->index()], pass,
                                     "backward", micro_batch));
        }
      }
    }
  }
  if (has_previous_) Message("isend", "backward", "send_prev");
  return absl::OkStatus();
}

absl::StatusOr<std::string> Writer::Write(const ProgramStage& stage) && {
  text_ =
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,"
      "_elapsed_time,algbw,busbw,count\n";
  text_ += kEpochEnd;
  const int64_t count = blueprint_.sizes.micro_batches;
  const int64_t ahead =
      std::min(count, blueprint_.sizes.pipeline - options_.pipeline_rank - 1);
  for (int64_t i = 0; i < count + ahead; ++i) {
    // All micro-batches take about as much text as the first one.
    const auto rest = static_cast<size_t>(count + ahead - i);
    if (i == 1 && text_.size() > kMaxAicbLogBytes / rest) {
      return absl::ResourceExhaustedError(fmt::format(
          "AICB's log of {} micro-batches is above 1 GiB; write a program "
          "(--format program)",
          count));
    }
    if (i < count) ASTRA_RETURN_IF_ERROR(Forward(stage, i));
    if (i >= ahead) ASTRA_RETURN_IF_ERROR(Backward(stage, i - ahead));
  }
  for (const ModuleId id : stage.after) {
    ASTRA_RETURN_IF_ERROR(Pass(blueprint_.modules[id.index()],
                               ModulePass::kForward, "step", count - 1));
  }
  text_ += kEpochEnd;
  return std::move(text_);
}

}  // namespace

absl::StatusOr<std::string> FormatAicbLog(const Blueprint& blueprint,
                                          const AicbLogOptions& options) {
  if (blueprint.sizes.virtual_stages > 1) {
    return absl::UnimplementedError(
        "AICB's log has no virtual stages; write a program");
  }
  if (blueprint.sizes.order != RankOrder()) {
    return absl::UnimplementedError(
        "AICB's log has no other order of ranks; write a program");
  }
  if (blueprint.schedule != DefaultSchedule(/*chunks=*/1)) {
    return absl::UnimplementedError(
        fmt::format("AICB's log has no schedule {}; write a program",
                    Name(blueprint.schedule)));
  }
  const std::optional<size_t> stage = StageOf(blueprint, options.pipeline_rank);
  if (!stage) {
    return absl::InvalidArgumentError(
        fmt::format("the pipeline rank is {}: the last of the stages is {}",
                    options.pipeline_rank, blueprint.sizes.pipeline - 1));
  }
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(blueprint.sizes));
  return Writer(blueprint, plan, options).Write(blueprint.stages[*stage]);
}

}  // namespace astra
