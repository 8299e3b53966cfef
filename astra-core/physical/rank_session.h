// Carries a rank through a physical run: joins the coordinator, connects to the
// ranks with which it exchanges messages, runs each iteration at the instant
// that the coordinator sets, and reports what it measured.

#ifndef ASTRA_CORE_PHYSICAL_RANK_SESSION_H_
#define ASTRA_CORE_PHYSICAL_RANK_SESSION_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/hosts/doorway.h"
#include "astra-core/hosts/message_link.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/control_message.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/host_collectives.h"
#include "astra-core/physical/rank_plan.h"

namespace astra {

struct RankSetting {
  RankId rank;
  uint32_t num_ranks = 0;
  std::string digest;  // See JoinMessage.
  Endpoint coordinator;
  std::string coordinator_name;  // Name in error messages: "the launcher".
  // Address at which other ranks reach this rank; "" for the address from which
  // it connects to the coordinator.
  std::string address;
  // Time until the coordinator is reached, and again until this rank is
  // connected to others.
  std::chrono::seconds join_limit{60};
};

// Returns a text that is equal for processes that share a kernel and thus a
// clock, and differs otherwise.
std::string BootId();

class RankSession {
 public:
  // Runs the iteration of that number, which begins at the instant.
  using Iteration = std::function<absl::StatusOr<RankReport>(
      uint32_t, Instant, DataConnections&, const HostCollectives::Wait&)>;

  // All must outlive the object. `open` opens the network that messages go
  // over.
  RankSession(const RankSetting& setting, const Secret& secret,
              const RankPlan& plan, OpenConnections open);

  // Returns once the coordinator says that the run has finished.
  //
  // Errors: Unavailable if the coordinator cannot be reached; Aborted with the
  // coordinator's reason, or if the coordinator or another rank is lost, which
  // the message names, or if no network can be opened; PermissionDenied for
  // another secret; those of `iteration`.
  absl::Status Run(const Iteration& iteration);

 private:
  absl::Status Join();
  absl::Status OpenNetwork();
  absl::Status ConnectToPeers();
  absl::Status Serve(const Iteration& iteration);
  absl::Status WaitUntil(Instant until);
  absl::Status Step(Instant until);
  absl::Status OnCoordinator(const Ready& ready);
  absl::StatusOr<ControlMessage> Next();
  void TakePeers();
  absl::Status TakeRefused();
  absl::Status ConnectMissing();
  absl::Status Explain(absl::Status status);
  void Send(const ControlMessage& message) { link_->Send(Encode(message)); }

  const RankSetting& setting_;
  const Secret& secret_;
  const RankPlan& plan_;
  Poller poller_;
  Doorway doorway_;
  const OpenConnections open_;
  std::unique_ptr<DataConnections> connections_;  // Null until it has joined.
  std::optional<MessageLink> link_;   // Connection to the coordinator.
  std::deque<ControlMessage> inbox_;  // Messages that Next() returns.
  std::optional<RosterMessage> roster_;
  size_t num_connecting_ = 0;  // Outgoing connections in their handshakes.
  // Why the last attempt to connect to another rank has failed.
  std::string why_not_connected_ = "it does not connect";
  Instant next_close_;  // When doorway_.CloseLate() has to be called again.
  // Why the coordinator has ended the run, or was lost; OK until then.
  absl::Status verdict_;
  absl::Status network_;  // Why connections_ fails; OK while it does not.
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RANK_SESSION_H_
