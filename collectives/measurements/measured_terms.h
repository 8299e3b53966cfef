// Reads the terms in which people report measurements: a collective, a GPU, the
// NICs of a server, NVLink, a version of NCCL. Such texts are written for
// readers, in many ways. The functions use what they understand and skip the
// rest; none fails.

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

// Returns the collective that "all_reduce", "AllReduce", "all-to-all",
// "alltoall", "sendrecv" or a program of nccl-tests such as "all_reduce_perf"
// names, or "dispatch" or "combine"; nullopt for another word.
std::optional<CollectiveKind> CollectiveOf(std::string_view text);

// Returns the name in nccl-tests: "all_reduce", "alltoall", "sendrecv".
// Dispatch and combine, which nccl-tests lacks, are "dispatch" and "combine".
std::string_view NcclTestsName(CollectiveKind kind);
std::vector<std::string_view> NcclTestsNames();

// Returns only the model: "H100" for "NVIDIA H100 80GB HBM3" and
// "H100-SXM5-80GB", "GB200" for "GB200 NVL72". Returns `text` if it has no
// known model.
std::string GpuModelOf(std::string_view text);

// The NICs of a server: "8x400 IB", "32x100 EFA", "1x400 per GPU", "none".
// Fields that the text does not state are empty: "EFAv2" gives only the
// transport.
struct MeasuredNics {
  bool none = false;              // The text states that there are no NICs.
  std::optional<uint32_t> count;  // NICs of a server, or of a GPU.
  bool per_gpu = false;
  std::optional<double> gbps;  // Rate of a NIC each way, in Gbit/s.
  // "IB", "RoCE", "EFA", "TCPX", "TCPXO", "TCP" or "Slingshot". "RDMA" if it
  // may be either of the first two, as with the name of a NIC (CX-7). Else
  // empty.
  std::string transport;
  std::optional<uint32_t> nvlink_domain;  // GPUs of the domain: 72 for "NVL72".

  friend bool operator==(const MeasuredNics&, const MeasuredNics&) = default;
};
MeasuredNics ParseMeasuredNics(std::string_view text);

// The NVLinks of a GPU: "NVLink4 NVSwitch3 (18 links, 450 GB/s/dir)".
struct MeasuredNvlink {
  std::optional<uint32_t> generation;
  std::optional<uint32_t> num_links;  // Links of a GPU.
  std::optional<double> gb_per_s;     // Rate of a GPU each way, in GB/s.
  bool has_switch = false;
  bool joins_pairs = false;  // Bridges join pairs of GPUs: "pairs".
  std::optional<uint32_t> nvlink_domain;  // GPUs of the domain: 72 for "NVL72".

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

// Returns the first version in a text: "2.26.2+cuda12.8", "v2.18", or the
// number 22602 that NCCL makes of 2.26.2.
std::optional<MeasuredVersion> ParseMeasuredVersion(std::string_view text);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_TERMS_H_
