// The terms in which people report what they measured: a collective, a GPU, the
// NICs of a server, NVLink, a version of NCCL. They are written for readers,
// each in its own way, so these functions take what they understand and leave
// the rest; none fails.

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_TERMS_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_TERMS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/collective_kind.h"

namespace astra {

// "all_reduce", "AllReduce", "all-to-all", "alltoall", "sendrecv", and the
// programs of nccl-tests, such as "all_reduce_perf"; none for another word.
std::optional<CollectiveKind> CollectiveOf(std::string_view text);

// What nccl-tests calls a collective: "all_reduce", "alltoall", "sendrecv".
std::string_view NcclTestsName(CollectiveKind kind);
std::vector<std::string_view> NcclTestsNames();

// The model alone: "H100" of "NVIDIA H100 80GB HBM3" and of "H100-SXM5-80GB",
// "GB200" of "GB200 NVL72". `text` itself where no model is found in it.
std::string GpuModelOf(std::string_view text);

// The NICs of a server: "8x400 IB", "32x100 EFA", "1x400 per GPU", "none".
// What a text does not tell stays empty: "EFAv2" says but the transport.
struct MeasuredNics {
  bool none = false;              // Stated: a server by itself.
  std::optional<uint32_t> count;  // Of a server, or of each GPU.
  bool per_gpu = false;
  std::optional<double> gbps;  // Of one NIC: Gbit/s in each direction.
  // "IB", "RoCE", "EFA", "TCPX", "TCPXO", "TCP", "Slingshot"; "RDMA" where it
  // may be either of the first two, as with the name of a NIC (CX-7); or empty.
  std::string transport;
  std::optional<uint32_t> nvlink_domain;  // GPUs, of "NVL72".

  friend bool operator==(const MeasuredNics&, const MeasuredNics&) = default;
};
MeasuredNics ParseMeasuredNics(std::string_view text);

// NVLink: "NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)".
struct MeasuredNvlink {
  std::optional<uint32_t> generation;
  std::optional<uint32_t> num_links;  // Of a GPU.
  std::optional<double> gb_per_s;     // Of a GPU, in each direction.
  bool has_switch = false;
  std::optional<uint32_t> nvlink_domain;  // GPUs, of "NVL72".

  friend bool operator==(const MeasuredNvlink&,
                         const MeasuredNvlink&) = default;
};
MeasuredNvlink ParseMeasuredNvlink(std::string_view text);

struct MeasuredVersion {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;

  friend auto operator<=>(const MeasuredVersion&,
                          const MeasuredVersion&) = default;
};

// The first version in a text: "2.26.2+cuda12.8", "v2.18", or as the number
// that NCCL makes of it, 22602.
std::optional<MeasuredVersion> ParseMeasuredVersion(std::string_view text);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_TERMS_H_
