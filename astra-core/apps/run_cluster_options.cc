#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/topology.h"

namespace astra {
namespace {

// A rate that SimAI's options know by name, in GB/s.
//
// Source: the constants of SimAI 1.6's analytical mode. For NVLink, the rate is
// the number of links of a GPU times the rate of one link. For NICs, it is the
// rate that a NIC reaches.
struct NamedRate {
  std::string_view name;
  double gb_per_s;
};
constexpr NamedRate kNvlinkRates[] = {{"A100", 240},
                                      {"A800", 160},
                                      {"H100", 370.8},
                                      {"H20", 370.8},
                                      {"H800", 164.8}};
constexpr NamedRate kNicRates[] = {{"cx6", 23.5}, {"cx7", 48.5}, {"bf3", 48.5}};

// Limits of a rate in GB/s.
constexpr double kMinRate = 1e-6;
constexpr double kMaxRate = 1e5;

absl::StatusOr<double> RateOf(std::string_view option, std::string_view text,
                              absl::Span<const NamedRate> rates) {
  std::vector<std::string_view> names;
  for (const NamedRate& rate : rates) {
    const bool same =
        std::equal(text.begin(), text.end(), rate.name.begin(), rate.name.end(),
                   [](unsigned char a, unsigned char b) {
                     return std::tolower(a) == std::tolower(b);
                   });
    if (same) return rate.gb_per_s;
    names.push_back(rate.name);
  }
  return absl::InvalidArgumentError(UnknownName(option, text, names));
}

// Returns the rate that option `name` gives, or the rate of the type that the
// option `type_option` names.
absl::StatusOr<double> Rate(const CommandLine& flags, std::string_view name,
                            std::string_view type_option,
                            const std::optional<std::string>& type,
                            absl::Span<const NamedRate> rates) {
  if (flags.has(name)) {
    ASTRA_ASSIGN_OR_RETURN(const double rate, flags.number(name, 0, kMaxRate));
    if (rate >= kMinRate) return rate;
    return absl::InvalidArgumentError(fmt::format(
        "--{} is {}: expected at least {} GB/s", name, rate, kMinRate));
  }
  if (type) return RateOf(fmt::format("--{}", type_option), *type, rates);
  return absl::InvalidArgumentError(fmt::format(
      "--{} or --{} is missing: without -n a cluster is built from them", name,
      type_option));
}

}  // namespace

absl::StatusOr<TwoLevelParameters> ReadTwoLevelCluster(
    const CommandLine& flags) {
  for (const std::string_view name : {"gpus", "gpus-per-server"}) {
    if (!flags.has(name)) {
      return absl::InvalidArgumentError(
          fmt::format("--{} is missing: give a topology with -n, a system with "
                      "--system, or "
                      "-g, -g_p_s, -nv and -nic",
                      name));
    }
  }
  constexpr int64_t kMax = Topology::kMaxNodes;
  TwoLevelParameters p;
  ASTRA_ASSIGN_OR_RETURN(p.num_gpus, flags.integer("gpus", 0, 1, kMax));
  ASTRA_ASSIGN_OR_RETURN(p.gpus_per_server,
                         flags.integer("gpus-per-server", 0, 1, kMax));
  ASTRA_ASSIGN_OR_RETURN(
      p.nics_per_server,
      flags.integer("nic-per-server", p.gpus_per_server, 1, kMax));
  const std::optional<std::string> gpu_type = flags.value("gpu-type");
  p.gpu_type = gpu_type.value_or("GPU");
  if (p.gpus_per_server > 1) {
    ASTRA_ASSIGN_OR_RETURN(p.nvlink_gb_per_s, Rate(flags, "nvlink", "gpu-type",
                                                   gpu_type, kNvlinkRates));
  } else if (flags.has("nvlink")) {
    return absl::InvalidArgumentError(
        "--nvlink has no effect: servers of one GPU have no NVLink");
  }
  if (flags.has("nic-busbw") && flags.has("nic-type")) {
    return absl::InvalidArgumentError(
        "--nic-type has no effect beside --nic-busbw");
  }
  ASTRA_ASSIGN_OR_RETURN(
      p.nic_gb_per_s, Rate(flags, "nic-busbw", "nic-type",
                           flags.value("nic-type").value_or("cx7"), kNicRates));
  return p;
}

}  // namespace astra
