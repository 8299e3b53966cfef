#include "collectives/calibration/calibrated_constants.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/nccl_algorithm.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMinTimeUs = 0.1;
constexpr double kMaxTimeUs = 1e5;

// A ramp over more than this is another slope for all sizes that are measured.
constexpr double kMaxRampMiB = 256;

class ConstantList {
 public:
  std::vector<CalibratedConstant> Take() { return std::move(constants_); }

  // Sets the part of the constants that are added next.
  void Begin(std::string_view part, bool of_transport) {
    part_ = part;
    of_transport_ = of_transport;
  }

  void AddTime(std::string_view key, double* value, double offset = 0) {
    Add(key, value, offset > 0 ? 0 : kMinTimeUs, kMaxTimeUs, offset, "");
  }
  void AddRate(std::string_view key, double* value) {
    Add(key, value, 0.1, 1e5, 0, "");
  }

  void AddPower(std::string_view key, double* value) {
    Add(key, value, 0, 8, 1, "");
  }

  void AddPace(std::string_view pattern, Pace& pace) {
    Add("efficiency", &pace.efficiency, 0.01, 1, 0, pattern);
    Add("ramp_us", &pace.ramp_us, 0, kMaxTimeUs,
        of_transport_ ? kTransportRampOffsetUs : kRampOffsetUs, pattern);
    Add("ramp_MiB", &pace.ramp_MiB, 1e-3, kMaxRampMiB, 0, pattern);
  }

  void AddLatency(std::string_view of, ProtocolLatency& latency) {
    const auto add = [&](std::string_view key, double* value, double min,
                         double max, double offset) {
      constants_.push_back({fmt::format("{} {} {}", part_, of, key), value, min,
                            max, offset, of_transport_, "",
                            key == "spread_KiB"});
    };
    add("start", &latency.start, 0.05, 20, 0);
    add("hop", &latency.hop, 0.05, 20, 0);
    add("spread", &latency.spread, 0, 10, kSpreadOffset);
    add("spread_KiB", &latency.spread_KiB, 1, 1e5, 0);
  }

  void AddPaces(Paces& paces) {
    for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
      AddPace(RegistryName(algorithm), paces.algorithms[IndexOf(algorithm)]);
    }
    AddPace(kDirectPattern, paces.direct);
    AddPace(kSendRecvPattern, paces.send_recv);
  }

 private:
  void Add(std::string_view key, double* value, double min, double max,
           double offset, std::string_view pattern) {
    std::string name = pattern.empty()
                           ? fmt::format("{} {}", part_, key)
                           : fmt::format("{} {} {}", part_, pattern, key);
    constants_.push_back({std::move(name), value, min, max, offset,
                          of_transport_, pattern, key == "ramp_MiB"});
  }

  std::string_view part_;
  bool of_transport_ = false;
  std::vector<CalibratedConstant> constants_;
};

}  // namespace

double CalibratedConstant::coordinate(double at) const {
  return std::log(std::max(at, min) + offset);
}

double CalibratedConstant::ValueAt(double coordinate) const {
  return std::clamp(std::exp(coordinate) - offset, min, max);
}

std::vector<CalibratedConstant> CalibratedConstantsOf(SystemSpec& system) {
  ConstantList list;
  Interconnect& interconnect = system.interconnect;
  list.Begin("interconnect", false);
  list.AddTime("launch_us", &interconnect.launch_us);
  list.AddTime("graph_launch_us", &interconnect.graph_launch_us);
  list.AddRate("ll_GBps", &interconnect.ll_GBps);
  list.AddTime("symmetric_us", &interconnect.symmetric_us);
  if (interconnect.kind == InterconnectKind::kPcie) {
    list.AddPower("crowding", &interconnect.crowding);
  }
  for (const NcclProtocol protocol : kNcclProtocols) {
    list.AddLatency(Name(protocol),
                    interconnect.latencies.protocols[IndexOf(protocol)]);
  }
  list.AddLatency("NVLS", interconnect.latencies.nvls);
  list.AddLatency("direct", interconnect.latencies.direct);
  list.AddPaces(interconnect.paces);
  list.AddPace(kSymmetricPattern, interconnect.paces.symmetric);

  Transport& transport = system.transport;
  list.Begin("transport", true);
  list.AddTime("latency_us", &transport.latency_us, kLatencyOffsetUs);
  list.AddTime("launch_us", &transport.launch_us);
  list.AddPaces(transport.paces);
  return list.Take();
}

std::vector<Pace*> PacesOf(SystemSpec& system) {
  std::vector<Pace*> paces;
  for (Paces* part : {&system.interconnect.paces, &system.transport.paces}) {
    for (Pace& pace : part->algorithms) paces.push_back(&pace);
    paces.push_back(&part->direct);
    paces.push_back(&part->send_recv);
    paces.push_back(&part->symmetric);
  }
  return paces;
}

}  // namespace astra
