// Usage: sweep_sizes SYSTEM OP RANKS [NCCL_OPTIONS]
//
// Prints what nccl-tests would, from 1 KiB to 1 GiB.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <simai/simai_collectives.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: sweep_sizes SYSTEM OP RANKS [NCCL_OPTIONS]\n");
    return 2;
  }
  simai::EstimatorOptions options;
  if (argc == 5) options.nccl_options = argv[4];
  std::string error;
  const std::optional<simai::Estimator> estimator =
      simai::Estimator::Create(argv[1], std::atoi(argv[3]), options, &error);
  if (!estimator) {
    std::fprintf(stderr, "sweep_sizes: %s\n", error.c_str());
    return 2;
  }
  std::printf("%12s %12s %12s %12s  algorithm\n", "bytes", "time_us",
              "algbw_GBps", "busbw_GBps");
  for (int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 32) {
    const std::optional<simai::Estimate> estimate =
        estimator->EstimateCollective(argv[2], bytes, &error);
    if (!estimate) {
      std::fprintf(stderr, "sweep_sizes: %s\n", error.c_str());
      return 2;
    }
    std::printf("%12lld %12.1f %12.2f %12.2f  %s/%s\n",
                static_cast<long long>(bytes), estimate->time_us,
                estimate->algbw_GBps, estimate->busbw_GBps, estimate->algorithm,
                estimate->protocol);
  }
  return 0;
}
