// Reads and writes the YAML files that describe a packet network.
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
// Keys are the names of the fields of PacketOptions; docs/formats/networks.md
// lists them. A key that the file leaves out has its default.

#ifndef NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_
#define NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "network-frontends/packet/packet_options.h"

namespace astra {

// Returns true if the first key of `contents`, after comments and blank lines,
// is "simai_network". This key marks the format; SimAI.conf has no such key.
bool IsNetworkFile(std::string_view contents);

// Returns the network that `contents` describes; `file` is its name in
// messages. `nv_switch` takes over what the file says of `fabric`, except for
// PFC and ECN, unless the file says otherwise for `nv_switch`.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
absl::StatusOr<PacketOptions> ParseNetworkFile(std::string_view file,
                                               std::string_view contents);

// Changes one value of `options`: `setting` is KEY=VALUE, with the keys of a
// file joined by dots, such as "congestion.dcqcn.gain=0.01". A key of `fabric`
// leaves `nv_switch` as it is.
//
// Errors: InvalidArgument "SETTING:1:COLUMN: ..." for an unknown key or a wrong
// value.
absl::Status SetNetworkValue(std::string_view setting, PacketOptions& options);

// Changes several values, in this order.
//
// Errors: those of SetNetworkValue; InvalidArgument for a value that has
// changed and has no effect with the others, such as a parameter of a
// congestion control that does not run.
absl::Status SetNetworkValues(absl::Span<const std::string> settings,
                              PacketOptions& options);

// Writes all values as a file from which ParseNetworkFile reads the same
// values.
std::string WriteNetworkFile(const PacketOptions& options);

// Returns the keys whose values differ between two networks, such as "seed" or
// "nic.window". Keys are at most two levels deep.
std::vector<std::string> DifferentKeys(const PacketOptions& a,
                                       const PacketOptions& b);

// Reads the network of the file `path`, which is a network file or SimAI.conf.
//
// Errors: those of ReadFile and of the parsers.
absl::StatusOr<PacketOptions> ReadNetwork(const std::string& path,
                                          Warnings* warnings);

// Returns `error`, which CheckPacketOptions returned, with the place in the
// file `path`, if there is one, of the field that the error is about.
absl::Status AtNetworkField(const std::optional<std::string>& path,
                            const absl::Status& error);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_NETWORK_FILE_H_
