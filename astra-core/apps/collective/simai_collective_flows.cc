#include "astra-core/apps/collective/simai_collective_flows.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

absl::Status CannotWrite(const std::string& path) {
  return absl::PermissionDeniedError(
      fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

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

absl::Status WriteLines(const std::string& temporary, const std::string& path,
                        const FlowGraph& graph, FlowLines& lines) {
  constexpr size_t kBlock = 1 << 20;
  FilePtr file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(path);
  std::string block = "id,source,target,bytes,channel,chunk,depends_on\n";
  const auto write = [&] {
    const size_t size = block.size();
    const size_t written = std::fwrite(block.data(), 1, size, file.get());
    block.clear();
    return written == size;
  };
  for (uint64_t id = 0; id < graph.num_flows(); ++id) {
    lines.Append(FlowId(id), &block);
    if (block.size() >= kBlock && !write()) return CannotWrite(path);
  }
  if (!write() || std::fclose(file.release()) != 0) return CannotWrite(path);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFlows(const std::string& path, const FlowGraph& graph,
                        const GroupLayout& layout,
                        absl::Span<const RankId> ranks) {
  const std::string temporary = path + ".tmp";
  const absl::Cleanup remove = [&] { std::remove(temporary.c_str()); };
  FlowLines lines(graph, layout, ranks);
  absl::Status status = WriteLines(temporary, path, graph, lines);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = CannotWrite(path);
  }
  return status;
}

}  // namespace astra
