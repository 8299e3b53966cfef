#include "topology/fabrics/cable.h"

#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {

CableSpec ReadCable(const CableSpec& otherwise, YamlFields& fields) {
  CableSpec cable;
  cable.rate = fields.TextOr("rate", otherwise.rate);
  cable.latency = fields.TextOr("latency", otherwise.latency);
  cable.error_rate = fields.TextOr("error_rate", otherwise.error_rate);
  if (fields.has("rate")) {
    const absl::Status status = ParseBandwidth(cable.rate).status();
    if (!status.ok()) fields.Error("rate", std::string(status.message()));
  }
  if (fields.has("latency")) {
    const absl::Status status = ParseTime(cable.latency).status();
    if (!status.ok()) fields.Error("latency", std::string(status.message()));
  }
  if (fields.has("error_rate")) {
    const absl::StatusOr<double> rate =
        ParseNumber("the probability", cable.error_rate, 0, 1);
    if (!rate.ok() || *rate == 1) {
      fields.Error("error_rate", "expected a probability below 1");
    }
  }
  return cable;
}

std::string CableRateText(Bandwidth rate) {
  constexpr int64_t kGiga = 1'000'000'000;
  const int64_t bps = rate.count();
  if (bps % kGiga == 0) return fmt::format("{}Gbps", bps / kGiga);
  return fmt::format("{}bps", bps);
}

}  // namespace astra
