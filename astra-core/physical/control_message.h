// The messages between the ranks of a physical run and its coordinator, in the
// order in which they are sent. Ping to Report are repeated for each iteration.
//
// clang-format off
//   rank to coordinator                    coordinator to rank
//   Join       who it is, where it listens
//                                          Roster   where all ranks listen
//   Connected  to all ranks that it needs, and over what
//                                          Ping     16 times, to other clocks
//   Pong       its clock
//                                          Begin    when the iteration begins
//   Report     what it measured
//                                          Finish   the run is over
//   Abort      why it cannot go on         Abort    why the run ends
// clang-format on

#ifndef ASTRA_CORE_PHYSICAL_CONTROL_MESSAGE_H_
#define ASTRA_CORE_PHYSICAL_CONTROL_MESSAGE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "workload/phase.h"

namespace astra {

struct JoinMessage {
  RankId rank;
  uint32_t num_ranks = 0;
  // Hash of all that must be the same for all ranks: workload, cluster and
  // options.
  std::string digest;
  std::string host;  // Name of the rank's host.
  std::string boot;  // BootId() of the host; ranks of one boot share a clock.
  // Address at which other ranks reach this rank; "" for the address from which
  // it has joined.
  std::string address;
  uint16_t port = 0;  // Port on which the rank listens.
};

struct RosterMessage {
  std::string session;          // Random bytes that name the run.
  std::vector<Endpoint> ranks;  // Where each rank listens, by rank.
};

struct ConnectedMessage {
  FabricName network;  // What the rank sends over.
};

struct PingMessage {
  uint32_t number = 0;
};
struct PongMessage {
  uint32_t number = 0;
  HostTime clock{};  // Time at which the rank answered, by its clock.
};

struct BeginMessage {
  uint32_t iteration = 0;
  HostTime at{};  // Time at which it begins, by the clock of the rank.
};

// A collective as one of its members has measured it. Times count from the
// beginning of the iteration.
struct MemberTimes {
  uint32_t communicator = 0;
  uint32_t number = 0;
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};
  TimePs joined;
  TimePs result;

  friend bool operator==(const MemberTimes&, const MemberTimes&) = default;
};

// What a rank measured in an iteration.
struct RankReport {
  TimePs finish;  // When the rank had done all, from the iteration's beginning.
  TimePs compute;  // Time of its computations, as the workload says.
  TimePs slowed;   // Time that its computations took in addition.
  // Time that it waited for communication, by dimension.
  std::array<TimePs, kNumParallelDimensions> exposed{};
  std::vector<MemberTimes> collectives;

  friend bool operator==(const RankReport&, const RankReport&) = default;
};

struct ReportMessage {
  uint32_t iteration = 0;
  RankReport report;
};

struct FinishMessage {};

struct AbortMessage {
  std::string why;
};

using ControlMessage =
    std::variant<JoinMessage, RosterMessage, ConnectedMessage, PingMessage,
                 PongMessage, BeginMessage, ReportMessage, FinishMessage,
                 AbortMessage>;

std::string Encode(const ControlMessage& message);

// Errors: InvalidArgument for bytes that are no message.
absl::StatusOr<ControlMessage> ParseControlMessage(std::string_view bytes);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_CONTROL_MESSAGE_H_
