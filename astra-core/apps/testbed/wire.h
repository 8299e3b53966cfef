// The wire: carries what the hosts of a bed send over an emulated fabric, in
// real time.
//
// One thread reads the pieces that hosts send, has EmulatedFabric say when each
// of their packets arrives, and hands the packets to their hosts at that time.
// Payload is copied in and out only; what travels over the fabric are numbers.
//
// Packets of a train that arrive one after the other are handed over together,
// as NICs do that moderate interrupts: when the last packet of the train has
// come, or `hold` after the first one.
//
// The thread spins while packets are under way and for kSpin after the last
// one, since a thread that sleeps wakes up late by as much as the network's own
// delay. Without traffic it sleeps.

#ifndef ASTRA_CORE_APPS_TESTBED_WIRE_H_
#define ASTRA_CORE_APPS_TESTBED_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/testbed/emulated_fabric.h"
#include "astra-core/apps/testbed/host_device.h"
#include "astra-core/apps/testbed/lateness.h"
#include "astra-core/apps/testbed/tcp_train.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "topology/topology.h"

namespace astra {

class Wire {
 public:
  // Largest number of hosts: each takes two file descriptors.
  static constexpr uint32_t kMaxHosts = 256;
  // Host i has the address 10.0.0.1 + i.
  static constexpr uint32_t kFirstAddress = 10U << 24 | 1U;
  static constexpr TimePs kSpin = Microseconds(2000);

  struct Options {
    EmulatedFabric::Options fabric;
    TimePs hold;  // Longest wait of a packet for the rest of its train.
  };

  // What became of the pieces that hosts sent.
  struct Counts {
    int64_t trains = 0;          // Pieces that were carried.
    int64_t packets = 0;         // Packets of these.
    int64_t deliveries = 0;      // Pieces handed to hosts.
    int64_t foreign_pieces = 0;  // Left out: not IPv4, or to no host.
    int64_t refused_pieces = 0;  // Not taken by the host's kernel.
    TimePs busy;                 // Time of reading and handing over.
  };

  // Makes the hosts of `topology`, one for each GPU. `topology` must outlive
  // the wire.
  //
  // Errors: those of HostDevice and EmulatedFabric; InvalidArgument for more
  // than kMaxHosts GPUs.
  static absl::StatusOr<Wire> Create(const Topology& topology,
                                     const Options& options);

  // Carries traffic until one of the descriptors `stops` becomes readable or is
  // closed at its other end.
  absl::Status Run(absl::Span<const int> stops);

  const std::vector<HostDevice>& hosts() const { return hosts_; }
  const EmulatedFabric& fabric() const { return fabric_; }
  const Counts& counts() const { return counts_; }
  // How much later than its packets arrived a train was handed over.
  const Lateness& lateness() const { return lateness_; }

 private:
  using Buffer = std::array<uint8_t, TcpTrain::kMaxPiece>;

  struct Carried {
    std::unique_ptr<Buffer> buffer;
    size_t size = 0;  // Bytes of the piece in `buffer`.
    std::optional<TcpTrain> train;
    uint32_t unfinished = 0;  // Packets without outcome.
    // Packets that have arrived and were not handed over: [run_begin, run_end).
    uint32_t run_begin = 0;
    uint32_t run_end = 0;
    uint32_t run_number = 0;  // Counts runs, to tell a hold that is over.
  };

  // A run that waits for the rest of its train.
  struct Hold {
    TimePs until;
    TrainId train;
    uint32_t run_number;
  };

  Wire(const Topology& topology, const Options& options,
       std::vector<HostDevice> hosts, EmulatedFabric fabric)
      : topology_(topology),
        options_(options),
        hosts_(std::move(hosts)),
        fabric_(std::move(fabric)) {}

  bool Deliver(TimePs now);
  bool ReadFrom(TimePs now, RankId host);
  void Carry(TimePs now, RankId source, TrainId id);
  void Handle(TimePs now, const PacketOutcome& outcome);
  void HandOver(Carried* carried, RankId target);
  TrainId TakeTrain();
  void Release(TrainId id);

  const Topology& topology_;
  Options options_;
  std::vector<HostDevice> hosts_;  // By GPU.
  EmulatedFabric fabric_;
  std::vector<Carried> trains_;       // By train.
  std::vector<TrainId> free_trains_;  // Trains that carry nothing now.
  std::deque<Hold> holds_;            // By increasing `until`.
  std::vector<PacketOutcome> outcomes_;
  Counts counts_;
  Lateness lateness_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_WIRE_H_
