// An algorithm of MSCCL in the form of its file: the thread blocks of each GPU,
// and the steps that each block takes in order.
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

#include "astra-core/xml/xml_place.h"
#include "collectives/schedules/demand.h"

namespace astra {

// Operations, in the order of kMscclOpNames. "Receive" takes the next message
// from the peer from which the block receives; "send" gives the result to the
// peer to which it sends.
enum class MscclOp : uint8_t {
  kSend,
  kReceive,
  kReceiveCopySend,
  kReceiveReduceSend,      // Adds the source; stores nothing.
  kReceiveReduceCopy,      // Adds the source; stores at the target.
  kReceiveReduceCopySend,  // Adds the source; stores, then sends.
  kCopy,                   // Copies within the GPU.
  kReduce,                 // Adds source to target within the GPU.
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

struct MscclAddress {
  MscclBuffer buffer = MscclBuffer::kInput;
  int32_t offset = 0;  // Offset in chunks.
};

struct MscclStep {
  XmlPlace place;
  MscclOp op = MscclOp::kNothing;
  uint32_t count = 0;  // Number of chunks.
  MscclAddress source;
  MscclAddress target;

  // A step of a block of the same GPU that must be done before.
  struct Dependency {
    uint32_t block_id = 0;
    uint32_t block = 0;  // Index into `blocks`.
    uint32_t step = 0;
  };
  std::optional<Dependency> dependency;
};

struct MscclBlock {
  XmlPlace place;
  uint32_t id = 0;
  std::optional<uint32_t> send;     // GPU to which messages go.
  std::optional<uint32_t> receive;  // GPU from which messages come.
  uint16_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  XmlPlace place;
  uint32_t num_scratch_chunks = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclAlgorithm {
  std::string name;
  ChunkedCollective collective;
  bool is_in_place = false;    // Input and output overlap in one buffer.
  uint32_t input_chunks = 0;   // Chunks of the input of each GPU.
  uint32_t output_chunks = 0;  // Chunks of the output of each GPU.
  std::vector<MscclGpu> gpus;
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_ALGORITHM_H_
