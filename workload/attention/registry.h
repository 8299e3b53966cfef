// The table of the kinds of attention. A new kind is added to AnyAttention.
//
// Code that has an attention and need not know its kind asks it so:
//
//   std::visit([&](const auto& kind) { return kind.CheckTensor(tensor); },
//              attention)

#ifndef WORKLOAD_ATTENTION_REGISTRY_H_
#define WORKLOAD_ATTENTION_REGISTRY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "workload/attention/attention.h"
#include "workload/attention/full_attention.h"
#include "workload/attention/latent_attention.h"
#include "workload/attention/linear_attention.h"

namespace astra {

// The kinds of attention, in the order in which messages name them.
using AnyAttention =
    std::variant<FullAttention, LatentAttention, LinearAttention>;

// Returns an attention of each kind, without sizes: with `beside`, of the kinds
// that stand beside another, otherwise of those that all blocks have.
std::vector<AnyAttention> AttentionKinds(bool beside);

// Returns the section of a model file that describes `attention`.
std::string SectionOf(const AnyAttention& attention);

// Returns what SimAI's text calls a module of attention in inference; empty for
// the name of another module. Of several kinds, the one with the longest
// kModules counts.
std::string_view InferredLayerOf(std::string_view module);

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_REGISTRY_H_
