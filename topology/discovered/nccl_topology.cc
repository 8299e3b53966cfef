#include "topology/discovered/nccl_topology.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/discovered/nccl_elements.h"

namespace astra {
namespace {

// Delay from a GPU to its switch, and of a cable of the fabric.
constexpr std::string_view kNvlinkLatency = "250ns";
constexpr std::string_view kNicLatency = "500ns";

// Rate of one NVLink each way, by compute capability.
struct NvlinkRate {
  uint32_t sm;  // And above, up to the next.
  int64_t mbps;
};
constexpr NvlinkRate kNvlinkRates[] = {
    {60, 160'000},   // P100: 20 GB/s.
    {70, 200'000},   // V100 and A100: 25 GB/s.
    {86, 112'500},   // A40 and A6000: 56.25 GB/s with 4 links.
    {90, 200'000},   // H100: 25 GB/s.
    {100, 400'000},  // Blackwell: 50 GB/s.
};
constexpr uint32_t kLastSm = 120;

// Names of GPUs, as in inputs/gpus, by PCI vendor and device.
struct GpuDevice {
  std::string_view device;
  std::string_view name;
};
constexpr GpuDevice kGpuDevices[] = {
    {"0x10de:0x1db5", "v100-sxm-32gb"},
    {"0x10de:0x20b0", "a100-sxm-40gb"},
    {"0x10de:0x20b2", "a100-sxm-80gb"},
    {"0x10de:0x20b5", "a100-pcie-80gb"},
    {"0x10de:0x20f1", "a100-pcie-40gb"},
    {"0x10de:0x2324", "h800-sxm"},
    {"0x10de:0x2329", "h20"},
    {"0x10de:0x2330", "h100-sxm"},
    {"0x10de:0x2331", "h100-pcie"},
    {"0x10de:0x2335", "h200"},
    {"0x10de:0x2342", "gh200"},
    {"0x10de:0x26b9", "l40s"},
    {"0x10de:0x2901", "b200"},
    {"0x10de:0x2941", "gb200"},
    {"0x10de:0x31c2", "gb300"},
};

std::optional<Bandwidth> RateOfNvlink(uint32_t sm) {
  if (sm < kNvlinkRates[0].sm || sm > kLastSm) return std::nullopt;
  int64_t mbps = 0;
  for (const NvlinkRate& each : kNvlinkRates) {
    if (each.sm <= sm) mbps = each.mbps;
  }
  constexpr int64_t kMbps = 1'000'000;
  return Bandwidth(mbps * kMbps);
}

class ServerReader {
 public:
  ServerReader(std::string_view file, std::string_view contents,
               Warnings* warnings)
      : file_(file), xml_(file, contents, warnings), warnings_(warnings) {}

  absl::StatusOr<ServerType> Read() {
    found_ = ReadNcclElements(xml_);
    ASTRA_RETURN_IF_ERROR(xml_.status());
    if (found_.gpus.empty()) xml_.Fail(found_.root, "there is no <gpu>");
    CheckGpus();
    SortDevices();
    type_.name = file_;
    type_.server.gpus = static_cast<uint32_t>(found_.gpus.size());
    ASTRA_RETURN_IF_ERROR(xml_.status());
    NameGpus();
    JoinByNvlink();
    JoinByPcie();
    FindNics();
    ASTRA_RETURN_IF_ERROR(xml_.status());
    return std::move(type_);
  }

 private:
  void Warn(XmlPlace place, std::string_view message) {
    warnings_->push_back(
        fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
  }

  // Refuses two GPUs of one rank, or of one bus id on the same host.
  void CheckGpus() {
    std::map<std::pair<uint32_t, std::string>, uint32_t> line_of_bus;
    std::map<int64_t, uint32_t> line_of_rank;
    for (const NcclGpu& gpu : found_.gpus) {
      const uint32_t line = gpu.place.line;
      const uint32_t host = gpu.path.empty() ? 0 : gpu.path.front();
      const auto [bus, is_new_bus] =
          line_of_bus.try_emplace({host, gpu.bus_id}, line);
      if (!is_new_bus) {
        return xml_.Fail(gpu.place,
                         fmt::format("a second GPU of bus id {}, which the one "
                                     "on line {} has",
                                     Quoted(gpu.bus_id), bus->second));
      }
      if (gpu.rank < 0) continue;
      const auto [rank, is_new_rank] = line_of_rank.try_emplace(gpu.rank, line);
      if (!is_new_rank) {
        return xml_.Fail(gpu.place,
                         fmt::format("a second GPU of rank {}, which the one "
                                     "on line {} has",
                                     gpu.rank, rank->second));
      }
    }
  }

  void SortDevices() {
    const bool by_rank =
        std::all_of(found_.gpus.begin(), found_.gpus.end(),
                    [](const NcclGpu& gpu) { return gpu.rank >= 0; });
    const auto key = [&](const NcclGpu& gpu) {
      return by_rank ? gpu.rank : gpu.number;
    };
    std::stable_sort(
        found_.gpus.begin(), found_.gpus.end(),
        [&](const NcclGpu& a, const NcclGpu& b) { return key(a) < key(b); });
    for (size_t i = 1; i < found_.gpus.size(); ++i) {
      if (key(found_.gpus[i]) != key(found_.gpus[i - 1])) continue;
      xml_.Fail(found_.gpus[i].place,
                fmt::format("a second <gpu> with dev {}, and not all have a "
                            "rank of their own",
                            found_.gpus[i].number));
    }
    std::stable_sort(
        found_.nets.begin(), found_.nets.end(),
        [](const NcclNet& a, const NcclNet& b) { return a.number < b.number; });
  }

  void NameGpus() {
    const NcclGpu& first = found_.gpus.front();
    for (const NcclGpu& gpu : found_.gpus) {
      if (gpu.device == first.device && gpu.sm == first.sm) continue;
      xml_.Fail(
          gpu.place,
          fmt::format("a GPU {} (sm {}) beside a GPU {} (sm {}): expected "
                      "equal GPUs",
                      Quoted(gpu.device), gpu.sm, Quoted(first.device),
                      first.sm));
    }
    for (const GpuDevice& each : kGpuDevices) {
      if (each.device == first.device) type_.server.gpu_type = each.name;
      if (each.device == first.device) return;
    }
    type_.server.gpu_type = "gpu";
    Warn(first.place, fmt::format("the GPU {} is not known: gpu_type names it",
                                  Quoted(first.device)));
  }

  // Joins GPUs by the links of each to switches and to other GPUs.
  void JoinByNvlink() {
    ServerSpec& server = type_.server;
    server.nv_switches = 0;
    const NcclGpu& first = found_.gpus.front();
    const std::optional<Bandwidth> rate = RateOfNvlink(first.sm);
    uint32_t most = 0;
    for (const NcclGpu& gpu : found_.gpus) {
      if (!gpu.nvlinks.empty() && !rate) {
        return xml_.Fail(gpu.place,
                         fmt::format("sm is {}: the rate of its NVLinks is "
                                     "known from 60 to {} only",
                                     gpu.sm, kLastSm));
      }
      most = std::max(most, SwitchLinks(gpu));
    }
    for (const NcclGpu& gpu : found_.gpus) CheckSwitchLinks(gpu, most);
    if (most > 0 && server.gpus > 1) {
      server.nv_switches = 1;
      server.nvlink = {CableRateText(Bandwidth(rate->count() * most)),
                       std::string(kNvlinkLatency), "0"};
    }
    AddGpuCables(rate.value_or(Bandwidth(0)));
  }

  static uint32_t SwitchLinks(const NcclGpu& gpu) {
    uint32_t count = 0;
    for (const NcclNvlinks& links : gpu.nvlinks) {
      if (links.is_to_switch) count += links.count;
    }
    return count;
  }

  void CheckSwitchLinks(const NcclGpu& gpu, uint32_t most) {
    const uint32_t count = SwitchLinks(gpu);
    if (count == most) return;
    if (count == 0) {
      return xml_.Fail(gpu.place, fmt::format("GPU {} has no link to an "
                                              "NVSwitch, others have {}",
                                              gpu.number, most));
    }
    Warn(gpu.place,
         fmt::format("GPU {} has {} links to NVSwitches, others have {}, with "
                     "which all are drawn",
                     gpu.number, count, most));
  }

  // Adds a cable for each two GPUs that links join, which both must list.
  void AddGpuCables(Bandwidth rate) {
    std::map<std::string, uint32_t> number_of;  // By bus id.
    for (uint32_t i = 0; i < found_.gpus.size(); ++i) {
      number_of[found_.gpus[i].bus_id] = i;
    }
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> count;
    for (uint32_t i = 0; i < found_.gpus.size(); ++i) {
      for (const NcclNvlinks& links : found_.gpus[i].nvlinks) {
        const auto other = number_of.find(links.target);
        if (links.is_to_switch) continue;
        if (links.target == found_.gpus[i].bus_id) {
          return xml_.Fail(
              links.place,
              fmt::format("an NVLink of GPU {} to itself, {}",
                          found_.gpus[i].number, Quoted(links.target)));
        }
        if (other == number_of.end()) {
          Warn(links.place, fmt::format("NVLink to {}, which is none of the "
                                        "other GPUs, has no effect",
                                        Quoted(links.target)));
          continue;
        }
        count[{i, other->second}] += links.count;
      }
    }
    for (const auto& [ends, links] : count) {
      const auto [a, b] = ends;
      const auto back = count.find({b, a});
      const uint32_t links_back = back == count.end() ? 0 : back->second;
      if (links != links_back) {
        return xml_.Fail(found_.gpus[a].place,
                         fmt::format("GPU {} has {} NVLinks to GPU {}, which "
                                     "has {} back",
                                     found_.gpus[a].number, links,
                                     found_.gpus[b].number, links_back));
      }
      if (a > b) continue;
      type_.server.gpu_cables.push_back(
          {a,
           b,
           {CableRateText(Bandwidth(rate.count() * links)),
            std::string(kNvlinkLatency), "0"}});
    }
  }

  // Joins the GPUs by PCIe, unless NVLink joins all of them.
  void JoinByPcie() {
    ServerSpec& server = type_.server;
    const uint64_t pairs = uint64_t{server.gpus} * (server.gpus - 1) / 2;
    if (server.nv_switches > 0 || server.gpu_cables.size() == pairs) return;
    Bandwidth rate = found_.gpus.front().pcie_rate;
    for (const NcclGpu& gpu : found_.gpus) {
      rate = std::min(rate, gpu.pcie_rate);
      const PciDistance apart =
          DistanceBetween(gpu.path, found_.gpus.front().path);
      if (apart.first == PciMeeting::kNowhere) {
        return xml_.Fail(gpu.place,
                         fmt::format("GPU {} is on another host, which NVLink "
                                     "does not join",
                                     gpu.number));
      }
      if (gpu.pcie_rate.count() == 0) {
        return xml_.Fail(gpu.place,
                         "<gpu> is on no PCI device with link_speed and "
                         "link_width, and NVLink does not join all GPUs");
      }
    }
    server.nv_switches = 1;
    server.nvlink = {CableRateText(rate), std::string(kNvlinkLatency), "0"};
  }

  // Returns the numbers of the NICs that are nearest to a GPU.
  std::vector<uint32_t> NearestNets(const NcclGpu& gpu) const {
    std::vector<uint32_t> nearest;
    PciDistance least = {PciMeeting::kNowhere, 0};
    for (uint32_t i = 0; i < found_.nets.size(); ++i) {
      const PciDistance distance =
          DistanceBetween(gpu.path, found_.nets[i].path);
      if (distance.first == PciMeeting::kNowhere || distance > least) continue;
      if (distance < least) nearest.clear();
      least = distance;
      nearest.push_back(i);
    }
    return nearest;
  }

  void FindNics() {
    // GPUs by the NICs that are nearest to them.
    std::map<std::vector<uint32_t>, std::vector<uint32_t>> groups;
    for (uint32_t i = 0; i < found_.gpus.size(); ++i) {
      groups[NearestNets(found_.gpus[i])].push_back(i);
    }
    std::vector<ServerNic> nics(found_.nets.size());
    for (const auto& [near, gpus] : groups) {
      const size_t more = std::max(near.size(), gpus.size());
      for (size_t i = 0; i < more && !near.empty(); ++i) {
        nics[near[i * near.size() / more]].gpus.push_back(
            gpus[i * gpus.size() / more]);
      }
    }
    KeepUsedNics(std::move(nics));
  }

  void KeepUsedNics(std::vector<ServerNic> nics) {
    const NcclNet* first = nullptr;
    for (size_t i = 0; i < nics.size(); ++i) {
      const NcclNet& net = found_.nets[i];
      nics[i].name = net.name;
      nics[i].port = net.port;
      std::sort(nics[i].gpus.begin(), nics[i].gpus.end());
      if (nics[i].gpus.empty()) {
        Warn(net.place, fmt::format("NIC {} is nearest to no GPU and is left "
                                    "out",
                                    Quoted(net.name)));
        continue;
      }
      if (first == nullptr) first = &net;
      if (net.rate != first->rate) {
        xml_.Fail(net.place,
                  fmt::format("NIC {} has {} and NIC {} {}: expected NICs of "
                              "one rate",
                              Quoted(net.name), CableRateText(net.rate),
                              Quoted(first->name), CableRateText(first->rate)));
      }
      type_.server.nics.push_back(std::move(nics[i]));
    }
    std::stable_sort(type_.server.nics.begin(), type_.server.nics.end(),
                     [](const ServerNic& a, const ServerNic& b) {
                       return a.gpus.front() < b.gpus.front();
                     });
    if (first == nullptr) return;
    type_.nic = {CableRateText(first->rate), std::string(kNicLatency), "0"};
  }

  std::string_view file_;
  XmlReader xml_;
  Warnings* warnings_;
  NcclElements found_;
  ServerType type_;
};

}  // namespace

absl::StatusOr<ServerType> ParseNcclTopology(std::string_view file,
                                             std::string_view contents,
                                             Warnings* warnings) {
  return ServerReader(file, contents, warnings).Read();
}

}  // namespace astra
