#include "collectives/schedules/custom_schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string FaultOfHead(const std::string& name,
                        const ChunkedCollective& collective) {
  const uint32_t n = collective.num_ranks;
  const uint32_t chunks = collective.num_chunks;
  if (name.empty() || !IsPlain(name)) {
    return fmt::format("the name {}: expected one without control characters",
                       Quoted(name));
  }
  if (n < 2 || n > CustomSchedule::kMaxRanks) {
    return fmt::format("{} ranks: expected from 2 to {}", n,
                       CustomSchedule::kMaxRanks);
  }
  if (collective.kind == CollectiveKind::kSendRecv && n != 2) {
    return fmt::format("{} ranks: a send-recv has 2", n);
  }
  if (collective.root >= n) {
    return fmt::format("the root is {} of {} ranks", collective.root, n);
  }
  if (chunks == 0 || chunks > CustomSchedule::kMaxChunks) {
    return fmt::format("{} chunks: expected from 1 to {}", chunks,
                       CustomSchedule::kMaxChunks);
  }
  if (chunks % collective.num_parts() != 0) {
    return fmt::format(
        "{} chunks: expected a multiple of {} for the {} of {} "
        "ranks",
        chunks, collective.num_parts(), Name(collective.kind), n);
  }
  return {};
}

bool Involves(const ScheduleFlow& flow, GroupRank rank) {
  return flow.source == rank || flow.target == rank;
}

std::string FaultOfAfter(absl::Span<const ScheduleFlow> flows, size_t i) {
  const std::vector<uint32_t>& after = flows[i].after;
  for (size_t k = 0; k < after.size(); ++k) {
    if (after[k] >= i) {
      return fmt::format("step {} waits for step {}, which is not before it", i,
                         after[k]);
    }
    if (k > 0 && after[k] <= after[k - 1]) {
      return fmt::format(
          "step {} waits for step {} after step {}: expected "
          "increasing positions",
          i, after[k], after[k - 1]);
    }
    if (!Involves(flows[after[k]], flows[i].source)) {
      return fmt::format(
          "step {} leaves rank {} and waits for step {}, which "
          "neither comes there nor leaves there",
          i, flows[i].source, after[k]);
    }
  }
  return {};
}

std::string FaultOfFlow(const ChunkedCollective& collective,
                        const ScheduleFlow& flow, size_t i) {
  for (const GroupRank rank : {flow.source, flow.target}) {
    if (rank.index() >= collective.num_ranks) {
      return fmt::format("step {} has rank {} of {}", i, rank,
                         collective.num_ranks);
    }
  }
  if (flow.source == flow.target) {
    return fmt::format("step {} goes from rank {} to itself", i, flow.source);
  }
  if (flow.num_chunks == 0 || flow.num_chunks > collective.num_chunks ||
      flow.first_chunk.index() > collective.num_chunks - flow.num_chunks) {
    return fmt::format("step {} has {} chunk(s) from {} on of {}", i,
                       flow.num_chunks, flow.first_chunk,
                       collective.num_chunks);
  }
  if (flow.channel >= CollectiveRequest::kMaxChannels) {
    return fmt::format("step {} is on channel {}: expected from 0 to {}", i,
                       flow.channel, CollectiveRequest::kMaxChannels - 1);
  }
  if (flow.op == FlowOp::kReduce && !collective.reduces()) {
    return fmt::format("step {} reduces, but no {} does", i,
                       Name(collective.kind));
  }
  return {};
}

ByteRange Piece(ByteRange whole, uint32_t position, uint32_t num_pieces) {
  const int64_t size = whole.size() / num_pieces;
  const int64_t rest = whole.size() % num_pieces;
  const int64_t begin =
      whole.begin + size * position + std::min<int64_t>(position, rest);
  return {begin, begin + size + (position < rest ? 1 : 0)};
}

ByteRange PartOf(const CollectiveRequest& request, uint32_t part,
                 uint32_t num_parts) {
  const uint32_t n = request.num_ranks();
  if (request.kind() == CollectiveKind::kSendRecv) {
    return request.PairPart(GroupRank(0), GroupRank(1));
  }
  if (num_parts == 1) return {0, request.bytes().count()};
  if (num_parts == n) return request.Part(GroupRank(part));
  return request.PairPart(GroupRank(part / n), GroupRank(part % n));
}

}  // namespace

std::optional<ScheduleFault> CustomSchedule::FindFault(
    const std::string& name, const ChunkedCollective& collective,
    absl::Span<const ScheduleFlow> flows) {
  std::string fault = FaultOfHead(name, collective);
  if (!fault.empty()) return ScheduleFault{std::nullopt, fault};
  uint64_t num_moves = 0;
  uint64_t num_dependencies = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    fault = FaultOfFlow(collective, flows[i], i);
    if (fault.empty()) fault = FaultOfAfter(flows, i);
    if (!fault.empty()) return ScheduleFault{i, fault};
    num_moves += flows[i].num_chunks;
    num_dependencies += flows[i].after.size();
    if (num_moves > kMaxMoves) {
      return ScheduleFault{
          i,
          fmt::format("step {}: more than {} chunks are sent", i, kMaxMoves)};
    }
    if (num_dependencies > kMaxDependencies) {
      return ScheduleFault{
          i, fmt::format("step {}: more than {} steps are waited for", i,
                         kMaxDependencies)};
    }
  }
  return std::nullopt;
}

absl::StatusOr<CustomSchedule> CustomSchedule::Create(
    std::string name, const ChunkedCollective& collective,
    std::vector<ScheduleFlow> flows) {
  if (const auto fault = FindFault(name, collective, flows)) {
    return absl::InvalidArgumentError(fault->message);
  }
  return CustomSchedule(std::move(name), collective, std::move(flows));
}

absl::Status CustomSchedule::CheckFits(const CollectiveRequest& request) const {
  if (request.kind() != collective_.kind) {
    return absl::FailedPreconditionError(
        fmt::format("schedule {} is for the {}, not the {}", Quoted(name_),
                    Name(collective_.kind), Name(request.kind())));
  }
  if (request.num_ranks() != collective_.num_ranks) {
    return absl::FailedPreconditionError(
        fmt::format("schedule {} is for {} ranks, not {}", Quoted(name_),
                    collective_.num_ranks, request.num_ranks()));
  }
  if (collective_.is_rooted() && request.root().index() != collective_.root) {
    return absl::FailedPreconditionError(
        fmt::format("schedule {} is for the root {}, not {}", Quoted(name_),
                    collective_.root, request.root()));
  }
  return absl::OkStatus();
}

std::vector<ByteRange> CustomSchedule::ChunksOf(
    const CollectiveRequest& request) const {
  const uint32_t num_parts = collective_.num_parts();
  const uint32_t chunks_per_part = collective_.num_chunks / num_parts;
  std::vector<ByteRange> chunks;
  chunks.reserve(collective_.num_chunks);
  for (uint32_t part = 0; part < num_parts; ++part) {
    const ByteRange whole = PartOf(request, part, num_parts);
    for (uint32_t i = 0; i < chunks_per_part; ++i) {
      chunks.push_back(Piece(whole, i, chunks_per_part));
    }
  }
  return chunks;
}

uint32_t CustomSchedule::MostConnections() const {
  using Connection = std::pair<GroupRank, uint16_t>;
  std::vector<std::set<Connection>> of_rank(collective_.num_ranks);
  size_t most = 0;
  for (const ScheduleFlow& flow : flows_) {
    std::set<Connection>& own = of_rank[flow.source.index()];
    own.emplace(flow.target, flow.channel);
    most = std::max(most, own.size());
  }
  return static_cast<uint32_t>(most);
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> CustomSchedule::Lower(
    const CollectiveRequest& request) const {
  ASTRA_RETURN_IF_ERROR(CheckFits(request));
  FlowGraph::Builder builder(collective_.num_ranks);
  for (const ByteRange chunk : ChunksOf(request)) builder.AddChunk(chunk);
  for (const ScheduleFlow& flow : flows_) {
    const FlowId id = builder.Add({.source = flow.source,
                                   .target = flow.target,
                                   .first_chunk = flow.first_chunk,
                                   .num_chunks = flow.num_chunks,
                                   .bytes = Bytes(0),
                                   .channel = flow.channel,
                                   .op = flow.op});
    for (const uint32_t earlier : flow.after) {
      builder.AddDependency(FlowId(earlier), id);
    }
  }
  return std::move(builder).Build();
}

absl::StatusOr<StepSchedule> CustomSchedule::Steps(
    const CollectiveRequest& request) const {
  ASTRA_RETURN_IF_ERROR(CheckFits(request));
  const std::vector<ByteRange> chunks = ChunksOf(request);
  std::vector<uint32_t> step_of(flows_.size());
  std::map<std::tuple<uint32_t, GroupRank, GroupRank>, int64_t> bytes;
  uint32_t num_steps = 0;
  for (size_t i = 0; i < flows_.size(); ++i) {
    const ScheduleFlow& flow = flows_[i];
    for (const uint32_t earlier : flow.after) {
      step_of[i] = std::max(step_of[i], step_of[earlier] + 1);
    }
    num_steps = std::max(num_steps, step_of[i] + 1);
    int64_t& sum = bytes[{step_of[i], flow.source, flow.target}];
    const uint32_t first = flow.first_chunk.index();
    for (uint32_t c = first; c < first + flow.num_chunks; ++c) {
      sum += chunks[c].size();
    }
  }
  StepSchedule schedule;
  schedule.is_pipelined = true;
  schedule.steps.resize(num_steps);
  const auto all = static_cast<double>(request.bytes().count());
  for (const auto& [key, sum] : bytes) {
    const auto& [step, source, target] = key;
    schedule.steps[step].flows.push_back(
        {source, target, static_cast<double>(sum) / all});
  }
  return schedule;
}

}  // namespace astra
