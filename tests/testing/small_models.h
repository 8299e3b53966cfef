// Models small enough to count by hand, the steps of mocked modules as text,
// and computations of a fixed time.

#ifndef TESTS_TESTING_SMALL_MODELS_H_
#define TESTS_TESTING_SMALL_MODELS_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "workload/generator/blueprint.h"
#include "workload/models/model_spec.h"
#include "workload/modules/module.h"
#include "workload/operators/compute_model.h"

namespace astra::testing {

// As GPT-3: learned positions, biases, GELU, dropout and one table of words.
inline ModelSpec SmallGpt() {
  ModelSpec model;
  model.name = "small-gpt";
  model.layers = 4;
  model.hidden = 64;
  model.vocabulary = 512;
  model.positions = Positions::kLearned;
  model.max_positions = 128;
  model.tied_embeddings = true;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.dropout = true;
  model.attention = FullAttention{.heads = 4,
                                  .kv_heads = 4,
                                  .head_dim = 16,
                                  .qkv_bias = true,
                                  .output_bias = true};
  model.feed_forward = {.ffn = 256, .bias = true};
  return model;
}

// As Llama 3: four query heads to a key head, and SwiGLU.
inline ModelSpec SmallLlama() {
  ModelSpec model;
  model.name = "small-llama";
  model.layers = 4;
  model.hidden = 64;
  model.vocabulary = 512;
  model.attention = FullAttention{.heads = 8, .kv_heads = 2, .head_dim = 8};
  model.feed_forward = {.ffn = 192, .gated = true};
  return model;
}

// As Mixtral: experts in every block.
inline ModelSpec SmallMoe() {
  ModelSpec model = SmallLlama();
  model.name = "small-moe";
  model.feed_forward.ffn = 0;
  model.experts = {.experts = 8, .top_k = 2, .ffn = 32};
  return model;
}

// As DeepSeek-V3: latent attention, and shared experts behind a dense block.
inline ModelSpec SmallDeepSeek() {
  ModelSpec model;
  model.name = "small-deepseek";
  model.layers = 3;
  model.hidden = 64;
  model.vocabulary = 512;
  model.attention = LatentAttention{.heads = 4,
                                    .q_lora_rank = 24,
                                    .kv_lora_rank = 16,
                                    .nope_head_dim = 8,
                                    .rope_head_dim = 4,
                                    .v_head_dim = 8};
  model.feed_forward = {.ffn = 192, .gated = true};
  model.experts = {.experts = 8,
                   .top_k = 2,
                   .ffn = 32,
                   .shared_ffn = 32,
                   .router_bias = true,
                   .dense_layers = 1};
  return model;
}

// A step as text: the name of an operator, "all-gather TP 4096 B", "launch
// ...", "prefetch ..." or "wait TP", with when it runs and whether it is
// hidden.
inline std::string StepText(const ModuleStep& step) {
  if (step.kind == StepKind::kCompute) return std::string(step.op.name);
  const Communication& what = step.communication;
  if (step.kind == StepKind::kWait) {
    return fmt::format("wait {}", Name(what.dimension));
  }
  return fmt::format(
      "{}{} {} {} B{}{}",
      step.kind == StepKind::kBlocking ? ""
                                       : fmt::format("{} ", Name(step.kind)),
      Name(what.kind), Name(what.dimension), what.bytes.count(),
      step.when == StepWhen::kEach ? "" : fmt::format(", {}", Name(step.when)),
      step.is_hidden ? ", hidden" : "");
}

inline std::vector<std::string> StepTexts(const MockModule& module,
                                          ModulePass pass) {
  std::vector<std::string> texts;
  for (const ModuleStep& step : module.pass(pass)) {
    texts.push_back(StepText(step));
  }
  return texts;
}

// The collectives alone, and the waits for them.
inline std::vector<std::string> CollectiveTexts(const MockModule& module,
                                                ModulePass pass) {
  std::vector<std::string> texts;
  for (const ModuleStep& step : module.pass(pass)) {
    if (step.kind != StepKind::kCompute) texts.push_back(StepText(step));
  }
  return texts;
}

// The first operator of that name in the pass, which must be there.
inline const Operator& OperatorOf(const MockModule& module, ModulePass pass,
                                  std::string_view name) {
  for (const ModuleStep& step : module.pass(pass)) {
    if (step.kind == StepKind::kCompute && step.op.name == name) return step.op;
  }
  ASTRA_CHECK(false, "{} has no {}", module.name, name);
}

// The module of that name, which must be there.
inline const MockModule& ModuleOf(const std::vector<MockModule>& modules,
                                  std::string_view name) {
  for (const MockModule& module : modules) {
    if (module.name == name) return module;
  }
  ASTRA_CHECK(false, "there is no module {}", name);
}

// The names of what a stage runs in a micro-batch, as "3 x a b" for a run.
inline std::vector<std::string> RunTexts(const Blueprint& blueprint,
                                         const ProgramStage& stage) {
  std::vector<std::string> texts;
  for (const ModuleRun& run : stage.runs) {
    std::string text = fmt::format("{} x", run.times);
    for (const ModuleId id : run.modules) {
      text += ' ';
      text += blueprint.modules[id.index()].name;
    }
    texts.push_back(text);
  }
  return texts;
}

// Every operator takes the same time.
class FixedTime : public ComputeModel {
 public:
  explicit FixedTime(TimePs time = Nanoseconds(1)) : time_(time) {}

  OperatorTime TimeOf(const Operator&) const override {
    return {.time = time_,
            .source = TimeSource::kMeasured,
            .bound = "launch",
            .error = 0.05};
  }

 private:
  TimePs time_;
};

}  // namespace astra::testing

#endif  // TESTS_TESTING_SMALL_MODELS_H_
