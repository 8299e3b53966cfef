#include "astra-core/planner/calculon/calculon_layers.h"

#include <cmath>
#include <utility>

namespace astra {
namespace {

using Communication = CalculonLayer::Communication;

// A layer in elements.
struct Shape {
  double forward_flops = 0;
  double activation_grad_flops = 0;
  double weight_grad_flops = 0;
  double inputs = 0;
  double outputs = 0;
  double activations = 0;
  double activation_grads = 0;
  double weights = 0;
};

// A layer of `size` elements, each with so many FLOPs forward and backward.
Shape Elements(double size, double forward_flops, double backward_flops) {
  return {.forward_flops = forward_flops * size,
          .activation_grad_flops = backward_flops * size,
          .inputs = size,
          .outputs = size,
          .activations = size,
          .activation_grads = size};
}

// Which part of a layer is recomputed or kept.
struct Keeping {
  bool is_recomputed = false;
  bool reuses_activations = false;
  bool stores_activations = true;
  bool stores_outputs = true;
};

class Block {
 public:
  explicit Block(const CalculonInputs& inputs)
      : execution_(inputs.execution),
        bytes_(inputs.execution.bytes_per_element),
        shards_(inputs.execution.optimizer_sharding
                    ? static_cast<double>(inputs.execution.data_par)
                    : 1),
        ranks_(static_cast<double>(inputs.execution.tensor_par)),
        hidden_(static_cast<double>(inputs.application.hidden)),
        feedforward_(static_cast<double>(inputs.application.feedforward)),
        positions_(static_cast<double>(inputs.application.seq_size)),
        heads_(static_cast<double>(inputs.application.attn_heads)),
        head_size_(static_cast<double>(inputs.application.attn_size)),
        sequences_(static_cast<double>(inputs.execution.microbatch_size)) {}

  std::vector<CalculonLayer> Build() {
    AddBegin("AttnBlock_Fork", "AttnBlock_LayerNorm");
    if (overlaps()) {
      AddOverlappedProjections();
    } else {
      AddProjections();
    }
    AddScores();
    const double width = heads_ * head_size_;
    if (overlaps()) {
      AddTiled("AttnBlock_MLP_RS", width, hidden_, true);
    } else {
      AddLinear("AttnBlock_MLP", width / ranks_, hidden_,
                {.is_recomputed = is_full()});
      AddAlone("AttnBlock_G", true, is_full());
    }
    AddEnd("AttnBlock_DropOut", "AttnBlock_Residual");

    AddBegin("MlpBlock_Fork", "MlpBlock_LayerNorm");
    if (overlaps()) {
      AddTiled("MlpBlock_Mlp1_AG", hidden_, feedforward_, false,
               gathers_again());
      AddGelu();
      AddTiled("MlpBlock_Mlp2_RS", feedforward_, hidden_, true);
    } else {
      AddAlone("MlpBlock_F", false, gathers_again());
      AddLinear(
          "MlpBlock_Mlp1", hidden_, feedforward_ / ranks_,
          {.is_recomputed = is_full(), .stores_activations = !gathers_again()});
      AddGelu();
      AddLinear("MlpBlock_Mlp2", feedforward_ / ranks_, hidden_,
                {.is_recomputed = is_full()});
      AddAlone("MlpBlock_G", true, is_full());
    }
    AddEnd("MlpBlock_DropOut", "MlpBlock_Residual");
    return std::move(layers_);
  }

 private:
  bool is_full() const {
    return execution_.activation_recompute == CalculonRecompute::kFull;
  }
  bool recomputes_attention() const {
    return execution_.activation_recompute != CalculonRecompute::kNone;
  }
  // Whether inputs of the MLP are gathered again in the backward pass.
  bool gathers_again() const { return is_full() || execution_.seq_par_ag_redo; }
  // Whether inputs of attention are.
  bool gathers_attention_again() const {
    return recomputes_attention() || execution_.seq_par_ag_redo;
  }
  bool overlaps() const {
    return execution_.tensor_par_overlap != CalculonTensorOverlap::kNone;
  }
  bool splits() const {
    return execution_.tensor_par_comm_type == CalculonTensorComm::kSplit;
  }

  double rows() const { return sequences_ * positions_; }

  // Elements of the activations between layers, and of the part of them
  // between the parallel parts.
  double activations() const { return rows() * hidden_; }
  double between() const {
    return splits() ? rows() / ranks_ * hidden_ : activations();
  }

  CalculonLayer& Add(std::string_view name, const Shape& shape,
                     const Keeping& keeping) {
    constexpr double kBytesOfFloat32 = 4;
    constexpr double kAdamFlops = 11;
    constexpr double kMoments = 2;
    CalculonLayer& layer = layers_.emplace_back();
    layer.name = name;
    layer.weights = shape.weights * bytes_;
    layer.activations = shape.activations * bytes_;
    layer.outputs = shape.outputs * bytes_;
    layer.activation_grads = shape.activation_grads * bytes_;
    layer.weight_grads = shape.weights * bytes_ / shards_;
    layer.whole_weight_grads = shape.weights * kBytesOfFloat32;
    // A copy in float32 is kept only where the weights are shorter.
    const double copies = kMoments + (bytes_ < kBytesOfFloat32 ? 1 : 0);
    layer.optimizer_state = copies * shape.weights * kBytesOfFloat32 / shards_;
    const double grads = shape.activations + shape.activation_grads;
    work(layer, CalculonPass::kForward) = {
        shape.forward_flops,
        (shape.inputs + shape.outputs + shape.weights) * bytes_};
    work(layer, CalculonPass::kActivationGrad) = {
        shape.activation_grad_flops, (shape.weights + grads) * bytes_};
    if (shape.weights > 0) {
      work(layer, CalculonPass::kWeightGrad) = {
          shape.weight_grad_flops, (shape.weights + grads) * bytes_};
    }
    work(layer, CalculonPass::kOptimizer) = {
        shape.weights / shards_ * kAdamFlops, layer.optimizer_state};
    layer.is_recomputed = keeping.is_recomputed;
    layer.reuses_activations = keeping.reuses_activations;
    layer.stores_activations = keeping.stores_activations;
    layer.stores_outputs = keeping.stores_outputs;
    return layer;
  }

  static CalculonLayer::Work& work(CalculonLayer& layer, CalculonPass pass) {
    return layer.work[static_cast<size_t>(pass)];
  }

  // Lets the gradient access what the forward pass accesses.
  static void AccessAsForward(CalculonLayer& layer) {
    work(layer, CalculonPass::kActivationGrad).bytes =
        work(layer, CalculonPass::kForward).bytes;
  }

  // Splits activations to `users` layers, and adds their gradients, which are
  // stored elsewhere.
  void AddFork(std::string_view name, double size, double users,
               const Keeping& keeping) {
    CalculonLayer& layer =
        Add(name, {.activation_grad_flops = users * size, .activations = size},
            keeping);
    work(layer, CalculonPass::kForward).bytes = 0;
    work(layer, CalculonPass::kActivationGrad).bytes =
        size * bytes_ * (users + 1);
  }

  Shape Matrix(double inputs, double outputs) const {
    const double flops = 2 * rows() * inputs * outputs;
    return {.forward_flops = flops,
            .activation_grad_flops = flops,
            .weight_grad_flops = flops,
            .inputs = rows() * inputs,
            .outputs = rows() * outputs,
            .activations = rows() * inputs,
            .activation_grads = rows() * outputs,
            .weights = inputs * outputs};
  }

  void AddLinear(std::string_view name, double inputs, double outputs,
                 const Keeping& keeping) {
    Add(name, Matrix(inputs, outputs), keeping).on_matrix_engine = true;
  }

  // Products of `products` pairs of matrices: rows x inner and inner x columns.
  void AddProducts(std::string_view name, double products, double rows,
                   double inner, double columns, const Keeping& keeping) {
    const double flops = products * 2 * rows * inner * columns;
    const double inputs = products * (rows * inner + inner * columns);
    const double outputs = products * rows * columns;
    Add(name,
        {.forward_flops = flops,
         .activation_grad_flops = 2 * flops,
         .inputs = inputs,
         .outputs = outputs,
         .activations = inputs,
         .activation_grads = outputs},
        keeping)
        .on_matrix_engine = true;
  }

  // Adds dropout, of which a mask with a byte for each element is stored.
  void AddDropout(std::string_view name, double size, const Keeping& keeping) {
    CalculonLayer& layer = Add(name, Elements(size, 1, 1), keeping);
    layer.activations = size;
    layer.activation_grads = size;
    work(layer, CalculonPass::kForward).bytes += size;
    AccessAsForward(layer);
  }

  // Adds communication beside which nothing is computed.
  void AddAlone(std::string_view name, bool reduces_forward, bool again) {
    const bool is_parallel = execution_.tensor_par > 1;
    const double size = is_parallel ? activations() : 0;
    const double sums = size * (ranks_ - 1) / ranks_;
    Shape shape = Elements(size, 0, 0);
    (reduces_forward ? shape.forward_flops : shape.activation_grad_flops) =
        sums;
    CalculonLayer& layer =
        Add(name, shape, {.stores_activations = !reduces_forward});
    layer.communication =
        is_parallel ? Communication::kAlone : Communication::kNone;
    layer.reduces_forward = reduces_forward;
    layer.communicates_again = again;
    layer.message = size * bytes_;
    if (splits()) {
      layer.activations = layer.activation_grads = size * bytes_ / ranks_;
      return;
    }
    // All-reduces leave the other direction as it is.
    if (reduces_forward) {
      layer.activation_grads = 0;
      work(layer, CalculonPass::kActivationGrad).bytes = 0;
    } else {
      layer.activations = 0;
      work(layer, CalculonPass::kForward).bytes = 0;
    }
  }

  // Adds a product that communicates in tiles; `inputs` or `outputs` of it are
  // split over the ranks.
  void AddTiled(std::string_view name, double inputs, double outputs,
                bool reduces_forward, bool gathers = false) {
    (reduces_forward ? inputs : outputs) /= ranks_;
    Shape shape = Matrix(inputs, outputs);
    const double in = rows() * inputs;
    const double out = rows() * outputs;
    if (splits()) {
      const double tile = std::floor(out / ranks_);
      if (reduces_forward) {
        shape.activation_grads = tile + tile;
      } else {
        shape.activations = std::floor(in / ranks_);
      }
    } else if (reduces_forward) {
      shape.activations = 0;
      shape.activation_grads = out + out;
    } else {
      shape.activation_grads = 0;
    }
    CalculonLayer& layer = Add(name, shape, {.is_recomputed = is_full()});
    layer.on_matrix_engine = true;
    layer.communication = Communication::kTiled;
    layer.reduces_forward = reduces_forward;
    layer.communicates_again = reduces_forward ? is_full() : gathers;
    layer.message = (reduces_forward ? out : in) * bytes_;
  }

  void AddBegin(std::string_view fork, std::string_view norm) {
    AddFork(fork, between(), 2, {.is_recomputed = is_full()});
    constexpr double kForwardFlops = 9;
    constexpr double kBackwardFlops = 14;
    constexpr double kWeightFlops = 7;
    Shape shape = Elements(between(), kForwardFlops, kBackwardFlops);
    shape.weight_grad_flops = kWeightFlops * between();
    shape.weights = 2 * hidden_;
    Add(norm, shape, Reused());
  }

  void AddEnd(std::string_view dropout, std::string_view residual) {
    AddDropout(dropout, between(), {.is_recomputed = is_full()});
    Shape shape = Elements(between(), 1, 2);
    shape.inputs = shape.activations = between() + between();
    Add(residual, shape, Reused());
  }

  // A layer whose activations its fork stores.
  Keeping Reused() const {
    return {.is_recomputed = is_full(),
            .reuses_activations = true,
            .stores_activations = false};
  }

  // Adds query, key and value behind communication.
  void AddProjections() {
    AddAlone("AttnBlock_F", false, gathers_attention_again());
    AddProjectionFork("AttnBlock_Multihead_Fork", 3);
    const double width = heads_ * head_size_ / ranks_;
    const bool has_heads =
        execution_.attention_type == CalculonAttention::kMultihead;
    const double shared = has_heads ? width : head_size_;
    AddLinear("AttnBlock_Query", hidden_, width, Reused());
    AddLinear("AttnBlock_Key", hidden_, shared, Reused());
    AddLinear("AttnBlock_Value", hidden_, shared, Reused());
  }

  void AddOverlappedProjections() {
    const double width = heads_ * head_size_;
    if (execution_.attention_type == CalculonAttention::kMultihead) {
      AddTiled("AttnBlock_QKV_AG", hidden_, 3 * width, false,
               gathers_attention_again());
      return;
    }
    AddTiled("AttnBlock_Query_AG", hidden_, width, false,
             gathers_attention_again());
    AddProjectionFork("AttnBlock_KV_Fork", 2);
    AddLinear("AttnBlock_Key", hidden_, head_size_, Reused());
    AddLinear("AttnBlock_Value", hidden_, head_size_, Reused());
  }

  void AddProjectionFork(std::string_view name, double users) {
    AddFork(name, activations(), users,
            {.is_recomputed = gathers_attention_again(),
             .stores_activations = !gathers_attention_again()});
  }

  void AddScores() {
    const bool again = recomputes_attention();
    const double products = sequences_ * heads_ / ranks_;
    const double scores = products * positions_ * positions_;
    const Keeping inner = {.is_recomputed = again, .stores_outputs = !again};
    AddProducts("AttnBlock_Multihead_Key_Query", products, positions_,
                head_size_, positions_, inner);
    constexpr double kForwardFlops = 5;
    constexpr double kBackwardFlops = 8;
    AccessAsForward(Add("AttnBlock_Multihead_SoftMax",
                        Elements(scores, kForwardFlops, kBackwardFlops),
                        inner));
    AddDropout("AttnBlock_Multihead_DropOut", scores,
               {.is_recomputed = again, .stores_activations = !again});
    AddProducts("AttnBlock_Multihead_Attn", products, positions_, positions_,
                head_size_, {.is_recomputed = is_full()});
  }

  // Adds the activation function, which stores nothing where it is fused.
  void AddGelu() {
    constexpr double kForwardFlops = 8;
    constexpr double kBackwardFlops = 13;
    Shape shape =
        Elements(feedforward_ * rows() / ranks_, kForwardFlops, kBackwardFlops);
    if (execution_.fused_activation) {
      shape.activations = shape.activation_grads = 0;
    }
    AccessAsForward(Add("MlpBlock_GeLU", shape, {.is_recomputed = is_full()}));
  }

  const CalculonExecution& execution_;
  double bytes_;   // Of an element.
  double shards_;  // Over which the optimizer is split.
  double ranks_;   // Of tensor parallelism.
  double hidden_;
  double feedforward_;
  double positions_;  // Of a sequence.
  double heads_;
  double head_size_;
  double sequences_;  // Of a micro-batch.
  std::vector<CalculonLayer> layers_;
};

}  // namespace

std::vector<CalculonLayer> CalculonLayersOf(const CalculonInputs& inputs) {
  return Block(inputs).Build();
}

}  // namespace astra
