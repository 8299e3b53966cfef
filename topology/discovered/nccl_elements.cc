#include "topology/discovered/nccl_elements.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxDevices = 1024;  // GPUs, and NICs.
constexpr uint32_t kMaxNumber = 1'000'000;

constexpr std::string_view kInCpu[] = {"pci", "nic"};
constexpr std::string_view kInPci[] = {"pci", "gpu", "nic"};

// Returns a bus id in small letters, with four digits of the domain: NVML
// writes eight.
std::string PlainBusId(std::string_view text) {
  std::string id = LowerCase(text);
  const size_t domain = id.find(':');
  constexpr size_t kDigits = 4;
  if (domain != std::string::npos && domain > kDigits &&
      id.find_first_not_of('0') >= domain - kDigits) {
    id.erase(0, domain - kDigits);
  }
  return id;
}

class ElementReader {
 public:
  explicit ElementReader(XmlReader& xml) : xml_(xml) {}

  NcclElements Read() {
    const pugi::xml_node root = xml_.Root("system");
    if (!xml_.status().ok()) return {};
    read_.root = xml_.PlaceOf(root);
    xml_.CheckAttributes(root, {"version"});
    const std::string version = xml_.Text(root, "version", "1");
    if (version != "1") {
      Fail(root, fmt::format("<system>: version is {}: expected 1, which NCCL "
                             "writes",
                             Quoted(version)));
    }
    for (const pugi::xml_node cpu : xml_.Children(root, "cpu")) ReadCpu(cpu);
    return std::move(read_);
  }

 private:
  void Fail(pugi::xml_node node, std::string_view message) {
    xml_.Fail(xml_.PlaceOf(node), message);
  }

  static std::string Attribute(pugi::xml_node node, const char* key) {
    return node.attribute(key).value();
  }

  // Reads an attribute that may be missing.
  int64_t NumberOr(pugi::xml_node node, const char* key, int64_t otherwise,
                   int64_t min, int64_t max) {
    return node.attribute(key) ? xml_.Integer(node, key, min, max) : otherwise;
  }

  void ReadCpu(pugi::xml_node cpu) {
    xml_.CheckAttributes(cpu, {"host_hash", "numaid", "affinity", "arch",
                               "vendor", "familyid", "modelid"});
    const auto [host, is_new] =
        hosts_.try_emplace(Attribute(cpu, "host_hash"), next_number_);
    if (is_new) ++next_number_;
    PciPath path = {host->second, next_number_++};
    for (const pugi::xml_node child : xml_.Children(cpu, kInCpu)) {
      ReadInside(child, Bandwidth(0), path);
    }
  }

  // Reads an element within a CPU or a PCI device; `rate` is the least of the
  // bridges above, or 0.
  void ReadInside(pugi::xml_node node, Bandwidth rate, PciPath& path) {
    if (!xml_.status().ok()) return;
    const std::string_view name = node.name();
    if (name == "pci") return ReadPci(node, rate, path);
    if (name == "gpu") return ReadGpu(node, rate, path);
    xml_.CheckAttributes(node, {});
    for (const pugi::xml_node net : xml_.Children(node, "net")) {
      ReadNet(net, path);
    }
  }

  void ReadPci(pugi::xml_node pci, Bandwidth above, PciPath& path) {
    xml_.CheckAttributes(
        pci, {"busid", "class", "vendor", "device", "subsystem_vendor",
              "subsystem_device", "link_speed", "link_width"});
    if (path.size() == kMaxDepth) {
      return Fail(pci, fmt::format("more than {} levels", kMaxDepth));
    }
    Bandwidth rate = PcieRate(pci);
    if (above.count() > 0 && rate.count() > 0) rate = std::min(above, rate);
    if (rate.count() == 0) rate = above;
    path.push_back(next_number_++);
    for (const pugi::xml_node child : xml_.Children(pci, kInPci)) {
      ReadInside(child, rate, path);
    }
    path.pop_back();
  }

  // Returns the rate of a PCIe link, 0 where the file does not know it:
  // "32.0 GT/s PCIe" and 16 lanes are 512 Gbps.
  Bandwidth PcieRate(pugi::xml_node pci) {
    const std::string speed = Attribute(pci, "link_speed");
    const std::string width = Attribute(pci, "link_width");
    if (speed.empty() || width.empty()) return Bandwidth(0);
    constexpr double kMaxGigatransfers = 1000;
    const size_t unit = speed.find(" GT/s");
    const absl::StatusOr<double> gigatransfers =
        ParseNumber("link_speed", speed.substr(0, unit), 0, kMaxGigatransfers);
    if (unit == std::string::npos || !gigatransfers.ok()) {
      // A link that is down, or a virtual one, has no speed.
      if (speed.starts_with("Unknown")) return Bandwidth(0);
      Fail(pci, fmt::format("<pci>: link_speed is {}: expected a rate such as "
                            "\"32.0 GT/s PCIe\"",
                            Quoted(speed)));
      return Bandwidth(0);
    }
    constexpr int64_t kMaxLanes = 255;  // "Unknown" in Linux.
    constexpr double kGiga = 1e9;
    const int64_t lanes = xml_.Integer(pci, "link_width", 0, kMaxLanes);
    return Bandwidth(
        std::llround(*gigatransfers * static_cast<double>(lanes) * kGiga));
  }

  void ReadGpu(pugi::xml_node node, Bandwidth rate, const PciPath& path) {
    xml_.CheckAttributes(node, {"dev", "sm", "rank", "gdr", "keep"});
    const pugi::xml_node pci = node.parent();
    NcclGpu gpu;
    gpu.place = xml_.PlaceOf(node);
    gpu.bus_id = PlainBusId(Attribute(pci, "busid"));
    gpu.device = Attribute(pci, "vendor") + ":" + Attribute(pci, "device");
    gpu.number = xml_.Integer(node, "dev", 0, kMaxNumber);
    gpu.rank = NumberOr(node, "rank", -1, -1, kMaxNumber);
    gpu.sm = xml_.Count(node, "sm", 0, kMaxNumber);
    gpu.pcie_rate = rate;
    gpu.path = path;
    constexpr std::string_view kInGpu[] = {"nvlink", "c2c"};
    for (const pugi::xml_node child : xml_.Children(node, kInGpu)) {
      if (std::string_view(child.name()) == "c2c") {
        xml_.WarnOfNoEffect(child, "the C2C link of a GPU to its CPU");
      } else {
        ReadNvlink(child, gpu);
      }
    }
    if (read_.gpus.size() == kMaxDevices) {
      return Fail(node, fmt::format("more than {} GPUs", kMaxDevices));
    }
    read_.gpus.push_back(std::move(gpu));
  }

  void ReadNvlink(pugi::xml_node node, NcclGpu& gpu) {
    xml_.CheckAttributes(node, {"target", "count", "tclass"});
    constexpr uint32_t kMaxLinks = 1000;
    NcclNvlinks links;
    links.place = xml_.PlaceOf(node);
    links.target = PlainBusId(xml_.Text(node, "target", "a bus id"));
    links.count = xml_.Count(node, "count", 1, kMaxLinks);
    const std::string target_class = LowerCase(Attribute(node, "tclass"));
    const bool is_hidden =
        links.target.ends_with("ff:ff") || links.target.ends_with("ff:ff.0");
    links.is_to_switch = target_class.starts_with("0x0680") || is_hidden;
    if (target_class == "0x068001") {
      return xml_.WarnOfNoEffect(node, "NVLink of a GPU to its CPU");
    }
    gpu.nvlinks.push_back(std::move(links));
  }

  void ReadNet(pugi::xml_node node, const PciPath& path) {
    xml_.CheckAttributes(
        node, {"name", "dev", "speed", "port", "latency", "guid", "maxconn",
               "gdr", "coll", "keep", "rail", "plane"});
    constexpr int64_t kMaxMbps = 100'000'000;
    constexpr int64_t kMbps = 1'000'000;
    NcclNet net;
    net.place = xml_.PlaceOf(node);
    net.name = xml_.Text(node, "name", "the name of a NIC");
    net.number = xml_.Integer(node, "dev", 0, kMaxNumber);
    net.port = static_cast<uint32_t>(NumberOr(node, "port", 1, 0, kMaxNumber));
    net.rate = Bandwidth(kMbps * xml_.Integer(node, "speed", 1, kMaxMbps));
    net.path = path;
    if (Attribute(node, "gdr") == "0") {
      xml_.WarnOfNoEffect(node, "a NIC without GPUDirect (gdr=\"0\")");
    }
    const std::string latency = Attribute(node, "latency");
    if (latency.find_first_not_of("0.") != std::string::npos) {
      xml_.WarnOfNoEffect(node, "the latency of a NIC");
    }
    if (read_.nets.size() == kMaxDevices) {
      return Fail(node, fmt::format("more than {} NICs", kMaxDevices));
    }
    read_.nets.push_back(std::move(net));
  }

  XmlReader& xml_;
  NcclElements read_;
  std::map<std::string, uint32_t> hosts_;  // Number by host_hash.
  uint32_t next_number_ = 0;
};

}  // namespace

PciDistance DistanceBetween(const PciPath& a, const PciPath& b) {
  const auto [end_a, end_b] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = static_cast<size_t>(end_a - a.begin());
  const size_t between = a.size() + b.size() - 2 * common;
  const PciMeeting meeting = common == 0   ? PciMeeting::kNowhere
                             : common == 1 ? PciMeeting::kHost
                             : common == 2 ? PciMeeting::kCpu
                                           : PciMeeting::kBridge;
  return {meeting, between};
}

NcclElements ReadNcclElements(XmlReader& reader) {
  return ElementReader(reader).Read();
}

}  // namespace astra
