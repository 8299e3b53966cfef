#include "workload/modules/feed_forward.h"

#include <string_view>

#include "workload/modules/activation.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

// Adds the projection up. `shares_input`: see ModuleBuilder::Product.
void AddUp(std::string_view op, int64_t hidden, int64_t width, bool gated,
           bool shares_input, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  const int64_t outputs = gated ? 2 * width : width;
  const std::vector<int64_t> gate_and_up = {width, width};
  builder.BeginRegion(hidden);
  builder.Linear({.op = op,
                  .tokens = context.tokens(),
                  .inputs = hidden,
                  .outputs = outputs,
                  .saved_tokens = context.split_tokens(),
                  .shares_input = shares_input,
                  .parts = gated ? gate_and_up : std::vector<int64_t>(),
                  .casts_gradients = false});
  builder.Parameters(hidden * outputs);
  AddActivation(gated, context.tokens() * width, builder);
}

void AddDown(std::string_view op, int64_t hidden, int64_t width,
             ModuleBuilder& builder) {
  builder.Linear({.op = op,
                  .tokens = builder.context().tokens(),
                  .inputs = width,
                  .outputs = hidden});
  builder.Parameters(width * hidden);
  builder.EndRegion(hidden);
}

}  // namespace

std::vector<MockModule> FeedForwardModules(const ModelShape& model,
                                           const ModuleContext& context) {
  const FeedForward& part = model.feed_forward;
  const int64_t width = part.ffn / context.tensor;
  ModuleBuilder up("mlp_column", context);
  up.Begin(RecomputeModule::kMlp);
  AddNorm(model, up, RecomputeModule::kFeedForwardNorm);
  up.Begin(RecomputeModule::kFeedForwardProducts);
  AddUp("ffn_up", model.hidden, width, part.gated, /*shares_input=*/false, up);
  if (part.bias) up.Parameters(part.gated ? 2 * width : width);

  ModuleBuilder down("mlp_row", context);
  down.Continue(RecomputeModule::kMlp);
  down.Continue(RecomputeModule::kFeedForwardProducts);
  AddDown("ffn_down", model.hidden, width, down);
  down.End(RecomputeModule::kFeedForwardProducts);
  down.End(RecomputeModule::kMlp);
  if (part.bias) down.ReplicatedParameters(model.hidden);
  AddResidual(model, down);
  return {up.Take(), down.Take()};
}

std::vector<MockModule> SharedExpertModules(const ModelShape& model,
                                            const ModuleContext& context) {
  const Experts& experts = *model.experts;
  const int64_t width = experts.shared_ffn / context.tensor;
  ModuleBuilder up("shared_column", context);
  up.TakesFrom(RecomputeModule::kLayerNorm);
  up.Continue(RecomputeModule::kMoe);
  up.Begin(RecomputeModule::kSharedExperts);
  AddUp("shared_up", model.hidden, width, model.feed_forward.gated,
        /*shares_input=*/true, up);

  ModuleBuilder down("shared_row", context);
  down.Continue(RecomputeModule::kMoe);
  down.Continue(RecomputeModule::kSharedExperts);
  AddDown("shared_down", model.hidden, width, down);
  if (experts.shared_gate) {
    down.ReplicatedParameters(model.hidden);
    down.Stream({.op = "gate",
                 .elements = context.split_tokens() * model.hidden,
                 .forward = 2,
                 .backward = 3});
  }
  down.End(RecomputeModule::kSharedExperts);
  down.End(RecomputeModule::kMoe);
  AddResidual(model, down);
  return {up.Take(), down.Take()};
}

}  // namespace astra
