// What Calculon needs of a training or inference job: the model (application),
// how it is run (execution) and the machine (system).
//
// Fields have the names of Calculon's keys. Numbers are seconds, bytes, FLOPs
// and rates per second; the unit of the file is beside a field where it
// differs. ReadCalculonInputs() makes them.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_INPUTS_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_INPUTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// A transformer of equal blocks, without embedding and output layer.
struct CalculonApplication {
  int64_t hidden = 0;
  int64_t feedforward = 0;
  int64_t seq_size = 0;  // Positions of a sequence.
  int64_t attn_heads = 0;
  int64_t attn_size = 0;  // Elements of a head.
  int64_t num_blocks = 0;
};

enum class CalculonAttention : uint8_t { kMultihead, kMultiquery };

// What the backward pass computes again.
enum class CalculonRecompute : uint8_t { kFull, kAttentionOnly, kNone };

// How ranks of tensor parallelism combine their parts: by all-reduces; by
// all-reduces, but at the ends of a chunk by reduce-scatter and all-gather; or
// always by these two, with activations split over the sequence between them.
enum class CalculonTensorComm : uint8_t { kAllReduce, kSplitAtEdges, kSplit };

// How communication of tensor parallelism hides behind products.
enum class CalculonTensorOverlap : uint8_t { kNone, kRing, kPipe };

struct CalculonExecution {
  int64_t num_procs = 0;
  int64_t tensor_par = 0;
  int64_t pipeline_par = 0;
  int64_t data_par = 0;
  size_t tensor_par_net = 0;  // Positions in CalculonSystem::networks.
  size_t pipeline_par_net = 0;
  size_t data_par_net = 0;
  int64_t batch_size = 0;       // Sequences of an iteration.
  int64_t microbatch_size = 0;  // Sequences of a micro-batch.
  std::string datatype;
  double bytes_per_element = 0;  // Of `datatype`.
  bool fused_activation = false;
  CalculonAttention attention_type = CalculonAttention::kMultihead;
  CalculonRecompute activation_recompute = CalculonRecompute::kNone;
  int64_t pipeline_interleaving = 0;  // Chunks of blocks of a processor.
  bool optimizer_sharding = false;
  CalculonTensorComm tensor_par_comm_type = CalculonTensorComm::kAllReduce;
  CalculonTensorOverlap tensor_par_overlap = CalculonTensorOverlap::kNone;
  bool seq_par_ag_redo = false;  // Gathers again what it does not store.
  bool data_par_overlap = false;
  bool weight_offload = false;
  bool activations_offload = false;
  bool optimizer_offload = false;
  bool training = false;

  // Micro-batches that each processor runs in an iteration.
  int64_t micro_batches() const {
    return batch_size / data_par / microbatch_size;
  }
};

// A rate that small operations reach only in part.
struct CalculonRate {
  struct Step {
    double least = 0;       // FLOPs or bytes from which the step holds.
    double efficiency = 0;  // Share of the peak.
  };

  double peak = 0;          // FLOP/s or bytes/s.
  std::vector<Step> steps;  // From the largest to 0.
};

struct CalculonMemory {
  double capacity = 0;  // Bytes; GiB in the file.
  CalculonRate rate;    // GB/s and MB in the file.
};

enum class CalculonOp : uint8_t {
  kPointToPoint,
  kReduceScatter,
  kAllGather,
  kAllReduce
};
constexpr std::string_view kCalculonOps[] = {"p2p", "reduce_scatter",
                                             "all_gather", "all_reduce"};

struct CalculonNetwork {
  // What an operation of n ranks sends, by size: scalar x (1 + offset / n).
  struct Traffic {
    double scalar = 0;
    double offset = 0;
  };

  double bandwidth = 0;   // Bytes/s; GB/s in the file.
  double efficiency = 0;  // Share of the bandwidth.
  int64_t size = 0;       // Processors that it joins.
  double latency = 0;     // Seconds of each operation.
  std::array<Traffic, std::size(kCalculonOps)> ops;  // By CalculonOp.
  bool must_be_filled = false;  // Groups must divide `size`.
  double processor_usage = 0;   // Share of a processor while it communicates.
};

struct CalculonSystem {
  CalculonRate matrix;  // Of the execution's datatype.
  CalculonRate vector;
  CalculonMemory mem1;  // Of the processor.
  CalculonMemory mem2;  // To which weights and activations are offloaded.
  bool overlaps_memory = false;  // "roofline": accesses overlap with FLOPs.
  std::vector<CalculonNetwork> networks;
};

struct CalculonInputs {
  CalculonApplication application;
  CalculonExecution execution;
  CalculonSystem system;
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_INPUTS_H_
