#include "collectives/nccl/engine_time.h"

#include <algorithm>

namespace astra {

SizedTime EngineTime(const EngineKernel& kernel, uint32_t num_ranks,
                     double links_ps_per_byte) {
  SizedTime time;
  time.latency_us = kernel.StartUs(num_ranks);
  time.ps_per_byte = links_ps_per_byte;
  if (kernel.buffer_GBps > 0) {
    time.ps_per_byte =
        std::max(time.ps_per_byte, kPsPerByteAndGBps / kernel.buffer_GBps);
  }
  time.least_wire_us = kernel.PassUs(num_ranks);
  return time;
}

double EngineLaunchUs(const InferenceEngine& engine, const EngineKernel* kernel,
                      const Interconnect& interconnect, Launch launch) {
  if (launch != Launch::kHost) return 0;
  if (kernel != nullptr && kernel->eager_us > 0) return kernel->eager_us;
  const EngineLinks* const links = engine.LinksOf(interconnect.name);
  return links != nullptr && links->eager_us > 0 ? links->eager_us
                                                 : interconnect.launch_us;
}

double EngineCopyPsPerByte(const Interconnect& interconnect, Launch launch) {
  return launch == Launch::kHost ? kPsPerByteAndGBps / interconnect.copy_GBps
                                 : 0;
}

}  // namespace astra
