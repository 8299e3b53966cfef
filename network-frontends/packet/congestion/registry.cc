#include "network-frontends/packet/congestion/registry.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "network-frontends/packet/congestion/dcqcn.h"
#include "network-frontends/packet/congestion/dctcp.h"
#include "network-frontends/packet/congestion/hpcc.h"
#include "network-frontends/packet/congestion/hpcc_pint.h"
#include "network-frontends/packet/congestion/none.h"
#include "network-frontends/packet/congestion/swift.h"
#include "network-frontends/packet/congestion/timely.h"
#include "network-frontends/packet/congestion/uec.h"

namespace astra {
namespace {

// Makes a Control from its part of the options.
template <class Control, auto kPart>
std::unique_ptr<CongestionControl> Make(const CongestionOptions& options) {
  return std::make_unique<Control>(options.*kPart);
}

std::unique_ptr<CongestionControl> MakeNone(
    const CongestionOptions& /*options*/) {
  return std::make_unique<NoCongestionControl>();
}

constexpr CongestionControlEntry kControls[] = {
    {"dcqcn", "rate cut by ECN marks, restored by timers (RoCE NICs)",
     &Make<Dcqcn, &CongestionOptions::dcqcn>},
    {"dctcp", "rate cut by the share of ECN marks, once per round trip",
     &Make<Dctcp, &CongestionOptions::dctcp>},
    {"hpcc", "window from what each switch tells of its port (INT)",
     &Make<Hpcc, &CongestionOptions::hpcc>},
    {"hpcc_pint", "HPCC with one byte of telemetry per packet",
     &Make<HpccPint, &CongestionOptions::hpcc_pint>},
    {"none", "line rate, limited by the window of the NIC only", &MakeNone},
    {"swift", "window that keeps the round-trip time at a target",
     &Make<Swift, &CongestionOptions::swift>},
    {"timely", "rate that follows the slope of the round-trip time",
     &Make<Timely, &CongestionOptions::timely>},
    {"uec", "window from ECN marks and delay (Ultra Ethernet NSCC)",
     &Make<Uec, &CongestionOptions::uec>},
};

}  // namespace

absl::Span<const CongestionControlEntry> CongestionControls() {
  return kControls;
}

absl::StatusOr<const CongestionControlEntry*> FindCongestionControl(
    std::string_view name) {
  std::vector<std::string_view> known;
  for (const CongestionControlEntry& control : kControls) {
    if (control.name == name) return &control;
    known.push_back(control.name);
  }
  return absl::InvalidArgumentError(
      UnknownName("congestion control", name, known));
}

}  // namespace astra
