// SimAI.conf, the configuration of SimAI's ns-3 backend: a key and its values
// on each line, "#" begins a comment.
//
//   CC_MODE 1
//   KMAX_MAP 2 100000000000 1600 400000000000 3200
//
// A key that is absent has the value that SimAI's code has for it, or, where
// that is undefined, that of the file that SimAI comes with.
//
// Source: SimAI 1.6, astra-sim/network_frontend/ns3/common.h (the keys) and
// ns-3-alibabacloud, rdma-hw.cc and switch-mmu.cc (what they mean).

#ifndef NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_
#define NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "network-frontends/packet/packet_options.h"

namespace astra {

// SimAI's network: packets of 52 bytes of header, one queue pair for each
// message, which has arrived once its sender knows, one window for all, PFC.
// Keys that have no effect are named in one warning.
//
// Unlike SimAI's, NVSwitches send PFC and lose nothing, and a message whose
// acknowledgement is lost is sent again after a while.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for an unknown key, a value
// that is none, and one that is not supported.
absl::StatusOr<PacketOptions> ParseSimaiConf(std::string_view file,
                                             std::string_view contents,
                                             Warnings* warnings);

// InvalidArgument "FILE:LINE:COLUMN: MESSAGE" about the key that `field` of a
// network file, as FieldError() has it, is called in SimAI.conf; at the
// beginning of the file where `contents` has no such key.
absl::Status AtSimaiConfKey(std::string_view file, std::string_view contents,
                            std::string_view field, std::string_view message);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_H_
