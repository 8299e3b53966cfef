// Reads which traffic a user asks for.
//
//   incast:bytes=64KiB,senders=31,stride=8
//   permutation:bytes=1MiB,shift=8,spread=10us
//   all-to-all:sizes=web.txt,rate=40Gbps,duration=1ms
//   permutation:bytes=1MiB+incast:bytes=64KiB,start=20us
//
// clang-format off
//   bytes      size of each message
//   sizes      file of a distribution of sizes; see flow_sizes.h
//   start      when the first message may leave (default 0)
//   spread     each pair sends once, at a time that is drawn from this interval
//              after `start` (default 0: all at once)
//   rate       each sender goes on sending, on average so much; messages come
//              as a Poisson process, each to one of its receivers at random
//   duration   with rate: how long new messages come
//   target, senders, stride    of an incast: see IncastSenders()
//   shift                      of a permutation: see PermutationSenders()
// clang-format on

#ifndef NETWORK_FRONTENDS_TRAFFIC_PATTERN_SPEC_H_
#define NETWORK_FRONTENDS_TRAFFIC_PATTERN_SPEC_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "network-frontends/traffic/flow_sizes.h"
#include "network-frontends/traffic/patterns.h"

namespace astra {

struct PatternSpec {
  const PatternEntry* pattern = nullptr;
  PatternShape shape;  // Without the ranks and the seed.
  FlowSizes sizes = FlowSizes::All(Bytes(1));  // Of the file after ReadSizes().
  std::optional<std::string> sizes_file;
  TimePs start;
  TimePs spread;
  std::optional<Bandwidth> rate;  // Absent: each pair sends once.
  TimePs duration;                // How long messages come, with a rate.
};

// Longest start, spread and duration.
constexpr TimePs kMostPatternTime = Microseconds(1'000'000'000);

// Parses the patterns of `text`, which "+" separates. It reads no file.
//
// Errors: InvalidArgument for an unknown name or key (with the nearest one), a
// wrong value, and a key that is there twice, is missing, or has no effect
// beside the others.
absl::StatusOr<std::vector<PatternSpec>> ParsePatterns(std::string_view text);

// Sets the sizes of the patterns that name a file. Errors: those of ReadFile
// and FlowSizes::Parse.
absl::Status ReadSizes(absl::Span<PatternSpec> specs);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_TRAFFIC_PATTERN_SPEC_H_
