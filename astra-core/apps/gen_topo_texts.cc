#include "astra-core/apps/gen_topo_texts.h"

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckErrorRate(std::string_view text) {
  ASTRA_ASSIGN_OR_RETURN(const double rate,
                         ParseNumber("the probability", text, 0, 1));
  if (rate < 1) return absl::OkStatus();
  return absl::InvalidArgumentError("a link that loses all delivers nothing");
}

absl::Status CheckGpuType(std::string_view text) {
  if (!text.empty() && IsPlain(text) &&
      text.find_first_of(" \t\r\n/") == std::string_view::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("expected one word without \"/\"");
}

absl::Status Check(std::string_view option, std::string_view text) {
  if (option == "error-rate") return CheckErrorRate(text);
  if (option == "gpu-type") return CheckGpuType(text);
  if (option == "latency" || option == "nv-latency") {
    return ParseTime(text).status();
  }
  return ParseBandwidth(text).status();
}

}  // namespace

absl::Status CheckTopologyText(std::string_view option, std::string_view text) {
  absl::Status status = Check(option, text);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      fmt::format("--{}: {}", option, std::string(status.message())));
}

}  // namespace astra
