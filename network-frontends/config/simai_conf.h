// Reads SimAI.conf, the configuration of SimAI's ns-3 backend. Each line has a
// key and its values; "#" begins a comment.
//
//   CC_MODE 1
//   KMAX_MAP 2 100000000000 1600 400000000000 3200
//
// A key that is absent has the default of SimAI's code. Where the code leaves
// it undefined, it has the value of the file that comes with SimAI.
//
// Sources: SimAI 1.6, astra-sim/network_frontend/ns3/common.h (the keys) and
// ns-3-alibabacloud, rdma-hw.cc and switch-mmu.cc (their meaning).

#ifndef NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_
#define NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "network-frontends/packet/packet_options.h"

namespace astra {

// Returns SimAI's network: packets have a header of 52 bytes, each message has
// a queue pair of its own and has arrived once its sender knows, all queue
// pairs have the same window, and switches use PFC. One warning names the keys
// that have no effect.
//
// Two things differ from SimAI: NVSwitches send PFC and lose nothing, and a
// message whose acknowledgement is lost is sent again after a timeout.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for an unknown key and for a
// value that is malformed or not supported.
absl::StatusOr<PacketOptions> ParseSimaiConf(std::string_view file,
                                             std::string_view contents,
                                             Warnings* warnings);

// Returns InvalidArgument "FILE:LINE:COLUMN: MESSAGE" at the key of SimAI.conf
// that sets `field`. `field` is the name of a field of a network file, as in
// FieldError(). The error is at the beginning of the file where `contents` has
// no such key.
absl::Status AtSimaiConfKey(std::string_view file, std::string_view contents,
                            std::string_view field, std::string_view message);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_
