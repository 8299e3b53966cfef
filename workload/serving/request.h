// One request to a serving cluster, and what became of it.

#ifndef WORKLOAD_SERVING_REQUEST_H_
#define WORKLOAD_SERVING_REQUEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/units.h"

namespace astra {

// The end of what can be simulated: 100 days.
inline constexpr TimePs kMaxServingTime(int64_t{100} * 86'400 *
                                        1'000'000'000'000);

// What is known of the content of a sequence: hashes of its consecutive blocks
// of `block_tokens` tokens, from its first token on. A hash depends on all
// tokens before it too (it is chained), so that equal hashes mean equal
// prefixes. The last block may be cut by the end of the sequence. Positions
// behind the hashes are equal to those of no other request.
struct PrefixHashes {
  int64_t block_tokens = 0;
  std::vector<uint64_t> hashes;
};

struct Request {
  int64_t id = 0;  // Counted from 0; each is of one request.
  TimePs arrival;
  int64_t prompt_tokens = 0;  // Above 0.
  int64_t output_tokens = 0;  // Above 0; the first comes from the prompt.
  PrefixHashes prefix;
  int64_t turn = 0;  // Of its session, counted from 0.

  // Returns the positions of the sequence when it ends.
  int64_t tokens() const { return prompt_tokens + output_tokens; }
};

struct RequestTimes {
  TimePs arrival;
  TimePs first_scheduled;  // Start of the first step that computes for it.
  TimePs first_token;      // End of the step that gives the first output token.
  TimePs last_token;
  // When the pool that decodes had its KV cache; none if it did not move.
  std::optional<TimePs> kv_arrived;
  TimePs prompt_end;  // End of the step that computed the last of the prompt.
  TimePs executed;    // Sum of the steps that computed for it.
  int64_t preemptions = 0;
  // Prompt tokens that the first admission found, and those of them that were
  // loaded from the host's memory for it.
  int64_t cached_tokens = 0;
  int64_t host_tokens = 0;

  TimePs queueing() const { return first_scheduled - arrival; }
  TimePs to_first_token() const { return first_token - arrival; }
  // What the transfer of the KV cache adds to the latency.
  std::optional<TimePs> kv_transfer() const {
    if (!kv_arrived) return std::nullopt;
    return *kv_arrived - prompt_end;
  }
  TimePs end_to_end() const { return last_token - arrival; }
};

// A request that has ended. Replicas are numbered over all pools, the ranks of
// one replica one after the other.
struct RequestResult {
  int64_t id = 0;
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  RequestTimes times;
  uint32_t replica = 0;         // The one that computed the prompt.
  uint32_t decode_replica = 0;  // The one that gave the last token.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_REQUEST_H_
