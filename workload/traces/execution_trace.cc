#include "workload/traces/execution_trace.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// A node and the rank that it belongs to.
struct PlacedNode {
  RankId rank;
  const TraceNode* node = nullptr;
};

std::string Describe(const ExecutionTrace& trace, const PlacedNode& placed) {
  const std::string& file = trace.ranks[placed.rank.index()].file;
  return fmt::format("{}{}rank {}, node {} ({})", file,
                     file.empty() ? "" : ": ", placed.rank, placed.node->id,
                     Printable(trace.names[placed.node->name.index()]));
}

absl::Status Mismatch(const ExecutionTrace& trace, const PlacedNode& placed,
                      const std::string& what) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", Describe(trace, placed), what));
}

// The nodes of a rank that belong to one collective group, in order.
using Calls = std::vector<PlacedNode>;

// Compares what two members of a group do in it.
absl::Status CheckCalls(const ExecutionTrace& trace, const ProcessGroup& group,
                        const Calls& first, const Calls& other, RankId rank) {
  const size_t common = std::min(first.size(), other.size());
  for (size_t i = 0; i < common; ++i) {
    const TraceNode& a = *first[i].node;
    const TraceNode& b = *other[i].node;
    if (a.collective == b.collective && a.bytes == b.bytes) continue;
    return Mismatch(
        trace, other[i],
        fmt::format("collective {} of group \"{}\" is here the {} of {}, but "
                    "the {} of {} at {}",
                    i + 1, Printable(group.name), Name(b.collective), b.bytes,
                    Name(a.collective), a.bytes, Describe(trace, first[i])));
  }
  if (first.size() == other.size()) return absl::OkStatus();
  const bool first_has_more = first.size() > other.size();
  const PlacedNode& alone = first_has_more ? first[common] : other[common];
  const RankId absent = first_has_more ? rank : group.ranks.front();
  return Mismatch(
      trace, alone,
      fmt::format("{} of group \"{}\" has no counterpart: it takes part in {} "
                  "collectives of the group, this rank in {}",
                  RankText(trace, absent), Printable(group.name), common,
                  std::max(first.size(), other.size())));
}

absl::Status CheckCollectives(const ExecutionTrace& trace) {
  std::vector<std::map<RankId, Calls>> calls(trace.groups.size());
  for (uint32_t r = 0; r < trace.ranks.size(); ++r) {
    for (const TraceNode& node : trace.ranks[r].nodes) {
      if (node.kind != TraceNodeKind::kCollective) continue;
      const ProcessGroup& group = trace.groups[node.group.index()];
      if (!std::binary_search(group.ranks.begin(), group.ranks.end(),
                              RankId(r))) {
        return Mismatch(trace, {RankId(r), &node},
                        fmt::format("the rank is not in group \"{}\"",
                                    Printable(group.name)));
      }
      calls[node.group.index()][RankId(r)].push_back({RankId(r), &node});
    }
  }
  for (size_t g = 0; g < trace.groups.size(); ++g) {
    if (calls[g].empty()) continue;
    const ProcessGroup& group = trace.groups[g];
    for (const RankId rank : group.ranks) {
      ASTRA_RETURN_IF_ERROR(CheckCalls(
          trace, group, calls[g][group.ranks.front()], calls[g][rank], rank));
    }
  }
  return absl::OkStatus();
}

// Sender, receiver and tag.
using MessageKey = std::tuple<RankId, RankId, int64_t>;

struct MessageEnds {
  std::vector<PlacedNode> sends;
  std::vector<PlacedNode> receives;
};

absl::Status CheckMessages(const ExecutionTrace& trace) {
  std::map<MessageKey, MessageEnds> messages;
  for (uint32_t r = 0; r < trace.ranks.size(); ++r) {
    const RankId rank(r);
    for (const TraceNode& node : trace.ranks[r].nodes) {
      if (node.kind == TraceNodeKind::kSend) {
        messages[{rank, node.peer, node.tag}].sends.push_back({rank, &node});
      } else if (node.kind == TraceNodeKind::kReceive) {
        messages[{node.peer, rank, node.tag}].receives.push_back({rank, &node});
      }
    }
  }
  for (const auto& [key, ends] : messages) {
    const auto& [sender, receiver, tag] = key;
    const size_t common = std::min(ends.sends.size(), ends.receives.size());
    for (size_t i = 0; i < common; ++i) {
      if (ends.sends[i].node->bytes == ends.receives[i].node->bytes) continue;
      return Mismatch(
          trace, ends.receives[i],
          fmt::format("receives {} of a message of {}, sent at {}",
                      ends.receives[i].node->bytes, ends.sends[i].node->bytes,
                      Describe(trace, ends.sends[i])));
    }
    if (ends.sends.size() > common) {
      return Mismatch(
          trace, ends.sends[common],
          fmt::format("{} does not receive message {} with tag {} from rank {}",
                      RankText(trace, receiver), common + 1, tag, sender));
    }
    if (ends.receives.size() > common) {
      return Mismatch(
          trace, ends.receives[common],
          fmt::format("{} does not send message {} with tag {} to rank {}",
                      RankText(trace, sender), common + 1, tag, receiver));
    }
  }
  return absl::OkStatus();
}

}  // namespace

size_t ExecutionTrace::num_nodes() const {
  size_t sum = 0;
  for (const RankTrace& rank : ranks) sum += rank.nodes.size();
  return sum;
}

std::optional<ParallelDimension> DimensionOf(std::string_view group_name) {
  const std::string_view prefix = group_name.substr(0, group_name.find('.'));
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension == ParallelDimension::kPipeline) continue;
    if (LowerCase(prefix) == LowerCase(Name(dimension))) return dimension;
  }
  return std::nullopt;
}

std::string RankText(const ExecutionTrace& trace, RankId rank) {
  const std::string& file = trace.ranks[rank.index()].file;
  return file.empty() ? fmt::format("rank {}", rank)
                      : fmt::format("rank {} ({})", rank, file);
}

absl::Status CheckRanksAgree(const ExecutionTrace& trace) {
  ASTRA_RETURN_IF_ERROR(CheckCollectives(trace));
  return CheckMessages(trace);
}

}  // namespace astra
