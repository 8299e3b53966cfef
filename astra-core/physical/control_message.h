// What ranks and the coordinator of a physical run tell one another.
//
//   rank -> coordinator                      coordinator -> rank
//   Join       who it is, where it listens
//                                            Roster   where all ranks listen
//   Connected  to all it talks to
//                                            Ping     several times
//   Pong       its clock
//                                            Begin    an iteration, when
//   Report     what it measured
//                                            Finish
//   Abort      why it cannot go on           Abort    why the run ends

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
  std::string host;  // Name of its host.
  std::string boot;  // Of its kernel: equal where ranks have one clock.
  // Where other ranks reach it. Without an address they take the one from which
  // it has joined.
  std::string address;
  uint16_t port = 0;
};

struct RosterMessage {
  std::string session;          // Random; the same for all ranks of a run.
  std::vector<Endpoint> ranks;  // By rank.
};

struct ConnectedMessage {};

struct PingMessage {
  uint32_t number = 0;
};
struct PongMessage {
  uint32_t number = 0;
  HostTime clock{};  // Of the rank.
};

struct BeginMessage {
  uint32_t iteration = 0;
  HostTime at{};  // By the clock of the rank.
};

// A collective as one of its members saw it; times from the iteration's start.
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
  TimePs finish;
  TimePs compute;  // As the workload says.
  TimePs slowed;   // What computations took longer.
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
