// How the router of a mixture of experts spreads tokens over the experts.
//
// The router sends each token to `top_k` of `experts` experts. The experts are
// split into `groups` groups of neighbours of one size. The experts of a token
// lie in at most `top_groups` of the groups, which limits how many servers the
// token visits where a server holds whole groups.
//
// Source: DeepSeek-V2, arXiv 2405.04434, section 2.2.2 (device-limited
// routing); the configuration files of DeepSeek-V2 and V3, which call the
// groups n_group and topk_group.

#ifndef ASTRA_CORE_BASE_EXPERT_ROUTING_H_
#define ASTRA_CORE_BASE_EXPERT_ROUTING_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace astra {

struct ExpertRouting {
  static constexpr int64_t kMaxExperts = 1 << 12;

  int64_t experts = 0;     // Routed experts of a layer.
  int64_t top_k = 0;       // Experts to which a token is sent.
  int64_t groups = 1;      // Groups of experts; DeepSeek's n_group.
  int64_t top_groups = 1;  // Groups that a token may reach; topk_group.
  // Bytes of a copy of a token on the way to its expert, and back; 0: not
  // known.
  int64_t dispatch_bytes = 0;
  int64_t combine_bytes = 0;

  friend bool operator==(const ExpertRouting&, const ExpertRouting&) = default;
  friend auto operator<=>(const ExpertRouting&, const ExpertRouting&) = default;
};

// A field of an ExpertRouting that has a wrong value.
struct RoutingMistake {
  std::string_view field;  // Name of the field, such as "top_k".
  int64_t value = 0;
  std::string rule;  // The rule that the value breaks: "expected ...".
};

// Returns the first mistake of `routing`, or nullopt if it is valid: experts
// and top_k from 1 to kMaxExperts, top_k at most the experts of top_groups
// groups, groups a divisor of the experts, top_groups at most groups.
std::optional<RoutingMistake> FindMistake(const ExpertRouting& routing);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_EXPERT_ROUTING_H_
