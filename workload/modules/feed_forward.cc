#include "workload/modules/feed_forward.h"

#include <string_view>

#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

// Adds the activation and keeps its inputs. The backward pass computes the
// gradients of all inputs from that of one output.
void AddActivation(bool gated, int64_t elements, ModuleBuilder& builder) {
  const int64_t inputs = gated ? 2 : 1;
  builder.Stream({.op = gated ? "swiglu" : "gelu",
                  .elements = elements,
                  .forward = inputs + 1,
                  .backward = 2 * inputs + 1,
                  .saved_bytes = 2 * inputs * elements,
                  .workspace_bytes = 2 * (inputs + 1) * elements});
}

// Adds the projection up. `keeps_input` is true if no other layer keeps its
// input for the backward pass.
void AddUp(std::string_view op, int64_t hidden, int64_t width, bool gated,
           bool keeps_input, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  const int64_t outputs = gated ? 2 * width : width;
  builder.BeginRegion(hidden);
  builder.Linear({.op = op,
                  .tokens = context.tokens(),
                  .inputs = hidden,
                  .outputs = outputs,
                  .saved_tokens = keeps_input ? context.split_tokens() : 0,
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
  AddNorm(model, up);
  AddUp("ffn_up", model.hidden, width, part.gated, /*keeps_input=*/true, up);
  if (part.bias) up.Parameters(part.gated ? 2 * width : width);

  ModuleBuilder down("mlp_row", context);
  AddDown("ffn_down", model.hidden, width, down);
  if (part.bias) down.ReplicatedParameters(model.hidden);
  AddResidual(model, down);
  return {up.Take(), down.Take()};
}

std::vector<MockModule> SharedExpertModules(const ModelShape& model,
                                            const ModuleContext& context) {
  const Experts& experts = *model.experts;
  const int64_t width = experts.shared_ffn / context.tensor;
  ModuleBuilder up("shared_column", context);
  AddUp("shared_up", model.hidden, width, model.feed_forward.gated,
        /*keeps_input=*/false, up);

  ModuleBuilder down("shared_row", context);
  AddDown("shared_down", model.hidden, width, down);
  if (experts.shared_gate) {
    down.ReplicatedParameters(model.hidden);
    down.Stream({.op = "gate",
                 .elements = context.split_tokens() * model.hidden,
                 .forward = 2,
                 .backward = 3});
  }
  AddResidual(model, down);
  return {up.Take(), down.Take()};
}

}  // namespace astra
