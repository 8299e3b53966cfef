// Libraries that take the tokens of a mixture of experts to their experts
// (dispatch) and back (combine), and how long that takes.
//
// A rank has T tokens of b bytes. A library sends one copy of a token to each
// expert, or to each rank that has an expert of it. Where it relays, one copy
// goes to each server, and a GPU there hands it on; the way back is the same.
// With C copies of a token, of which it visits V servers, the time on n ranks
// is
//
//   start + start_per_KiB b + rank n [+ between]
//     + max( T (token v + c (copy + byte b)) / SMs,
//            bytes on the links of a server / (efficiency x their rate),
//            bytes on a NIC / (its rate, as NCCL's rings reach it) )
//
//                        c          v
//   in one server        C          1
//   several, relayed     C + V      V    dispatch: also copies for the servers
//                        2 C        V    combine: summed where they are relayed
//   several, not         C          1
//
// The first term of the maximum is what the threads of the library's kernels
// have to do; what they do on a token grows with the places where it is
// handled. `between` is what the network adds to the latency.
//
// Source: DeepEP (github.com/deepseek-ai/DeepEP), README and csrc/kernels
// (intranode.cu, internode.cu, internode_ll.cu); the constants are fitted, see
// inputs/dispatchers.

#ifndef COLLECTIVES_DISPATCHERS_DISPATCHER_H_
#define COLLECTIVES_DISPATCHERS_DISPATCHER_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/expert_routing.h"

namespace astra {

// The constants of one direction.
struct DispatchKernel {
  double start_us = 0;
  double start_us_per_KiB = 0;
  double rank_us = 0;
  double token_ns = 0;
  double copy_ns = 0;
  double byte_ns = 0;
  double efficiency = 1;  // Share of the rate of a GPU's links.

  friend auto operator<=>(const DispatchKernel&,
                          const DispatchKernel&) = default;
};

// The constants of a kernel that runs before each dispatch.
struct DispatchPreparation {
  double start_us = 0;
  double rank_us = 0;
  double token_ns = 0;

  friend auto operator<=>(const DispatchPreparation&,
                          const DispatchPreparation&) = default;
};

struct Dispatcher {
  std::string name;               // "deepep"
  bool copies_by_expert = false;  // Else one copy for each rank.
  bool relays = false;
  double sms = 1;         // SMs that its kernels take.
  double between_us = 0;  // Latency of several servers.
  // Before it starts, several servers tell one another how many tokens come.
  double notify_us = 0;
  DispatchPreparation prepare;
  DispatchKernel dispatch;
  DispatchKernel combine;

  const DispatchKernel& of(CollectiveKind kind) const {
    return kind == CollectiveKind::kCombine ? combine : dispatch;
  }

  friend auto operator<=>(const Dispatcher&, const Dispatcher&) = default;
};

// A dispatcher, and the model whose tokens it takes.
struct ExpertDispatch {
  Dispatcher dispatcher;
  ExpertRouting routing;
  bool is_even = false;      // Tokens go to as many ranks as they can.
  bool is_prepared = false;  // The time leaves out what runs before it.

  friend auto operator<=>(const ExpertDispatch&,
                          const ExpertDispatch&) = default;
};

// Says on how many servers the ranks of a group are.
struct RankPlaces {
  uint32_t servers = 1;
  uint32_t ranks_per_server = 1;

  uint32_t ranks() const { return servers * ranks_per_server; }
};

// Holds what one rank has to do for each of its tokens.
struct TokenWork {
  double start_us = 0;       // Time that does not depend on the tokens.
  double prepare_ns = 0;     // Preparation before the rest, for each token.
  double kernel_ns = 0;      // Work on the SMs.
  double within_bytes = 0;   // Bytes over the links of the server.
  double between_bytes = 0;  // Bytes sent by NICs.
  double copies = 0;         // All copies of a token.
};

// Returns the work of a dispatch or combine, as `kind` says, by the formula
// above.
TokenWork WorkOf(const ExpertDispatch& dispatch, CollectiveKind kind,
                 const RankPlaces& places);

// Returns the bytes of a copy of a token, and of all top_k copies, which is
// what the size of a dispatch or combine counts.
int64_t CopyBytes(const ExpertRouting& routing, CollectiveKind kind);
double BytesOfToken(const ExpertRouting& routing, CollectiveKind kind);

// Reads a routing such as
// "experts=256,top_k=8,groups=8,top_groups=4,dispatch_bytes=7392,combine_bytes=14336";
// groups and top_groups may be absent (1), and with "even" tokens go to as many
// ranks as they can. Commas may be blanks. The dispatcher stays empty.
//
// Errors: InvalidArgument for a key that is unknown or missing, a value that is
// no whole number from 1 on, and values that contradict one another.
absl::StatusOr<ExpertDispatch> ParseRouting(std::string_view text);

// Reads a dispatcher from a YAML file such as those of inputs/dispatchers:
//
//   name: deepep
//   source: [where the facts come from]
//   origin: what the constants were fitted to
//   copies: rank              # Or expert.
//   relays: true
//   sms: 20                   # Absent: 1, and nothing scales with SMs.
//   between_us: 0             # Absent: 0, as notify_us.
//   prepare: {start_us: 10, rank_us: 0.4, token_ns: 7}
//                             # Absent: nothing runs before a dispatch.
//   dispatch: {start_us: 25, token_ns: 383, copy_ns: 56, byte_ns: 0.04,
//              efficiency: 0.62}   # start_us_per_KiB, rank_us: absent are 0.
//   combine: {...}
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for other text.
absl::StatusOr<Dispatcher> ParseDispatcher(std::string_view file,
                                           std::string_view contents);

// Finds a bundled dispatcher by "NAME" or "NAME@SMS", such as "deepep@24", or
// reads a file: text with a "/", or that ends in .yaml or .yml before the "@".
//
// Errors: those of ReadFile and ParseDispatcher; NotFound for an unknown name;
// InvalidArgument for a number of SMs that is none, or of a dispatcher whose
// time does not depend on it.
absl::StatusOr<Dispatcher> LoadDispatcher(std::string_view text);

// Returns the names of the bundled dispatchers, sorted.
std::vector<std::string_view> DispatcherNames();

}  // namespace astra

#endif  // COLLECTIVES_DISPATCHERS_DISPATCHER_H_
