// Estimates how long a collective takes on a GPU cluster, for programs in
// C++17. It needs only the standard library and throws no exceptions of its
// own.
//
//   std::string error;
//   std::optional<simai::Estimator> estimator =
//       simai::Estimator::Create("dgx-h100", 16, {}, &error);
//   if (!estimator) ...
//   std::optional<simai::Estimate> all_reduce =
//       estimator->EstimateCollective("all_reduce", 1 << 30, &error);

#ifndef COLLECTIVES_API_SIMAI_COLLECTIVES_HPP_
#define COLLECTIVES_API_SIMAI_COLLECTIVES_HPP_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "simai_collectives.h"

namespace simai {

// It has the fields time_us, algbw_GBps, busbw_GBps, channels, algorithm, ...
using Estimate = simai_collective_estimate;

struct EstimatorOptions {
  int ranks_per_server = 0;  // 0: as many as the system has.
  std::string nccl_options;  // "NCCL_ALGO=Ring,NCCL_PROTO=Simple".
};

// Estimates collectives of a number of ranks of a system. simai_collectives.h
// explains the arguments and the use from several threads. A function that
// fails returns std::nullopt and sets `*error` to one line that gives the
// reason.
class Estimator {
 public:
  static std::optional<Estimator> Create(const std::string& system, int ranks,
                                         const EstimatorOptions& options,
                                         std::string* error) {
    std::array<char, kErrorSize> line;
    Estimator estimator(simai_estimator_create(
        system.c_str(), ranks, options.ranks_per_server,
        options.nccl_options.c_str(), line.data(), line.size()));
    if (estimator.handle_ != nullptr) return estimator;
    *error = line.data();
    return std::nullopt;
  }

  // Estimates `op`, such as "all_reduce", for a size of `bytes`.
  std::optional<Estimate> EstimateCollective(const std::string& op,
                                             int64_t bytes,
                                             std::string* error) const {
    std::array<char, kErrorSize> line;
    Estimate estimate;
    if (simai_estimator_estimate(handle_.get(), op.c_str(), bytes, &estimate,
                                 line.data(), line.size()) == 0) {
      return estimate;
    }
    *error = line.data();
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kErrorSize = 4096;
  struct Free {
    void operator()(simai_estimator* handle) const {
      simai_estimator_free(handle);
    }
  };

  explicit Estimator(simai_estimator* handle) : handle_(handle) {}

  std::unique_ptr<simai_estimator, Free> handle_;
};

inline std::string Version() { return simai_version(); }

}  // namespace simai

#endif  // COLLECTIVES_API_SIMAI_COLLECTIVES_HPP_
