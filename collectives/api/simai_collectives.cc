#include "collectives/api/simai_collectives.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"
#include "fmt/core.h"

// An estimator fills caches as it is used, so threads take turns.
struct simai_estimator {
  explicit simai_estimator(astra::CollectiveEstimator created)
      : estimator(std::move(created)) {}

  std::mutex mutex;
  astra::CollectiveEstimator estimator;
};

namespace astra {
namespace {

// Returns the largest number of bytes of `text`, at most `size`, that ends with
// a whole character.
size_t WholeCharacters(std::string_view text, size_t size) {
  if (text.size() <= size) return text.size();
  const auto continues = [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
  };
  while (size > 0 && continues(text[size])) --size;
  return size;
}

// Copies `text` and a NUL into a buffer of `size` bytes.
void CopyText(std::string_view text, char* buffer, size_t size) {
  if (size == 0) return;
  const size_t length = WholeCharacters(text, size - 1);
  std::copy_n(text.data(), length, buffer);
  buffer[length] = '\0';
}

int Report(const absl::Status& status, char* error, size_t error_size) {
  CopyText(std::string(status.message()), error, error_size);
  return status.ok() ? 0 : SIMAI_BAD_INPUT;
}

absl::Status CheckNotNull(std::string_view what, const void* pointer) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} is a null pointer", what));
}

absl::StatusOr<uint32_t> ParseCount(std::string_view what, int count) {
  if (count >= 0) return static_cast<uint32_t>(count);
  return absl::InvalidArgumentError(
      fmt::format("{} {}: expected 0 or more", what, count));
}

absl::StatusOr<CollectiveKind> ParseOp(const char* op) {
  ASTRA_RETURN_IF_ERROR(CheckNotNull("op", op));
  const std::optional<CollectiveKind> kind = CollectiveOf(op);
  if (kind) return *kind;
  return absl::InvalidArgumentError(UnknownName("op", op, NcclTestsNames()));
}

absl::StatusOr<CollectiveEstimator> Create(const char* system, int ranks,
                                           int ranks_per_server,
                                           const char* nccl_options) {
  ASTRA_RETURN_IF_ERROR(CheckNotNull("system", system));
  ASTRA_ASSIGN_OR_RETURN(const uint32_t num_ranks, ParseCount("ranks", ranks));
  ASTRA_ASSIGN_OR_RETURN(const uint32_t num_per_server,
                         ParseCount("ranks_per_server", ranks_per_server));
  NcclOptions options;
  if (nccl_options != nullptr && *nccl_options != '\0') {
    ASTRA_RETURN_IF_ERROR(ApplyNcclOptionList(nccl_options, &options));
  }
  return CollectiveEstimator::Create(system, num_ranks, num_per_server,
                                     options);
}

absl::Status Estimate(CollectiveEstimator& estimator, const char* op,
                      int64_t bytes, simai_collective_estimate* out) {
  ASTRA_ASSIGN_OR_RETURN(const CollectiveKind kind, ParseOp(op));
  ASTRA_RETURN_IF_ERROR(CheckNotNull("out", out));
  ASTRA_ASSIGN_OR_RETURN(const CollectiveEstimate estimate,
                         estimator.Estimate(kind, Bytes(bytes)));
  *out = {};
  out->time_us = estimate.time_us;
  out->algbw_GBps = estimate.algbw_GBps;
  out->busbw_GBps = estimate.busbw_GBps;
  out->channels = static_cast<int>(estimate.channels);
  out->is_latency_bound = estimate.is_latency_bound ? 1 : 0;
  CopyText(estimate.algorithm, out->algorithm, sizeof(out->algorithm));
  CopyText(estimate.protocol, out->protocol, sizeof(out->protocol));
  CopyText(estimate.bottleneck, out->bottleneck, sizeof(out->bottleneck));
  return absl::OkStatus();
}

absl::Status EstimateOnce(const char* system, const char* op, int64_t bytes,
                          int ranks, int ranks_per_server,
                          const char* nccl_options,
                          simai_collective_estimate* out) {
  ASTRA_ASSIGN_OR_RETURN(CollectiveEstimator estimator,
                         Create(system, ranks, ranks_per_server, nccl_options));
  return Estimate(estimator, op, bytes, out);
}

}  // namespace
}  // namespace astra

int simai_estimate_collective(const char* system, const char* op, int64_t bytes,
                              int ranks, int ranks_per_server,
                              const char* nccl_options,
                              simai_collective_estimate* out, char* error,
                              size_t error_size) {
  return astra::Report(astra::EstimateOnce(system, op, bytes, ranks,
                                           ranks_per_server, nccl_options, out),
                       error, error_size);
}

simai_estimator* simai_estimator_create(const char* system, int ranks,
                                        int ranks_per_server,
                                        const char* nccl_options, char* error,
                                        size_t error_size) {
  absl::StatusOr<astra::CollectiveEstimator> estimator =
      astra::Create(system, ranks, ranks_per_server, nccl_options);
  astra::Report(estimator.status(), error, error_size);
  if (!estimator.ok()) return nullptr;
  return new simai_estimator(*std::move(estimator));
}

int simai_estimator_estimate(simai_estimator* estimator, const char* op,
                             int64_t bytes, simai_collective_estimate* out,
                             char* error, size_t error_size) {
  const absl::Status is_there = astra::CheckNotNull("estimator", estimator);
  if (!is_there.ok()) return astra::Report(is_there, error, error_size);
  const std::lock_guard<std::mutex> turn(estimator->mutex);
  return astra::Report(astra::Estimate(estimator->estimator, op, bytes, out),
                       error, error_size);
}

void simai_estimator_free(simai_estimator* estimator) { delete estimator; }

const char* simai_version(void) { return SIMAI_CPP_VERSION; }
