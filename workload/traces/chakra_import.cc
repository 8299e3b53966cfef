// The part of chakra_trace.h that reads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "fmt/format.h"
#include "workload/traces/chakra_attributes.h"
#include "workload/traces/chakra_trace.h"
#include "workload/traces/deadlock.h"
#include "workload/traces/node_order.h"

namespace astra {
namespace {

// Results sum up by name, which is of no use if each node has its own.
constexpr size_t kMostNames = 4096;
constexpr std::string_view kOtherNames = "(other names)";
// The all-reduce of one float by which PyTorch's ProcessGroupNCCL runs a
// barrier.
constexpr Bytes kBarrierBytes(4);
constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr int64_t kMostPicoseconds = int64_t{1} << 60;

// A value that CollectiveCommType has for each kind of ours; a barrier has
// none.
constexpr std::optional<CollectiveKind> kCommTypes[] = {
    CollectiveKind::kAllReduce,     CollectiveKind::kReduce,
    CollectiveKind::kAllGather,     CollectiveKind::kGather,
    CollectiveKind::kScatter,       CollectiveKind::kBroadcast,
    CollectiveKind::kAllToAll,      CollectiveKind::kReduceScatter,
    CollectiveKind::kReduceScatter, std::nullopt};

TraceNodeKind KindOf(const ChakraNode& node, bool is_host) {
  switch (node.type) {
    case ChakraNodeType::kCompute:
      return is_host ? TraceNodeKind::kHost : TraceNodeKind::kCompute;
    case ChakraNodeType::kMemoryLoad:
    case ChakraNodeType::kMemoryStore:
      return TraceNodeKind::kMemory;
    case ChakraNodeType::kStorage:
    case ChakraNodeType::kBatch:
    case ChakraNodeType::kCheckpoint:
      return TraceNodeKind::kHost;
    case ChakraNodeType::kSend:
      return TraceNodeKind::kSend;
    case ChakraNodeType::kReceive:
      return TraceNodeKind::kReceive;
    case ChakraNodeType::kCollective:
      return TraceNodeKind::kCollective;
    case ChakraNodeType::kInvalid:
    case ChakraNodeType::kMetadata:
      break;
  }
  return TraceNodeKind::kMark;
}

// Returns at most a dozen of `names`, quoted.
template <class Names>
std::string ListOf(const Names& names) {
  constexpr size_t kMost = 12;
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMost) continue;
    text += (count == 1 ? "" : ", ") + Quoted(name);
  }
  if (count > kMost) text += fmt::format(" and {} more", count - kMost);
  return text;
}

}  // namespace

// Turns the file of one rank into its graph.
class ChakraImport::Rank {
 public:
  Rank(ChakraImport& import, std::string_view name, const ChakraFile& file)
      : import_(import),
        name_(name),
        file_(file),
        rank_(static_cast<uint32_t>(import.trace_.ranks.size())) {}

  absl::StatusOr<RankTrace> Make() {
    ASTRA_RETURN_IF_ERROR(FindNodes());
    ASTRA_RETURN_IF_ERROR(FindDependencies());
    ASTRA_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, Order());
    std::vector<uint32_t> position(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    RankTrace trace;
    trace.file = name_;
    for (const uint32_t number : order) {
      ASTRA_ASSIGN_OR_RETURN(TraceNode node, NodeOf(file_.nodes[number]));
      node.first_dependency = static_cast<uint32_t>(trace.dependencies.size());
      for (const uint32_t dependency : dependencies_[number]) {
        trace.dependencies.push_back(position[dependency]);
      }
      node.num_dependencies =
          static_cast<uint32_t>(dependencies_[number].size());
      trace.nodes.push_back(node);
    }
    return trace;
  }

 private:
  absl::Status Error(const ChakraNode& node, std::string_view what) const {
    return absl::InvalidArgumentError(fmt::format(
        "{}: node {} ({}): {}", name_, node.id, Printable(node.name), what));
  }

  absl::Status FindNodes() {
    for (uint32_t i = 0; i < file_.nodes.size(); ++i) {
      const bool is_new =
          number_of_id_.try_emplace(file_.nodes[i].id, i).second;
      if (!is_new) return Error(file_.nodes[i], "its id is there twice");
    }
    return absl::OkStatus();
  }

  absl::Status FindDependencies() {
    dependencies_.resize(file_.nodes.size());
    for (size_t i = 0; i < file_.nodes.size(); ++i) {
      const ChakraNode& node = file_.nodes[i];
      std::vector<uint32_t>& known = dependencies_[i];
      for (const auto* ids :
           {&node.control_dependencies, &node.data_dependencies}) {
        for (const uint64_t id : *ids) {
          const auto found = number_of_id_.find(id);
          if (found == number_of_id_.end()) {
            return Error(node, fmt::format("depends on node {}, which the "
                                           "file does not have",
                                           id));
          }
          known.push_back(found->second);
        }
      }
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<uint32_t>> Order() const {
    std::vector<uint32_t> order = NodeOrder(dependencies_);
    if (order.size() == dependencies_.size()) return order;
    std::sort(order.begin(), order.end());
    uint32_t first = 0;  // That the order lacks.
    while (first < order.size() && order[first] == first) ++first;
    return Error(file_.nodes[first],
                 "waits for itself through its dependencies, or for nodes that "
                 "do");
  }

  absl::StatusOr<TraceNode> NodeOf(const ChakraNode& from) {
    const ChakraAttributes attributes(from);
    NoteUnread(from);
    TraceNode node;
    node.id = from.id;
    node.name = import_.NameOf(from.name);
    node.kind = KindOf(from, attributes.Integer(chakra::kIsCpuOp) == 1);
    ASTRA_RETURN_IF_ERROR(SetPhase(from, attributes, node));
    switch (node.kind) {
      case TraceNodeKind::kCompute:
      case TraceNodeKind::kHost:
      case TraceNodeKind::kMemory:
        ASTRA_RETURN_IF_ERROR(SetDuration(from, attributes, node));
        break;
      case TraceNodeKind::kCollective:
        ASTRA_RETURN_IF_ERROR(SetCollective(from, attributes, node));
        break;
      case TraceNodeKind::kSend:
      case TraceNodeKind::kReceive:
        ASTRA_RETURN_IF_ERROR(SetMessage(from, attributes, node));
        break;
      case TraceNodeKind::kMark:
        break;
    }
    return node;
  }

  void NoteUnread(const ChakraNode& node) {
    for (const ChakraAttribute& attribute : node.attributes) {
      if (std::find(std::begin(chakra::kRead), std::end(chakra::kRead),
                    attribute.name) == std::end(chakra::kRead)) {
        import_.unread_attributes_.insert(attribute.name);
      }
    }
  }

  absl::Status SetPhase(const ChakraNode& from,
                        const ChakraAttributes& attributes,
                        TraceNode& node) const {
    const std::string_view name = attributes.Text(chakra::kPhase);
    if (!attributes.has(chakra::kPhase)) return absl::OkStatus();
    for (const Phase phase : kPhases) {
      if (name != Name(phase)) continue;
      node.phase = phase;
      return absl::OkStatus();
    }
    return Error(
        from, fmt::format("phase {} is none of fwd, ig and wg", Quoted(name)));
  }

  // Without any time, host work and copies take none, with a warning.
  absl::Status SetDuration(const ChakraNode& from,
                           const ChakraAttributes& attributes,
                           TraceNode& node) const {
    constexpr int64_t kPerMicrosecond = 1'000'000;
    if (attributes.has(chakra::kDurationPs)) {  // Which may well be 0.
      const std::optional<int64_t> time =
          attributes.Integer(chakra::kDurationPs, kMostPicoseconds);
      if (!time) return Error(from, "duration_ps is no time below 2^60 ps");
      node.duration = TimePs(*time);
      return absl::OkStatus();
    }
    if (from.duration_us >
        static_cast<uint64_t>(kMostPicoseconds / kPerMicrosecond)) {
      return Error(from, fmt::format("duration_micros {} is above 2^60 ps",
                                     from.duration_us));
    }
    node.duration =
        TimePs(static_cast<int64_t>(from.duration_us) * kPerMicrosecond);
    if (node.duration > TimePs(0)) return absl::OkStatus();
    const double num_ops = attributes.Number(chakra::kNumOps);
    const double bytes = attributes.Number(chakra::kTensorSize);
    if (node.kind != TraceNodeKind::kCompute || num_ops + bytes == 0) {
      ++import_.timeless_nodes_[from.type];
      return absl::OkStatus();
    }
    if (!import_.peak_) {
      return Error(from,
                   "has num_ops or tensor_size but no duration_micros, and the "
                   "GPU is not known: give --gpu-type");
    }
    const double seconds = std::max(num_ops / import_.peak_->flops,
                                    bytes / import_.peak_->memory_bytes);
    if (seconds * 1e12 > static_cast<double>(kMostPicoseconds)) {
      return Error(from, "would take more than 2^60 ps on the GPU");
    }
    node.duration = TimePs(std::llround(seconds * 1e12));
    return absl::OkStatus();
  }

  absl::Status SetCollective(const ChakraNode& from,
                             const ChakraAttributes& attributes,
                             TraceNode& node) {
    const std::optional<int64_t> type =
        attributes.Integer(chakra::kCommType, std::size(kCommTypes) - 1);
    if (!type) {
      return Error(from, fmt::format("comm_type is missing, or none of 0 to {}",
                                     std::size(kCommTypes) - 1));
    }
    ASTRA_ASSIGN_OR_RETURN(node.group, GroupOf(from, attributes));
    ASTRA_RETURN_IF_ERROR(SetDimension(from, attributes, node.group));
    const size_t num_ranks =
        import_.trace_.groups[node.group.index()].ranks.size();
    const std::optional<CollectiveKind> kind =
        kCommTypes[static_cast<size_t>(*type)];
    node.collective = kind.value_or(CollectiveKind::kAllReduce);
    ASTRA_RETURN_IF_ERROR(SetOurKind(from, attributes, node));
    node.bytes = kBarrierBytes;
    if (kind) {
      ASTRA_ASSIGN_OR_RETURN(node.bytes, SizeOf(from, attributes));
      // Chakra counts what a rank puts in, which of these is its own part.
      if (*kind == CollectiveKind::kAllGather ||
          *kind == CollectiveKind::kGather) {
        node.bytes =
            Bytes(node.bytes.count() * static_cast<int64_t>(num_ranks));
      }
    }
    ASTRA_RETURN_IF_ERROR(SetBuffer(from, attributes, num_ranks, node));
    ASTRA_RETURN_IF_ERROR(SetUpdate(from, attributes, node));
    if (node.bytes == Bytes(0) || num_ranks == 1) {
      node.kind = TraceNodeKind::kMark;
    }
    return absl::OkStatus();
  }

  // All collectives of a group have one dimension.
  absl::Status SetDimension(const ChakraNode& from,
                            const ChakraAttributes& attributes,
                            ProcessGroupId id) {
    ProcessGroup& group = import_.trace_.groups[id.index()];
    const std::string_view name = attributes.Text(chakra::kDimension);
    const std::optional<ParallelDimension> dimension = DimensionOf(name);
    if (!attributes.has(chakra::kDimension)) {
      if (!group.dimension && !group.name.empty()) {
        import_.undimensioned_groups_.insert(group.name);
      }
      return absl::OkStatus();
    }
    if (!dimension) {
      return Error(from, fmt::format("dimension {} is none of TP, CP, DP, EP, "
                                     "ETP and DP_EP",
                                     Quoted(name)));
    }
    if (group.dimension && group.dimension != dimension) {
      return Error(from, fmt::format("dimension {} is another than {}, which "
                                     "group {} had before",
                                     Quoted(name), Name(*group.dimension),
                                     Quoted(group.name)));
    }
    group.dimension = dimension;
    return absl::OkStatus();
  }

  // What a rank puts in is rounded down where the buffer is no multiple.
  absl::Status SetBuffer(const ChakraNode& from,
                         const ChakraAttributes& attributes, size_t num_ranks,
                         TraceNode& node) const {
    if (!attributes.has(chakra::kBufferBytes)) return absl::OkStatus();
    const std::optional<int64_t> all =
        attributes.Integer(chakra::kBufferBytes, kMostBytes);
    const int64_t least = node.bytes.count();
    if (!all || *all < least ||
        *all - least >= static_cast<int64_t>(num_ranks)) {
      return Error(from, fmt::format("buffer_bytes is not what {} ranks put in "
                                     "by comm_size, {}, and a rest",
                                     num_ranks, node.bytes));
    }
    node.bytes = Bytes(*all);
    return absl::OkStatus();
  }

  absl::Status SetUpdate(const ChakraNode& from,
                         const ChakraAttributes& attributes,
                         TraceNode& node) const {
    if (!attributes.has(chakra::kUpdatePs)) return absl::OkStatus();
    const std::optional<int64_t> time =
        attributes.Integer(chakra::kUpdatePs, kMostPicoseconds);
    if (!time) return Error(from, "update_ps is no time below 2^60 ps");
    node.update = TimePs(*time);
    return absl::OkStatus();
  }

  // Chakra has one word for the all-to-alls of experts.
  absl::Status SetOurKind(const ChakraNode& from,
                          const ChakraAttributes& attributes,
                          TraceNode& node) const {
    if (!attributes.has(chakra::kCollectiveKind)) return absl::OkStatus();
    const std::string_view name = attributes.Text(chakra::kCollectiveKind);
    for (const CollectiveKind kind : kCollectiveKinds) {
      if (name != Name(kind) || !IsAllToAll(kind)) continue;
      if (!IsAllToAll(node.collective)) break;
      node.collective = kind;
      return absl::OkStatus();
    }
    return Error(from, fmt::format("collective_kind {} is no kind of {}",
                                   Quoted(name), Name(node.collective)));
  }

  absl::StatusOr<Bytes> SizeOf(const ChakraNode& from,
                               const ChakraAttributes& attributes) const {
    const std::optional<int64_t> size =
        attributes.Integer(chakra::kCommSize, kMostBytes);
    if (size) return Bytes(*size);
    return Error(from, "comm_size is missing, or no size up to 2^50 bytes");
  }

  absl::StatusOr<ProcessGroupId> GroupOf(const ChakraNode& from,
                                         const ChakraAttributes& attributes) {
    const std::string_view name = attributes.Text(chakra::kGroup);
    const auto found = import_.groups_.find(name);
    if (found != import_.groups_.end()) return found->second;
    if (name.empty()) return import_.AddGroupOfAll();
    std::vector<std::string_view> known;
    for (const ProcessGroup& group : import_.trace_.groups) {
      if (!group.name.empty()) known.push_back(group.name);
    }
    if (known.empty()) {
      return Error(from, fmt::format("is of group {}, but no file says which "
                                     "ranks that has: give --comm-groups",
                                     Quoted(name)));
    }
    return Error(from, fmt::format("group {} is not in the file of groups{}",
                                   Quoted(name), DidYouMean(name, known)));
  }

  absl::Status SetMessage(const ChakraNode& from,
                          const ChakraAttributes& attributes,
                          TraceNode& node) const {
    const bool sends = node.kind == TraceNodeKind::kSend;
    const std::string_view key = sends ? chakra::kTarget : chakra::kSource;
    const std::string_view own = sends ? chakra::kSource : chakra::kTarget;
    if (attributes.has(own) && attributes.Integer(own) != int64_t{rank_}) {
      return Error(from, fmt::format("{} is not rank {}, whose file this is",
                                     own, rank_));
    }
    const std::optional<int64_t> peer =
        attributes.Integer(key, import_.num_ranks_ - 1);
    if (!peer) {
      return Error(from, fmt::format("{} is missing, or none of the ranks 0 "
                                     "to {}",
                                     key, import_.num_ranks_ - 1));
    }
    if (*peer == rank_) return Error(from, "the rank is its own peer");
    node.peer = RankId(static_cast<uint32_t>(*peer));
    node.tag = attributes.Integer(chakra::kTag).value_or(0);
    ASTRA_ASSIGN_OR_RETURN(node.bytes, SizeOf(from, attributes));
    // A message without contents still says that it has come.
    node.bytes = std::max(node.bytes, Bytes(1));
    return absl::OkStatus();
  }

  ChakraImport& import_;
  const std::string_view name_;
  const ChakraFile& file_;
  const uint32_t rank_;
  std::unordered_map<uint64_t, uint32_t> number_of_id_;
  std::vector<std::vector<uint32_t>> dependencies_;  // By number in the file.
};

ChakraImport::ChakraImport(std::vector<ProcessGroup> groups, uint32_t num_ranks,
                           std::optional<PeakRates> peak)
    : num_ranks_(num_ranks), peak_(peak) {
  trace_.groups = std::move(groups);
  for (uint32_t g = 0; g < trace_.groups.size(); ++g) {
    groups_.try_emplace(trace_.groups[g].name, g);
  }
}

// Collectives that name no group are over all ranks.
ProcessGroupId ChakraImport::AddGroupOfAll() {
  ProcessGroup all;
  for (uint32_t r = 0; r < num_ranks_; ++r) all.ranks.emplace_back(r);
  const ProcessGroupId id(static_cast<uint32_t>(trace_.groups.size()));
  trace_.groups.push_back(std::move(all));
  groups_.try_emplace("", id);
  return id;
}

TraceNameId ChakraImport::NameOf(std::string_view name) {
  if (names_.size() >= kMostNames && !names_.contains(name)) {
    name = kOtherNames;
  }
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  const TraceNameId id(static_cast<uint32_t>(trace_.names.size()));
  trace_.names.emplace_back(name);
  names_.try_emplace(std::string(name), id);
  return id;
}

absl::Status ChakraImport::AddRank(std::string_view name,
                                   const ChakraFile& file) {
  ASTRA_ASSIGN_OR_RETURN(RankTrace rank, Rank(*this, name, file).Make());
  trace_.ranks.push_back(std::move(rank));
  unknown_fields_.insert(file.unknown_fields.begin(),
                         file.unknown_fields.end());
  for (const ChakraAttribute& attribute : file.attributes) {
    if (attribute.name != chakra::kSlowdown) continue;
    const auto* slowdown = std::get_if<double>(&attribute.value);
    if (slowdown == nullptr || !(*slowdown >= 0 && *slowdown < 1)) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: {} is no number from 0 to below 1", name, chakra::kSlowdown));
    }
    trace_.communication_slowdown = *slowdown;
  }
  return absl::OkStatus();
}

absl::StatusOr<ExecutionTrace> ChakraImport::Finish(Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(CheckRanksAgree(trace_));
  ASTRA_RETURN_IF_ERROR(CheckEnds(trace_));
  if (trace_.num_nodes() == 0) warnings->push_back("the trace has no nodes");
  if (!unread_attributes_.empty()) {
    warnings->push_back(
        fmt::format("the trace has attributes without effect: "
                    "{}",
                    ListOf(unread_attributes_)));
  }
  if (!unknown_fields_.empty()) {
    warnings->push_back(
        fmt::format("the trace has fields of nodes that the schema does not "
                    "know, which have no effect: {}",
                    fmt::join(unknown_fields_, ", ")));
  }
  for (const auto& [type, count] : timeless_nodes_) {
    warnings->push_back(
        fmt::format("{} nodes of type {} have no duration and take no time",
                    count, Name(type)));
  }
  if (!undimensioned_groups_.empty()) {
    warnings->push_back(fmt::format(
        "groups of no known dimension, which a name such as \"TP.0\" or the "
        "attribute dimension says, count to DP: {}",
        ListOf(undimensioned_groups_)));
  }
  return std::move(trace_);
}

}  // namespace astra
