// Small packet networks of all sorts, and what must hold of each: for tests,
// for fuzzing and for benchmarks/packet_stress.cc.

#ifndef TESTS_NETWORK_FRONTENDS_PACKET_RANDOM_NETWORK_H_
#define TESTS_NETWORK_FRONTENDS_PACKET_RANDOM_NETWORK_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_options.h"
#include "topology/topology.h"

namespace astra::testing {

// Where choices come from: a seed, which never ends, or bytes, after which all
// choices are 0.
class Choices {
 public:
  explicit Choices(uint64_t seed) : seed_(seed), is_endless_(true) {}
  explicit Choices(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  // One of 0 .. n - 1. Requires n > 0.
  uint64_t Below(uint64_t n);

  bool OneIn(uint64_t n) { return Below(n) == 0; }

  template <class T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }

 private:
  absl::Span<const uint8_t> bytes_;
  uint64_t seed_ = 0;
  uint64_t num_drawn_ = 0;
  bool is_endless_ = false;
};

struct TimedMessage {
  TimePs time;
  Message message;
};

struct RandomNetwork {
  Topology topology;
  PacketOptions options;
  std::vector<TimedMessage> messages;  // By time; ids count from 0.
};

// Up to 8 GPUs and 6 switches: a mesh of GPUs, a tree of switches, leaves and
// spines, or servers with an NVSwitch below one switch. Links of 1 to 3200 Gbps
// and up to 2 us; any options that CheckPacketOptions lets pass.
RandomNetwork DrawNetwork(Choices& choices);

// Runs the network to its end, twice.
//
// Errors: Internal, with what does not hold, unless
//   - each message arrives once and no sooner than light and its link allow, or
//     a link stays down, or a sender has given up what was lost again and
//     again, and WhyStuck says something;
//   - time never goes back, here and in the records;
//   - switches send what they receive, less what was dropped or lost; nothing
//     is dropped with PFC, as long as links stay up;
//   - sources send what their messages have, and again only what is counted;
//   - no link is busy for longer than there was time;
//   - events are in proportion to packets;
//   - the second run is the first again.
absl::Status CheckNetwork(const RandomNetwork& network);

// Makes messages of the network longer and takes away what keeps packets from
// being skipped (PacketReplay::IsPossible), then runs it with and without.
// Returns how many packet-hops were not simulated.
//
// Errors: Internal, with what does not hold, unless all else is the same.
absl::StatusOr<uint64_t> CheckSkipping(RandomNetwork network);

}  // namespace astra::testing

#endif  // TESTS_NETWORK_FRONTENDS_PACKET_RANDOM_NETWORK_H_
