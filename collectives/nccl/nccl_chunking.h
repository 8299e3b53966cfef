// Finds how NCCL cuts the buffer of a collective that is made of messages: over
// how many channels, and how much of it a channel moves at a time.
//
// A connection is a FIFO of 8 steps. With the Simple protocol a step is 512 KiB
// of 4 MiB; with LL, 32 KiB of data, half of what its lines take; with LL128,
// 576000 B of data. A chunk is a step, except that a ring with Simple moves
// chunks of 4 steps in 2 slices. Algorithms of NVSwitches and CollNet have
// chunks of their own, which shrink where the buffer has few of them.
//
// Small buffers use fewer channels of a ring or a tree: each thread of a
// channel has at least a certain number of bytes.
//
// Source: NCCL 2.30, src/enqueue.cc (chunks, channels), src/include/device.h,
// collectives.h, comm.h (sizes of buffers, steps, threads and thresholds).

#ifndef COLLECTIVES_NCCL_NCCL_CHUNKING_H_
#define COLLECTIVES_NCCL_NCCL_CHUNKING_H_

#include <cstdint>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/collective_request.h"
#include "collectives/nccl/channel_graph.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

// Returns how `algorithm` cuts `bytes`, on at most `channels` channels.
//
// A FIFO of 8 steps holds more than the two chunks that pipelined.h has under
// way between a pair. Chunks leave it one after the other, so two are enough to
// hide a latency: with eight, trees take as long. NVLS would take up to 1.4
// times as long with eight, since the data that a rank multicasts would wait
// for all data that it has already given to be reduced; on the GPU, other warps
// send it.
Chunking NcclChunking(NcclAlgorithm algorithm, NcclProtocol protocol,
                      CollectiveKind kind, Bytes bytes, uint32_t channels,
                      const GroupHardware& hardware);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_NCCL_CHUNKING_H_
