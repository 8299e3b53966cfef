// Coordinates the ranks of a physical run: waits until all have joined and are
// connected, starts each iteration on all of them at one instant, and gathers
// what they measured. If a rank is lost, it tells the others which one, and the
// run ends.

#ifndef ASTRA_CORE_PHYSICAL_COORDINATOR_H_
#define ASTRA_CORE_PHYSICAL_COORDINATOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/hosts/doorway.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/message_link.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/clock_offset.h"
#include "astra-core/physical/control_message.h"

namespace astra {

struct CoordinatorSetting {
  uint32_t num_ranks = 0;
  std::string digest;           // Digest that each rank must have.
  uint32_t num_iterations = 1;  // Including iterations that only warm up.
  // Time until all ranks have joined, and again until all are connected.
  std::chrono::seconds join_limit{60};
  std::chrono::seconds time_limit{600};  // Time of all iterations together.
  // Time in which whoever has the secret has to say which rank it is.
  std::chrono::milliseconds patience = Doorway::kPatience;
};

// How far a run has come.
struct PhysicalProgress {
  uint32_t joined = 0;      // Ranks that have joined.
  uint32_t connected = 0;   // Ranks that are connected to the ranks they need.
  uint32_t iterations = 0;  // Iterations that have ended.
};

// What the ranks of a run measured.
struct PhysicalReports {
  std::vector<std::string> hosts;  // Name of the host of each rank, by rank.
  // What each rank has sent its messages over, by rank.
  std::vector<FabricName> networks;
  // Reports by iteration and rank.
  std::vector<std::vector<RankReport>> iterations;
  // Largest error of a difference between the clocks of a rank and of the
  // coordinator; 0 if they share one clock.
  HostTime clock_error{};
};

class Coordinator {
 public:
  // Ranks connect to `listener`. `warn` gets a line for each connection that is
  // refused, up to a limit. `secret` must outlive the object.
  Coordinator(const CoordinatorSetting& setting, const Secret& secret,
              Socket listener, std::function<void(std::string_view)> warn);

  // Runs all iterations. Calls `watch` ten times a second; its error ends the
  // run.
  //
  // Errors: Aborted, with the ranks that were lost or missing, or with the
  // reason that a rank gives; those of `watch`. All ranks have been told.
  absl::StatusOr<PhysicalReports> Run(
      const std::function<absl::Status(const PhysicalProgress&)>& watch);

 private:
  // The other end of a connection, which has the secret.
  struct Guest {
    MessageLink link;
    std::string peer;            // Address of the guest.
    std::optional<RankId> rank;  // Set once the guest has joined.
    // Instant at which a guest that has no rank is refused, or, if it is
    // leaving, its connection is closed.
    Instant deadline;
    bool is_leaving = false;  // The guest was told that it has to leave.
  };
  // A rank of the run, whether it has joined or not.
  struct Member {
    std::optional<uint64_t> token;  // Key of the rank's guest in guests_.
    std::string host;               // Name of the rank's host.
    std::string boot;               // See JoinMessage.
    Endpoint endpoint;              // Where other ranks reach the rank.
    bool shares_clock = false;      // The rank's clock is the coordinator's.
    bool is_connected = false;
    FabricName network;              // What the rank sends over.
    uint32_t num_pongs = 0;          // Pings that the rank has answered.
    std::optional<HostTime> pinged;  // When the unanswered ping was sent.
    ClockOffset clock;
    std::optional<RankReport> report;  // Report of the present iteration.
  };

  absl::Status Step(Instant until);
  void TakeGuests();
  void ShutOutSilent();
  void Warn(std::string_view text);
  absl::Status OnGuest(const Ready& ready);
  absl::Status OnMessage(uint64_t token, const ControlMessage& message);
  absl::Status OnJoin(uint64_t token, const JoinMessage& join);
  absl::Status OnRankMessage(RankId rank, const ControlMessage& message);
  absl::Status OnConnected(RankId rank, const ConnectedMessage& connected);
  absl::Status OnPong(RankId rank, const PongMessage& pong);
  absl::Status OnReport(RankId rank, const ReportMessage& report);
  std::string WhyNot(const JoinMessage& join) const;
  void Refuse(uint64_t token, std::string_view why);
  absl::Status OnEnd(uint64_t token, const absl::Status& why);
  absl::Status Unexpected(RankId rank, std::string_view what) const;
  absl::Status CheckEndpoints() const;
  absl::Status CheckTime() const;
  PhysicalProgress ProgressNow() const;
  void SendRoster();
  void CompareClocks();
  void BeginIfCompared();
  void SendPing(Member& member);
  void BeginIteration();
  void SendAll(const ControlMessage& message);
  void Send(const Member& member, const ControlMessage& message);
  void TellEnd(const absl::Status& why);
  std::string NameOf(RankId rank) const;

  template <class Is>
  bool AllAre(Is is) const;

  const CoordinatorSetting setting_;
  const std::string boot_;
  std::function<void(std::string_view)> warn_;
  Poller poller_;
  Doorway doorway_;
  std::map<uint64_t, Guest> guests_;  // By token.
  std::vector<Member> members_;       // By rank.
  PhysicalReports reports_;
  Instant begin_;                           // When ranks could first join.
  std::optional<Instant> roster_sent_;      // Set once all have joined.
  std::optional<Instant> first_iteration_;  // When it was begun.
  bool is_running_ = false;    // An iteration has begun and not all reported.
  bool has_finished_ = false;  // The run is over, well or not.
  uint32_t num_warnings_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_COORDINATOR_H_
