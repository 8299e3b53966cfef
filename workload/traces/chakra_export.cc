// The part of chakra_trace.h that writes.

#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/traces/chakra_attributes.h"
#include "workload/traces/chakra_trace.h"

namespace astra {
namespace {

// The version of the schema that files are written in.
constexpr std::string_view kSchema = "0.0.4";

// The numbers of CollectiveCommType.
int64_t CommTypeOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 0;
    case CollectiveKind::kReduce:
      return 1;
    case CollectiveKind::kAllGather:
      return 2;
    case CollectiveKind::kGather:
      return 3;
    case CollectiveKind::kScatter:
      return 4;
    case CollectiveKind::kBroadcast:
      return 5;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return 6;
    case CollectiveKind::kReduceScatter:
      return 7;
    case CollectiveKind::kSendRecv:
      break;
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

void Add(std::string_view name, decltype(ChakraAttribute::value) value,
         ChakraNode& node) {
  node.attributes.push_back({std::string(name), std::move(value)});
}

void AddDuration(TimePs duration, ChakraNode& node) {
  constexpr int64_t kPerMicrosecond = 1'000'000;
  const int64_t rounded =
      (duration.count() + kPerMicrosecond / 2) / kPerMicrosecond;
  node.duration_us = static_cast<uint64_t>(rounded);
  Add(chakra::kDurationPs, duration.count(), node);
}

void AddCollective(const TraceNode& from, const ProcessGroup& group,
                   ChakraNode& node) {
  const auto num_ranks = static_cast<int64_t>(group.ranks.size());
  const bool counts_part = from.collective == CollectiveKind::kAllGather ||
                           from.collective == CollectiveKind::kGather;
  Add(chakra::kCommType, CommTypeOf(from.collective), node);
  Add(chakra::kCommSize,
      counts_part ? from.bytes.count() / num_ranks : from.bytes.count(), node);
  if (counts_part && from.bytes.count() % num_ranks != 0) {
    Add(chakra::kBufferBytes, from.bytes.count(), node);
  }
  if (!group.name.empty()) Add(chakra::kGroup, group.name, node);
  if (group.dimension) {
    Add(chakra::kDimension, std::string(Name(*group.dimension)), node);
  }
  if (IsOfExperts(from.collective)) {
    Add(chakra::kCollectiveKind, std::string(Name(from.collective)), node);
  }
  if (from.update > TimePs(0)) {
    Add(chakra::kUpdatePs, from.update.count(), node);
  }
}

void AddMessage(const TraceNode& from, RankId rank, ChakraNode& node) {
  const bool sends = from.kind == TraceNodeKind::kSend;
  const RankId source = sends ? rank : from.peer;
  const RankId target = sends ? from.peer : rank;
  Add(chakra::kCommSize, from.bytes.count(), node);
  Add(chakra::kSource, int64_t{source.index()}, node);
  Add(chakra::kTarget, int64_t{target.index()}, node);
  Add(chakra::kTag, from.tag, node);
}

ChakraNodeType TypeOf(TraceNodeKind kind) {
  switch (kind) {
    case TraceNodeKind::kMark:
      return ChakraNodeType::kMetadata;
    case TraceNodeKind::kCompute:
    case TraceNodeKind::kHost:
      return ChakraNodeType::kCompute;
    case TraceNodeKind::kMemory:
      return ChakraNodeType::kMemoryLoad;
    case TraceNodeKind::kCollective:
      return ChakraNodeType::kCollective;
    case TraceNodeKind::kSend:
      return ChakraNodeType::kSend;
    case TraceNodeKind::kReceive:
      return ChakraNodeType::kReceive;
  }
  ASTRA_CHECK(false, "node kind {}", static_cast<int>(kind));
}

ChakraNode NodeOf(const ExecutionTrace& trace, RankId rank,
                  const TraceNode& from) {
  ChakraNode node;
  node.id = from.id;
  node.name = trace.names[from.name.index()];
  node.type = TypeOf(from.kind);
  const RankTrace& own = trace.ranks[rank.index()];
  for (const uint32_t dependency : own.DependenciesOf(from)) {
    node.data_dependencies.push_back(own.nodes[dependency].id);
  }
  switch (from.kind) {
    case TraceNodeKind::kMark:
      return node;
    case TraceNodeKind::kCompute:
    case TraceNodeKind::kHost:
      Add(chakra::kIsCpuOp, from.kind == TraceNodeKind::kHost, node);
      AddDuration(from.duration, node);
      break;
    case TraceNodeKind::kMemory:
      AddDuration(from.duration, node);
      break;
    case TraceNodeKind::kCollective:
      Add(chakra::kIsCpuOp, false, node);
      AddCollective(from, trace.groups[from.group.index()], node);
      break;
    case TraceNodeKind::kSend:
    case TraceNodeKind::kReceive:
      Add(chakra::kIsCpuOp, false, node);
      AddMessage(from, rank, node);
      break;
  }
  Add(chakra::kPhase, std::string(Name(from.phase)), node);
  return node;
}

}  // namespace

ChakraFile ChakraFileOf(const ExecutionTrace& trace, RankId rank) {
  ChakraFile file;
  file.version = kSchema;
  if (trace.communication_slowdown > 0) {
    file.attributes.push_back(
        {std::string(chakra::kSlowdown), trace.communication_slowdown});
  }
  for (const TraceNode& node : trace.ranks[rank.index()].nodes) {
    file.nodes.push_back(NodeOf(trace, rank, node));
  }
  return file;
}

}  // namespace astra
