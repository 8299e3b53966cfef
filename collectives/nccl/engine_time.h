// How long the all-reduce kernels of an engine of inference take, and what it
// costs an engine to start one from the host.

#ifndef COLLECTIVES_NCCL_ENGINE_TIME_H_
#define COLLECTIVES_NCCL_ENGINE_TIME_H_

#include <cstdint>
#include <string>

#include "collectives/inference_engines/inference_engine.h"
#include "collectives/launch.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/nccl/sized_time.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// Returns the time of a kernel on `num_ranks` GPUs whose busiest link takes
// `links_ps_per_byte`. It contains no launch.
SizedTime EngineTime(const EngineKernel& kernel, uint32_t num_ranks,
                     double links_ps_per_byte);

// Returns what an engine has its own way of starting: the least time of an
// all-reduce within a server, in microseconds. From a CUDA graph it is 0; from
// the host it is what was measured for the kernel or the engine, or else what
// `interconnect` says of NCCL. A null kernel is NCCL's.
double EngineLaunchUs(const InferenceEngine& engine, const EngineKernel* kernel,
                      const Interconnect& interconnect, Launch launch);

// Returns the time for each byte in which an engine copies the buffer before an
// all-reduce that the host starts; in a CUDA graph, buffers stay where they
// are.
//
// Source: vLLM, custom_all_reduce.py: outside graphs, the input is copied into
// a registered buffer; and the eager rows of the measurements of
// inputs/engines, NCCL's among them.
double EngineCopyPsPerByte(const Interconnect& interconnect, Launch launch);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_ENGINE_TIME_H_
