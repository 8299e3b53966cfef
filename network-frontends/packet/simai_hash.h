// The hash by which SimAI's hosts and switches choose one of several equal-cost
// next hops, so that a run here can take the same paths as a run on ns-3.
//
//   SimaiFlow flow{.source = 0, .target = 8, .source_port = 10'000};
//   uint32_t next = SimaiHash(flow, switch_id) % num_next_hops;
//
// The hash is MurmurHash3 (32 bits, A. Appleby, public domain) over twelve
// bytes: the two addresses and the two ports. Node n has the address
// 11.(n/256).(n%256).1. Switches take their node number as the seed, and hosts
// take kSimaiHostSeed. Next hops are counted from the highest node number down.
//
// Source: SimAI 1.6 on ns-3 (ns-3-alibabacloud, switch-node.cc and
// rdma-queue-pair.cc). docs/accuracy/simai-ns3.md compares the paths of 1,984
// flows.

#ifndef NETWORK_FRONTENDS_PACKET_SIMAI_HASH_H_
#define NETWORK_FRONTENDS_PACKET_SIMAI_HASH_H_

#include <cstdint>

namespace astra {

inline constexpr uint32_t kSimaiHostSeed = 0x8BADF00D;

struct SimaiFlow {
  uint32_t source = 0;  // Node that sends the packet.
  uint32_t target = 0;  // Node that receives the packet.
  uint16_t source_port = 0;
  uint16_t target_port = 100;

  // Returns the flow of the acknowledgements.
  SimaiFlow Reversed() const {
    return {target, source, target_port, source_port};
  }
};

// Returns the source port of the message number `ordinal`, counted from 0, from
// one node to another. With seed 1 ports begin at 10000 as in SimAI. Other
// seeds move the ports, which is how runs of SimAI are varied.
uint16_t SimaiSourcePort(uint32_t ordinal, uint64_t seed);

uint32_t SimaiHash(const SimaiFlow& flow, uint32_t seed);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SIMAI_HASH_H_
