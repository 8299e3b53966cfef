#include "astra-core/planner/calculon/calculon_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "astra-core/planner/calculon/calculon_layers.h"
#include "astra-core/planner/calculon/calculon_machine.h"

namespace astra {
namespace {

using Communication = CalculonLayer::Communication;

// Communication of a layer in a block.
struct Transfer {
  double bytes = 0;
  double seconds = 0;
};

// Seconds and bytes that one pass of a layer takes.
struct LayerCost {
  double flops_seconds = 0;
  double memory_seconds = 0;
  double seconds = 0;
  Transfer base;
  Transfer edge;
  CalculonPair exposed;
  double rate = 0;  // Bytes/s that would hide the communication of base blocks
                    // and edge blocks.
};

class BlockModel {
 public:
  explicit BlockModel(const CalculonInputs& inputs)
      : execution_(inputs.execution),
        system_(inputs.system),
        network_(inputs.system.networks[inputs.execution.tensor_par_net]),
        ranks_(inputs.execution.tensor_par) {}

  // Returns what `layer` takes in `pass`. The weight gradient has the
  // communication that is repeated.
  LayerCost CostOf(const CalculonLayer& layer, CalculonPass pass) const {
    const CalculonLayer::Work& work = WorkOf(layer, pass);
    const bool on_matrix_engine =
        layer.on_matrix_engine && pass != CalculonPass::kOptimizer;
    LayerCost cost;
    cost.flops_seconds = CalculonSeconds(
        on_matrix_engine ? system_.matrix : system_.vector, work.flops);
    cost.memory_seconds = CalculonSeconds(system_.mem1.rate, work.bytes);
    cost.seconds =
        CalculonLayerSeconds(system_, cost.flops_seconds, cost.memory_seconds);
    if (layer.communication == Communication::kNone ||
        pass == CalculonPass::kOptimizer) {
      return cost;
    }
    cost.base = TransferOf(layer, pass, /*is_edge=*/false);
    cost.edge = TransferOf(layer, pass, /*is_edge=*/true);
    if (layer.communication == Communication::kTiled) {
      Tile(cost);
      return cost;
    }
    // The sums of a reduction count as communication.
    for (Transfer* transfer : {&cost.base, &cost.edge}) {
      transfer->seconds += cost.seconds;
    }
    cost.seconds = 0;
    cost.exposed = {cost.base.seconds, cost.edge.seconds};
    return cost;
  }

  static const CalculonLayer::Work& WorkOf(const CalculonLayer& layer,
                                           CalculonPass pass) {
    return layer.work[static_cast<size_t>(pass)];
  }

 private:
  // Returns the operation with which `layer` communicates in `pass`, if any.
  std::optional<CalculonOp> OpOf(const CalculonLayer& layer, CalculonPass pass,
                                 bool is_edge) const {
    const bool is_backward = pass == CalculonPass::kActivationGrad;
    if (pass == CalculonPass::kWeightGrad && !layer.communicates_again) {
      return std::nullopt;
    }
    const bool reduces = layer.reduces_forward != is_backward;
    const CalculonTensorComm comm = execution_.tensor_par_comm_type;
    const bool splits = comm == CalculonTensorComm::kSplit ||
                        (comm == CalculonTensorComm::kSplitAtEdges && is_edge);
    if (!splits) {
      if (!reduces) return std::nullopt;
      return CalculonOp::kAllReduce;
    }
    return reduces ? CalculonOp::kReduceScatter : CalculonOp::kAllGather;
  }

  Transfer TransferOf(const CalculonLayer& layer, CalculonPass pass,
                      bool is_edge) const {
    const std::optional<CalculonOp> op = OpOf(layer, pass, is_edge);
    if (!op) return {};
    Transfer transfer = {
        layer.message,
        CalculonNetworkSeconds(network_, *op, layer.message, ranks_)};
    // Layers that communicate alone have the sums of a reduction as work.
    if (layer.communication == Communication::kTiled &&
        *op != CalculonOp::kAllGather && pass != CalculonPass::kWeightGrad) {
      const double ranks = static_cast<double>(ranks_);
      const double sums =
          layer.message / execution_.bytes_per_element * (ranks - 1) / ranks;
      transfer.seconds += CalculonSeconds(system_.vector, sums);
    }
    return transfer;
  }

  // Overlaps computation and communication in tiles.
  void Tile(LayerCost& cost) const {
    const double tiles = static_cast<double>(ranks_);
    const double usage = network_.processor_usage;
    const double slowed_flops = cost.flops_seconds / (1 - usage);
    cost.rate = std::max(cost.base.bytes, cost.edge.bytes) / tiles /
                (slowed_flops / tiles);
    if (cost.base.seconds == 0) return;
    const double tile = cost.seconds / tiles;
    const double slowed_tile =
        CalculonLayerSeconds(system_, slowed_flops, cost.memory_seconds) /
        tiles;
    const double transfer = cost.base.seconds / tiles;
    const double excess = transfer - slowed_flops / tiles;
    double exposed = 0;
    if (excess > 0) {
      cost.seconds = tile + (tiles - 1) * slowed_tile;
      exposed = (tiles - 1) * excess;
    } else {
      cost.seconds = tile + (tiles - 1) * tile + (tiles - 1) * transfer * usage;
    }
    if (execution_.tensor_par_overlap == CalculonTensorOverlap::kPipe) {
      exposed += transfer;
      cost.seconds += transfer;
    }
    cost.exposed = {exposed, exposed};
  }

  const CalculonExecution& execution_;
  const CalculonSystem& system_;
  const CalculonNetwork& network_;
  int64_t ranks_;  // Of tensor parallelism, and tiles.
};

void AddPass(const CalculonLayer::Work& work, const LayerCost& cost,
             CalculonPassCost& total) {
  total.flops += work.flops;
  total.flops_seconds += cost.flops_seconds;
  total.bytes += work.bytes;
  total.memory_seconds += cost.memory_seconds;
  total.seconds += cost.seconds;
}

void AddTensor(const LayerCost& cost, const CalculonPair& exposed,
               CalculonTensorCost& total) {
  total.bytes.base += cost.base.bytes;
  total.bytes.edge += cost.edge.bytes;
  total.seconds.base += cost.base.seconds;
  total.seconds.edge += cost.edge.seconds;
  total.exposed.base += exposed.base;
  total.exposed.edge += exposed.edge;
}

// Adds recomputation as Calculon does: see the header.
void AddAgain(const LayerCost& forward, CalculonBlockCost& block) {
  block.again.flops += block.forward.flops;
  block.again.flops_seconds += block.forward.flops_seconds;
  block.again.bytes += block.forward.bytes;
  block.again.memory_seconds += block.forward.memory_seconds;
  block.again.seconds += forward.seconds;
}

void AddLayer(const BlockModel& model, const CalculonLayer& layer,
              bool training, CalculonBlockCost& block) {
  const LayerCost forward = model.CostOf(layer, CalculonPass::kForward);
  AddPass(BlockModel::WorkOf(layer, CalculonPass::kForward), forward,
          block.forward);
  AddTensor(forward, forward.exposed, block.tensor_forward);
  block.tensor_rate = std::max(block.tensor_rate, forward.rate);
  block.useful_flops += BlockModel::WorkOf(layer, CalculonPass::kForward).flops;
  if (!training) return;
  if (layer.is_recomputed) AddAgain(forward, block);
  const LayerCost weight = model.CostOf(layer, CalculonPass::kWeightGrad);
  if (layer.communicates_again) {
    const bool is_tiled = layer.communication == Communication::kTiled;
    AddTensor(weight, is_tiled ? forward.exposed : weight.exposed,
              block.tensor_again);
  }
  const LayerCost activation =
      model.CostOf(layer, CalculonPass::kActivationGrad);
  AddTensor(activation, activation.exposed, block.tensor_backward);
  block.tensor_rate = std::max(block.tensor_rate, activation.rate);
  const LayerCost optimizer = model.CostOf(layer, CalculonPass::kOptimizer);
  const auto add = [&](CalculonPass pass, const LayerCost& cost,
                       CalculonPassCost& total) {
    AddPass(BlockModel::WorkOf(layer, pass), cost, total);
    block.useful_flops += BlockModel::WorkOf(layer, pass).flops;
  };
  add(CalculonPass::kActivationGrad, activation, block.activation_grad);
  add(CalculonPass::kWeightGrad, weight, block.weight_grad);
  add(CalculonPass::kOptimizer, optimizer, block.optimizer);
}

void AddMemory(const CalculonLayer& layer, bool training,
               CalculonBlockCost& block) {
  block.weights += layer.weights;
  if (!layer.reuses_activations) {
    block.working_activations += layer.activations;
  }
  block.stored_activations += layer.activations;
  if (!training) return;
  if (!layer.stores_outputs) block.stored_activations -= layer.outputs;
  if (!layer.stores_activations) block.stored_activations -= layer.activations;
  block.weight_grads += layer.weight_grads;
  block.whole_weight_grads += layer.whole_weight_grads;
  block.activation_grads += layer.activation_grads;
  block.optimizer_state += layer.optimizer_state;
}

}  // namespace

CalculonBlockCost CalculonBlockCostOf(const CalculonInputs& inputs) {
  const CalculonExecution& execution = inputs.execution;
  const BlockModel model(inputs);
  CalculonBlockCost block;
  for (const CalculonLayer& layer : CalculonLayersOf(inputs)) {
    AddLayer(model, layer, execution.training, block);
    AddMemory(layer, execution.training, block);
  }
  const double activations = static_cast<double>(execution.microbatch_size) *
                             static_cast<double>(inputs.application.seq_size) *
                             static_cast<double>(inputs.application.hidden) *
                             execution.bytes_per_element;
  if (execution.activation_recompute == CalculonRecompute::kFull) {
    block.checkpoint = activations;
    block.stored_activations = 0;
  }
  if (execution.pipeline_par > 1) {
    const bool splits =
        execution.tensor_par_comm_type != CalculonTensorComm::kAllReduce;
    block.message_forward =
        splits ? activations / static_cast<double>(execution.tensor_par)
               : activations;
    if (execution.training) block.message_backward = block.message_forward;
  }
  return block;
}

}  // namespace astra
