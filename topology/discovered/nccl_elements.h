// The GPUs and NICs of NCCL's topology file, as the file has them, with their
// places in the tree of PCI bridges.

#ifndef TOPOLOGY_DISCOVERED_NCCL_ELEMENTS_H_
#define TOPOLOGY_DISCOVERED_NCCL_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/xml/xml_reader.h"

namespace astra {

// The elements that contain a GPU or a NIC: its host, its CPU, then PCI bridges
// from the root down. Each has a number of its own.
using PciPath = std::vector<uint32_t>;

// How far apart two devices are: how they meet, and the elements between.
enum class PciMeeting : uint8_t { kBridge, kCpu, kHost, kNowhere };
using PciDistance = std::pair<PciMeeting, size_t>;

PciDistance DistanceBetween(const PciPath& a, const PciPath& b);

// Links of a GPU to one target.
struct NcclNvlinks {
  XmlPlace place;
  std::string target;  // Bus id.
  uint32_t count = 0;
  bool is_to_switch = false;
};

struct NcclGpu {
  XmlPlace place;
  std::string bus_id;
  std::string device;   // PCI vendor and device: "0x10de:0x2330".
  int64_t number = 0;   // `dev`.
  int64_t rank = -1;    // -1 if the file has none.
  uint32_t sm = 0;      // Compute capability, as in "90" for 9.0.
  Bandwidth pcie_rate;  // Least rate of the bridges up to the CPU; 0 if none.
  PciPath path;
  std::vector<NcclNvlinks> nvlinks;
};

// A NIC, or a port of one with several: an element `net`.
struct NcclNet {
  XmlPlace place;
  std::string name;
  int64_t number = 0;  // `dev`.
  uint32_t port = 1;
  Bandwidth rate;
  PciPath path;
};

struct NcclElements {
  XmlPlace root;
  std::vector<NcclGpu> gpus;  // In the order of the file.
  std::vector<NcclNet> nets;  // In the order of the file.
};

// Reads the elements. Errors are recorded in `reader`.
NcclElements ReadNcclElements(XmlReader& reader);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_NCCL_ELEMENTS_H_
