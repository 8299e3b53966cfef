// Brings the ranks of a physical run together, starts each iteration on all of
// them at one instant, and gathers what they measured. If a rank is lost, it
// tells the others which one, and the run ends.

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
#include "astra-core/hosts/message_link.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/clock_offset.h"
#include "astra-core/physical/control_message.h"

namespace astra {

struct CoordinatorSetting {
  uint32_t num_ranks = 0;
  std::string digest;                    // That of every rank; see JoinMessage.
  uint32_t num_iterations = 1;           // With those that only warm up.
  std::chrono::seconds join_limit{60};   // Until all ranks are connected.
  std::chrono::seconds time_limit{600};  // Of all iterations together.
};

// How far a run has come.
struct PhysicalProgress {
  uint32_t joined = 0;      // Ranks that have joined.
  uint32_t connected = 0;   // Ranks that are connected to the ranks they need.
  uint32_t iterations = 0;  // Iterations that have ended.
};

// What became of the ranks.
struct PhysicalReports {
  std::vector<std::string> hosts;  // By rank: the name of its host.
  // By iteration and rank.
  std::vector<std::vector<RankReport>> iterations;
  // The longest round trip of a rank whose clock is not that of the
  // coordinator: times of different ranks compare to half of that.
  HostTime clock_error{};
};

class Coordinator {
 public:
  // Connections come to `listener`. `warn` gets a line for each that is
  // refused. `secret` must outlive the object.
  Coordinator(const CoordinatorSetting& setting, const Secret& secret,
              Socket listener, std::function<void(std::string_view)> warn);

  // Runs all iterations. Calls `watch` ten times a second or more often; its
  // error ends the run.
  //
  // Errors: Aborted, with the ranks that were lost or missing, or with the
  // reason that a rank gives; those of `watch`. All ranks have been told.
  absl::StatusOr<PhysicalReports> Run(
      const std::function<absl::Status(const PhysicalProgress&)>& watch);

 private:
  // Whoever has the secret; a rank once it has said which.
  struct Guest {
    MessageLink link;
    std::string peer;  // Its address.
    Instant since;
    bool is_leaving = false;  // It was told to.
  };
  struct Member {
    std::optional<uint64_t> token;  // Of its guest.
    std::string host;
    Endpoint endpoint;
    bool shares_clock = false;
    bool is_connected = false;
    uint32_t num_pings = 0;
    HostTime pinged{};
    ClockOffset clock;
    std::optional<RankReport> report;  // Of the present iteration.
  };

  absl::Status Step(Instant until);
  void TakeGuests();
  absl::Status OnGuest(const Ready& ready);
  absl::Status OnMessage(uint64_t token, const ControlMessage& message);
  absl::Status OnJoin(uint64_t token, const JoinMessage& join);
  absl::Status OnRankMessage(RankId rank, const ControlMessage& message);
  absl::Status OnConnected(Member& member);
  absl::Status OnPong(Member& member, const PongMessage& pong);
  absl::Status OnReport(RankId rank, const ReportMessage& report);
  std::string WhyNot(const JoinMessage& join) const;
  void Refuse(uint64_t token, std::string_view why);
  absl::Status OnEnd(uint64_t token, const absl::Status& why);
  absl::Status CheckTime() const;
  PhysicalProgress ProgressNow() const;
  void SendRoster();
  void SendPing(Member& member);
  void BeginIteration();
  void SendAll(const ControlMessage& message);
  void Send(const Member& member, const ControlMessage& message);
  void TellEnd(const absl::Status& why);
  std::optional<RankId> RankOf(uint64_t token) const;
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
  Instant begin_;
  std::optional<Instant> first_iteration_;
  bool has_finished_ = false;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_COORDINATOR_H_
