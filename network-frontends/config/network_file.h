// The file format of networks of packets: YAML.
//
//   simai_network: 1
//   nic: {payload: 4KiB, window: path}
//   fabric:
//     latency: 600ns
//     ecn_thresholds:
//       - {rate: 400Gbps, min_queue: 800kB, max_queue: 3200kB,
//          max_probability: 0.2}
//   congestion:
//     name: dcqcn
//     dcqcn: {gain: 0.00390625}
//
// Keys are the names of the fields of PacketOptions; docs/formats.md lists
// them. What a file does not say has its default.

#ifndef NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_
#define NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "network-frontends/packet/packet_options.h"

namespace astra {

// Whether `contents` begins, after comments and blank lines, with the key
// "simai_network", which marks this format; SimAI.conf has no such key.
bool IsNetworkFile(std::string_view contents);

// The network that `contents` describes; `file` is its name in messages. What
// the file says of `fabric` holds for `nv_switch` too, where that says nothing
// else, but not whether there are PFC and ECN.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
absl::StatusOr<PacketOptions> ParseNetworkFile(std::string_view file,
                                               std::string_view contents);

// All values as a file that ParseNetworkFile reads back as they were.
std::string WriteNetworkFile(const PacketOptions& options);

// The keys, such as "seed" or "nic.window", at most two levels deep, whose
// values differ between two networks.
std::vector<std::string> DifferentKeys(const PacketOptions& a,
                                       const PacketOptions& b);

// The network of the file `path`, of this format or SimAI.conf.
//
// Errors: those of ReadFile and of the parsers.
absl::StatusOr<PacketOptions> ReadNetwork(const std::string& path,
                                          Warnings* warnings);

// `error` of CheckPacketOptions, with the place in the file `path` of the field
// that it is about.
absl::Status AtNetworkField(const std::string& path, const absl::Status& error);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_
