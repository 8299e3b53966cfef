#include "astra-core/apps/collective/simai_collective_flows.h"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/temporary_file.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

class FlowLines {
 public:
  FlowLines(const FlowGraph& graph, const GroupLayout& layout,
            absl::Span<const RankId> ranks)
      : graph_(graph), layout_(layout), ranks_(ranks) {}

  // Appends the line of `id`. Requires that the lines of all lower ids came
  // before.
  void Append(FlowId id, std::string* out) {
    std::vector<uint64_t> earlier;
    if (const auto found = waiting_.find(id.index()); found != waiting_.end()) {
      earlier = std::move(found->second);
      waiting_.erase(found);
    }
    dependents_.clear();
    graph_.AppendDependents(id, &dependents_);
    for (const FlowId later : dependents_) {
      ASTRA_CHECK(later > id, "flow {} waits for {}", later, id);
      waiting_[later.index()].push_back(id.index());
    }
    const Flow flow = graph_.flow(id);
    AppendFormat(out, "{},{},{},{},{},{},{}\n", id, NameOf(flow.source),
                 NameOf(flow.target), flow.bytes.count(), flow.channel,
                 flow.first_chunk, fmt::join(earlier, " "));
  }

 private:
  std::string NameOf(GroupRank member) const {
    if (member.index() < ranks_.size()) {
      return fmt::format("{}", ranks_[member.index()]);
    }
    const uint32_t position =
        member.index() - static_cast<uint32_t>(ranks_.size());
    const uint32_t per_server = layout_.nv_switches_per_server();
    const uint32_t num_nv_switches = layout_.num_servers() * per_server;
    if (position >= num_nv_switches) {
      return fmt::format("reducer:{}", position - num_nv_switches);
    }
    return fmt::format("nvswitch:{}.{}", position / per_server,
                       position % per_server);
  }

  const FlowGraph& graph_;
  const GroupLayout& layout_;
  absl::Span<const RankId> ranks_;
  // By flow: the flows that it waits for among those already written.
  absl::flat_hash_map<uint64_t, std::vector<uint64_t>> waiting_;
  std::vector<FlowId> dependents_;  // Reused buffer.
};

}  // namespace

absl::Status WriteFlows(const std::string& path, const FlowGraph& graph,
                        const GroupLayout& layout,
                        absl::Span<const RankId> ranks) {
  constexpr size_t kBlock = 1 << 20;
  TemporaryFile file(path);
  ASTRA_RETURN_IF_ERROR(file.Open());
  FlowLines lines(graph, layout, ranks);
  std::string block = "id,source,target,bytes,channel,chunk,depends_on\n";
  for (uint64_t id = 0; id < graph.num_flows(); ++id) {
    lines.Append(FlowId(id), &block);
    if (block.size() < kBlock) continue;
    file.Append(block);
    block.clear();
  }
  file.Append(block);
  ASTRA_RETURN_IF_ERROR(file.Close());
  return file.Rename();
}

}  // namespace astra
