#include "astra-core/apps/serving/serving_pricing.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/kernels/kernel_model.h"

namespace astra {
namespace {

NcclOptions OptionsOf(const ServingJob& job, Launch launch) {
  NcclOptions options = job.nccl;
  options.launch = launch;
  options.engine = job.engine;
  return options;
}

}  // namespace

ServingPricing::ServingPricing(const ServingJob& job, SystemSpec system,
                               Topology topology, int64_t num_gpus)
    : facts_(job.engine.serving),
      kernel_us_(job.gpu.calibration.kernel_us),
      system_(std::move(system)),
      topology_(std::move(topology)),
      routes_(topology_),
      graph_options_(OptionsOf(job, Launch::kGraph)),
      eager_options_(OptionsOf(job, Launch::kQueued)),
      graph_(system_, graph_options_, routes_, num_gpus),
      eager_(system_, eager_options_, routes_, num_gpus) {}

absl::StatusOr<std::unique_ptr<ServingPricing>> ServingPricing::Create(
    const ServingJob& job, SystemSpec system, Topology topology,
    int64_t num_gpus, Warnings* warnings) {
  const Precision precision = job.layout.precision;
  if (job.gpu.peak_tflops[IndexOf(precision)] == 0) {
    return absl::InvalidArgumentError(
        fmt::format("--dtype {}: {} has no products of that precision",
                    Name(precision), job.gpu.name));
  }
  std::unique_ptr<ServingPricing> pricing(new ServingPricing(
      job, std::move(system), std::move(topology), num_gpus));
  ASTRA_ASSIGN_OR_RETURN(
      pricing->gpu_,
      GpuTimes::Create(
          job.gpu, {}, "",
          {.use = KernelUse::kInference, .engine = job.engine.name}, warnings));
  return pricing;
}

PriceSources ServingPricing::sources() {
  return {.times = gpu_->model(),
          .fused = {facts_.fused, kernel_us_},
          .graph = graph_,
          .eager = eager_};
}

}  // namespace astra
