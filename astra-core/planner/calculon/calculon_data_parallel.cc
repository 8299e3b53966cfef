#include "astra-core/planner/calculon/calculon_data_parallel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "astra-core/planner/calculon/calculon_machine.h"
#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {
namespace {

// Time and computation of a chunk behind which reductions can hide.
struct Cover {
  double window = 0;     // Seconds in which the network is free.
  double computing = 0;  // Seconds of FLOPs, which reductions slow down.
};

class DataParallel {
 public:
  DataParallel(const CalculonInputs& inputs, const CalculonBlockCost& block,
               const CalculonBlockTimes& times)
      : execution_(inputs.execution),
        network_(inputs.system.networks[inputs.execution.data_par_net]),
        block_(block),
        times_(times),
        schedule_(CalculonScheduleOf(inputs)) {}

  CalculonDataCost Cost() const {
    CalculonDataCost cost;
    if (execution_.data_par == 1 || !execution_.training) return cost;
    cost.block_bytes = block_.weights;
    cost.block_seconds = BlockSeconds();
    cost.seconds = static_cast<double>(schedule_.blocks) * cost.block_seconds;
    cost.exposed = cost.seconds;
    if (execution_.data_par_overlap) Hide(cost);
    return cost;
  }

 private:
  bool SharesNetwork(size_t other) const {
    return execution_.data_par_net == other;
  }

  double BlockSeconds() const {
    const auto seconds = [this](CalculonOp op) {
      return CalculonNetworkSeconds(network_, op, block_.weights,
                                    execution_.data_par);
    };
    if (!execution_.optimizer_sharding) return seconds(CalculonOp::kAllReduce);
    return seconds(CalculonOp::kReduceScatter) +
           seconds(CalculonOp::kAllGather);
  }

  // Returns how much the operations of a block send, by its weights.
  double Scalar() const {
    const auto scalar = [this](CalculonOp op) {
      return network_.ops[static_cast<size_t>(op)].scalar;
    };
    if (!execution_.optimizer_sharding) return scalar(CalculonOp::kAllReduce);
    return scalar(CalculonOp::kReduceScatter) + scalar(CalculonOp::kAllGather);
  }

  // Without a sharded optimizer, its step hides reductions, too.
  double OptimizerCover() const {
    return execution_.optimizer_sharding
               ? 0
               : block_.optimizer.seconds - block_.optimizer.memory_seconds;
  }

  Cover ChunkCover() const {
    const CalculonPair backward = times_.whole_backward();
    const double accesses = block_.activation_grad.memory_seconds +
                            block_.weight_grad.memory_seconds +
                            block_.again.memory_seconds;
    CalculonPair window = {backward.base - accesses, backward.edge - accesses};
    window.base += OptimizerCover();
    window.edge += OptimizerCover();
    if (SharesNetwork(execution_.tensor_par_net)) {
      window.base -= block_.tensor_again.seconds.base +
                     block_.tensor_backward.seconds.base;
      window.edge -= block_.tensor_again.seconds.edge +
                     block_.tensor_backward.seconds.edge;
    }
    return {schedule_.OfChunk(window),
            static_cast<double>(schedule_.chunk_blocks) * BlockComputing()};
  }

  double BlockComputing() const {
    const double flops = block_.activation_grad.flops_seconds +
                         block_.weight_grad.flops_seconds +
                         block_.again.flops_seconds;
    return execution_.optimizer_sharding
               ? flops
               : flops + block_.optimizer.flops_seconds;
  }

  // Returns how many messages of the pipeline collide with the reductions of a
  // chunk.
  double Collisions(double chunk_seconds) const {
    if (!SharesNetwork(execution_.pipeline_par_net)) return 0;
    const int64_t rest = schedule_.micro_batches % execution_.pipeline_par;
    const int64_t most = rest == 0 ? execution_.pipeline_par : rest;
    return std::min(
        std::floor(chunk_seconds / schedule_.OfChunk(times_.whole_backward())),
        static_cast<double>(most));
  }

  // Returns what is exposed of `seconds` of reductions, or what they slow down
  // computation by where they are hidden: `excess` is at most 0.
  double Exposed(double excess, double seconds) const {
    return excess > 0 ? excess : seconds * network_.processor_usage;
  }

  void Hide(CalculonDataCost& cost) const {
    const double usage = network_.processor_usage;
    const Cover chunk = ChunkCover();
    const double stages = static_cast<double>(execution_.pipeline_par);
    const double window = stages * chunk.window;
    const double slowdown = stages * chunk.computing * usage;
    const double chunk_seconds =
        static_cast<double>(schedule_.chunk_blocks) * cost.block_seconds;
    const double excess =
        chunk_seconds -
        (window - Collisions(chunk_seconds) * times_.backward_message) +
        slowdown;
    const double chunks = static_cast<double>(schedule_.chunks - 1);
    double cover = window + slowdown;
    if (SharesNetwork(execution_.pipeline_par_net)) {
      cover -= times_.backward_message;
    }
    cost.chunk_rate = Rate(cost, cover * chunks);

    const double tail_window = TailWindow(chunk.window);
    const double tail_seconds =
        static_cast<double>(schedule_.chunk_blocks - 1) * cost.block_seconds;
    const double tail_excess =
        tail_seconds + (BlockComputing() * usage - tail_window);
    cost.tail_rate = Rate(cost, tail_window + tail_seconds * usage);
    cost.exposed =
        cost.block_seconds + (chunks * Exposed(excess, chunk_seconds) +
                              Exposed(tail_excess, tail_seconds));
  }

  // Returns the time behind which the last chunk hides all reductions but that
  // of its first block.
  double TailWindow(double chunk_window) const {
    if (schedule_.chunk_blocks == 1) return 0;
    const CalculonPair backward = times_.whole_backward();
    return chunk_window - times_.backward_message -
           (backward.base + backward.edge) / 2 + OptimizerCover();
  }

  double Rate(const CalculonDataCost& cost, double seconds) const {
    if (seconds <= 0) return 0;
    return static_cast<double>(schedule_.chunk_blocks) * cost.block_bytes /
           seconds * Scalar();
  }

  const CalculonExecution& execution_;
  const CalculonNetwork& network_;
  const CalculonBlockCost& block_;
  const CalculonBlockTimes& times_;
  CalculonSchedule schedule_;
};

}  // namespace

CalculonDataCost CalculonDataCostOf(const CalculonInputs& inputs,
                                    const CalculonBlockCost& block,
                                    const CalculonBlockTimes& times) {
  return DataParallel(inputs, block, times).Cost();
}

}  // namespace astra
