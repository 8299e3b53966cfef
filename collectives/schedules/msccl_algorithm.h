// An algorithm of MSCCL, as its file has it: per GPU the thread blocks, and the
// steps that each of them takes in order.
//
// Source: microsoft/msccl, src/graph/topo.cc (the reader) and
// src/collectives/device/msccl_interpreter.h (what the steps do).

#ifndef COLLECTIVES_SCHEDULES_MSCCL_ALGORITHM_H_
#define COLLECTIVES_SCHEDULES_MSCCL_ALGORITHM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/schedules/demand.h"

namespace astra {

// In the order of kMscclOpNames. "Receive" takes the next message from the peer
// of the block, "send" gives the result to the other peer.
enum class MscclOp : uint8_t {
  kSend,
  kReceive,
  kReceiveCopySend,
  kReceiveReduceSend,  // Adds what is at the source; stores nothing.
  kReceiveReduceCopy,  // Adds what is at the source; stores at the target.
  kReceiveReduceCopySend,
  kCopy,    // Within the GPU.
  kReduce,  // Adds the source to the target, within the GPU.
  kNothing,
};
constexpr std::string_view kMscclOpNames[] = {
    "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"};

constexpr bool Sends(MscclOp op) {
  return op == MscclOp::kSend || op == MscclOp::kReceiveCopySend ||
         op == MscclOp::kReceiveReduceSend ||
         op == MscclOp::kReceiveReduceCopySend;
}
constexpr bool Receives(MscclOp op) {
  return op == MscclOp::kReceive || op == MscclOp::kReceiveCopySend ||
         op == MscclOp::kReceiveReduceSend ||
         op == MscclOp::kReceiveReduceCopy ||
         op == MscclOp::kReceiveReduceCopySend;
}
constexpr bool Reads(MscclOp op) {
  return op != MscclOp::kReceive && op != MscclOp::kReceiveCopySend &&
         op != MscclOp::kNothing;
}
constexpr bool Writes(MscclOp op) {
  return op != MscclOp::kSend && op != MscclOp::kReceiveReduceSend &&
         op != MscclOp::kNothing;
}

enum class MscclBuffer : uint8_t { kInput, kOutput, kScratch };
constexpr std::string_view kMscclBufferNames[] = {"i", "o", "s"};

// Where something stands in the file, counted from 1.
struct MscclPlace {
  uint32_t line = 1;
  uint32_t column = 1;
};

struct MscclAddress {
  MscclBuffer buffer = MscclBuffer::kInput;
  int32_t offset = 0;  // In chunks.
};

struct MscclStep {
  MscclPlace place;
  MscclOp op = MscclOp::kNothing;
  uint32_t count = 0;  // Of chunks.
  MscclAddress source;
  MscclAddress target;

  // The step of a block of the same GPU that must be done before.
  struct Dependency {
    uint32_t block_id = 0;
    uint32_t block = 0;  // Position in `blocks`.
    uint32_t step = 0;
  };
  std::optional<Dependency> dependency;
};

struct MscclBlock {
  MscclPlace place;
  uint32_t id = 0;
  std::optional<uint32_t> send;     // The GPU that messages go to.
  std::optional<uint32_t> receive;  // The GPU that they come from.
  uint16_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  MscclPlace place;
  uint32_t num_scratch_chunks = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclAlgorithm {
  std::string name;
  ChunkedCollective collective;
  bool is_in_place = false;    // Input and output are parts of one buffer.
  uint32_t input_chunks = 0;   // Of each GPU.
  uint32_t output_chunks = 0;  // Of each GPU.
  std::vector<MscclGpu> gpus;
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_ALGORITHM_H_
