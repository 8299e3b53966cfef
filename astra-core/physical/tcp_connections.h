// Sends messages between ranks over TCP: a socket for each connection, which
// carries frames and the bytes behind them.
//
// What a receiver has not admitted stays in the socket buffers of both hosts.
// Connections take turns: none moves more than 1 MiB before the others.

#ifndef ASTRA_CORE_PHYSICAL_TCP_CONNECTIONS_H_
#define ASTRA_CORE_PHYSICAL_TCP_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/connection_plan.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/data_frame.h"
#include "astra-core/physical/rank_sockets.h"

namespace astra {

class TcpConnections final : public DataConnections {
 public:
  // See OpenConnections.
  TcpConnections(const ConnectionPlan& plan, Poller& poller,
                 uint64_t first_token);

  FabricName network() const override { return {}; }
  void Take(const ConnectionKey& key, Socket socket) override;
  std::vector<ConnectionKey> MissingOutgoing() const override;
  std::vector<RankId> MissingPeers() const override;
  void Send(size_t outgoing, const DataFrame& frame) override;
  void Admit(size_t incoming) override;
  absl::StatusOr<Instant> Progress(Instant until) override { return until; }
  bool Owns(uint64_t token) const override { return sockets_.Owns(token); }
  void OnReady(const Ready& ready) override;
  std::vector<DataEvent> TakeEvents() override {
    return std::exchange(events_, {});
  }
  bool has_events() const override { return !events_.empty(); }

 private:
  struct Outgoing {
    std::deque<DataFrame> frames;  // Messages to send; the first is under way.
    std::string header;            // Unsent rest of the first frame.
    int64_t left = 0;              // Unsent bytes of the first message.
    bool awaits = false;           // The poller waits for room in the socket.
  };
  struct Incoming {
    std::string header;         // Bytes of the next frame that have arrived.
    DataFrame frame;            // Frame of the announced message.
    int64_t left = 0;           // Bytes of the announced message to come.
    bool is_admitted = false;   // Admit() was called for this message.
    bool is_announced = false;  // The frame has arrived, but not all bytes.
    bool is_watched = true;     // The poller waits for bytes of the socket.
  };

  static ConnectionPlace Out(size_t index) { return {true, index}; }
  static ConnectionPlace In(size_t index) { return {false, index}; }
  void Begin(Outgoing& connection);
  void WriteSome(size_t index);
  absl::Status WriteFirst(size_t index, size_t budget, bool* is_full);
  void ReadSome(size_t index);
  absl::Status ReadHeader(size_t index, bool* has_all);
  void Watch(size_t index, bool is_watched);
  void Report(DataEvent::Kind kind, ConnectionPlace place,
              const DataFrame& frame);
  void Lose(ConnectionPlace place, DataEvent::Kind why);

  const std::string payload_;  // Random bytes that all messages consist of.
  RankSockets sockets_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<DataEvent> events_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_TCP_CONNECTIONS_H_
