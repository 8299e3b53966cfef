// The variables by which a user configures NCCL: NCCL_ALGO=Ring and the like.
// They are given as a list or a file; the environment is never read.
//
// Source: NCCL user guide, "Environment Variables".

#ifndef COLLECTIVES_NCCL_NCCL_OPTIONS_H_
#define COLLECTIVES_NCCL_NCCL_OPTIONS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/inference_engines/inference_engine.h"
#include "collectives/launch.h"
#include "collectives/measured_curve.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

struct NcclVersion {
  int32_t major = 2;
  int32_t minor = 30;

  friend auto operator<=>(const NcclVersion&, const NcclVersion&) = default;
};

// Parses "2.27" or "2.27.7"; parts after the second do not matter.
absl::StatusOr<NcclVersion> ParseNcclVersion(std::string_view text);

// The algorithms and protocols that a collective may use.
struct NcclChoices {
  uint32_t algorithms = ~0U;  // Bit IndexOf(algorithm).
  uint32_t protocols = ~0U;   // Bit IndexOf(protocol).

  bool allows(NcclAlgorithm algorithm) const {
    return (algorithms >> IndexOf(algorithm) & 1) != 0;
  }
  bool allows(NcclProtocol protocol) const {
    return (protocols >> IndexOf(protocol) & 1) != 0;
  }
  // Returns whether the user asks for `algorithm` by name. A choice that is
  // left open, or that excludes others, also has the bits of no algorithm.
  bool names(NcclAlgorithm algorithm) const {
    return allows(algorithm) && algorithms >> kNumNcclAlgorithms == 0;
  }

  friend auto operator<=>(const NcclChoices&, const NcclChoices&) = default;
};

struct NcclOptions {
  NcclVersion version;
  std::map<CollectiveKind, NcclChoices> choices;  // Kinds that are restricted.
  uint32_t min_channels = 0;                      // 0: NCCL's default.
  uint32_t max_channels = 0;                      // 0: NCCL's default.
  bool nvls = true;                               // NCCL_NVLS_ENABLE
  bool pxn = true;                                // NCCL_PXN_DISABLE=0
  bool collnet = false;      // NCCL_COLLNET_ENABLE; needs a fabric with SHARP
  bool pat = true;           // NCCL_PAT_ENABLE
  uint32_t cross_nic = 2;    // NCCL_CROSS_NIC
  uint32_t queue_pairs = 1;  // NCCL_IB_QPS_PER_CONNECTION
  Launch launch = Launch::kHost;  // This is no variable of NCCL.
  // Buffers are in symmetric windows. This is no variable of NCCL.
  bool symmetric = false;
  // The engine of inference whose own all-reduce kernels go before NCCL's.
  std::optional<InferenceEngine> engine;
  // What takes tokens to their experts in place of NCCL's all-to-all.
  std::optional<ExpertDispatch> dispatch;
  // Measured times of NCCL's collectives, which go before its model. Null:
  // none.
  std::shared_ptr<const MeasuredCurves> measured;

  NcclChoices choices_of(CollectiveKind kind) const {
    const auto found = choices.find(kind);
    return found == choices.end() ? NcclChoices{} : found->second;
  }

  friend auto operator<=>(const NcclOptions&, const NcclOptions&) = default;
};

// Returns whether NCCL of `version` has the algorithm.
bool HasAlgorithm(const NcclVersion& version, NcclAlgorithm algorithm);

// Checks that NCCL of options.version has what the other options ask for.
//
// Errors: InvalidArgument "NCCL 2.18 has no algorithm PAT: expected 2.23 or
// later".
absl::Status CheckVersion(const NcclOptions& options);

// Returns `asked`, with the choices that it leaves open taken from `defaults`,
// texts such as "NCCL_ALGO=Ring,Tree". Features that `defaults` switch off stay
// off.
//
// Errors: those of ApplyNcclOption.
absl::StatusOr<NcclOptions> WithDefaults(
    NcclOptions asked, absl::Span<const std::string> defaults);

// Applies "KEY=VALUE" to `options`. The key NCCL_VERSION is not a variable of
// NCCL; it sets the version.
//
// Errors: InvalidArgument for a text without "=", an unknown or unsupported key
// (with the nearest known one), or a value that NCCL would not take.
absl::Status ApplyNcclOption(std::string_view text, NcclOptions* options);

// Returns whether NCCL has a variable `key` that changes where data goes or
// what is printed but not how long it takes: NCCL_DEBUG, NCCL_IB_HCA, ...
// ApplyNcclOption refuses such variables because they have no effect. Tools
// that replay a measurement skip them.
bool IsNeutralNcclVariable(std::string_view key);

// Returns whether ApplyNcclOption knows the variable `key`.
bool IsNcclVariable(std::string_view key);

// Apply each entry by ApplyNcclOption. A list is
// "NCCL_ALGO=Ring,NCCL_PROTO=Simple": a comma before "NCCL_" separates entries,
// and blanks around it do not matter. A file has an entry on each line, and "#"
// begins a comment.
//
// Errors: those of ApplyNcclOption, and InvalidArgument for a key that is there
// twice; after "FILE:LINE:COLUMN: " for a file.
absl::Status ApplyNcclOptionList(std::string_view list, NcclOptions* options);
absl::Status ApplyNcclOptionFile(const std::string& path, NcclOptions* options);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_NCCL_OPTIONS_H_
