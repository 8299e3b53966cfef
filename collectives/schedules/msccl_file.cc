#include "collectives/schedules/msccl_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/xml/xml_reader.h"
#include "collectives/schedules/msccl_algorithm.h"
#include "collectives/schedules/msccl_run.h"
#include "fmt/core.h"
#include "pugixml.hpp"

namespace astra {
namespace {

struct Collective {
  std::string_view name;
  CollectiveKind kind;
};
constexpr Collective kCollectives[] = {
    {"allreduce", CollectiveKind::kAllReduce},
    {"allgather", CollectiveKind::kAllGather},
    {"reduce_scatter", CollectiveKind::kReduceScatter},
    {"reducescatter", CollectiveKind::kReduceScatter},  // RCCL's name.
    {"alltoall", CollectiveKind::kAllToAll},
    {"broadcast", CollectiveKind::kBroadcast},
    {"reduce", CollectiveKind::kReduce},
};

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents, Warnings* warnings)
      : xml_(file, contents, warnings) {}

  absl::StatusOr<MscclAlgorithm> Parse() {
    const pugi::xml_node root = xml_.Root("algo");
    ASTRA_RETURN_IF_ERROR(xml_.status());
    ReadHead(root);
    ASTRA_RETURN_IF_ERROR(xml_.status());
    std::vector<bool> seen(collective().num_ranks);
    algorithm_.gpus.resize(collective().num_ranks);
    for (const pugi::xml_node node : xml_.Children(root, "gpu")) {
      const uint32_t id = xml_.Count(node, "id", 0, collective().num_ranks - 1);
      if (seen[id]) Fail(node, fmt::format("gpu {} is there twice", id));
      seen[id] = true;
      algorithm_.gpus[id] = ReadGpu(node, id);
      ASTRA_RETURN_IF_ERROR(xml_.status());
    }
    const auto missing = std::find(seen.begin(), seen.end(), false);
    if (missing != seen.end()) {
      Fail(root, fmt::format("there is no <gpu> with the id {}",
                             missing - seen.begin()));
    }
    ASTRA_RETURN_IF_ERROR(xml_.status());
    return std::move(algorithm_);
  }

 private:
  ChunkedCollective& collective() { return algorithm_.collective; }

  void Fail(pugi::xml_node node, std::string_view message) {
    xml_.Fail(xml_.PlaceOf(node), message);
  }

  void ReadHead(pugi::xml_node root) {
    xml_.CheckAttributes(
        root, {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll",
               "inplace", "outofplace", "minBytes", "maxBytes", "nthreads",
               "nthreadblocks", "maxcount"});
    algorithm_.name = xml_.Text(root, "name", "a name");
    std::vector<std::string_view> names;
    for (const Collective& known : kCollectives) names.push_back(known.name);
    collective().kind = kCollectives[xml_.Choice(root, "coll", names)].kind;
    const uint32_t n = collective().num_ranks =
        xml_.Count(root, "ngpus", 2, CustomSchedule::kMaxRanks);
    const uint32_t chunks =
        xml_.Count(root, "nchunksperloop", 1, CustomSchedule::kMaxChunks);
    num_channels_ =
        xml_.Count(root, "nchannels", 1, CollectiveRequest::kMaxChannels);
    algorithm_.is_in_place = xml_.Count(root, "inplace", 0, 1) == 1;

    const bool is_cut = collective().num_parts() > 1;
    if (is_cut && chunks % n != 0) {
      Fail(root, fmt::format("nchunksperloop is {}: expected a multiple of the "
                             "{} GPUs",
                             chunks, n));
    }
    const bool is_exchange = collective().kind == CollectiveKind::kAllToAll;
    collective().num_chunks = is_exchange ? chunks * n : chunks;
    if (collective().num_chunks > CustomSchedule::kMaxChunks) {
      Fail(root, fmt::format("{} GPUs with {} chunks each: more than {} chunks",
                             n, chunks, CustomSchedule::kMaxChunks));
    }
    const CollectiveKind kind = collective().kind;
    algorithm_.input_chunks =
        kind == CollectiveKind::kAllGather ? chunks / n : chunks;
    algorithm_.output_chunks =
        kind == CollectiveKind::kReduceScatter ? chunks / n : chunks;
  }

  MscclGpu ReadGpu(pugi::xml_node node, uint32_t id) {
    xml_.CheckAttributes(node, {"id", "i_chunks", "o_chunks", "s_chunks"});
    MscclGpu gpu;
    gpu.place = xml_.PlaceOf(node);
    CheckSize(node, "i_chunks", algorithm_.input_chunks);
    CheckSize(node, "o_chunks", algorithm_.output_chunks);
    gpu.num_scratch_chunks =
        xml_.Count(node, "s_chunks", 0, CustomSchedule::kMaxChunks);
    num_slots_ += algorithm_.input_chunks + algorithm_.output_chunks +
                  gpu.num_scratch_chunks;
    if (num_slots_ > kMaxMscclSlots) {
      Fail(node, fmt::format("more than {} chunks of memory", kMaxMscclSlots));
    }
    std::map<uint32_t, uint32_t> position_of_id;
    for (const pugi::xml_node child : xml_.Children(node, "tb")) {
      if (!xml_.status().ok()) return gpu;
      gpu.blocks.push_back(ReadBlock(child, gpu, id));
      const auto position = static_cast<uint32_t>(gpu.blocks.size() - 1);
      if (!position_of_id.emplace(gpu.blocks.back().id, position).second) {
        Fail(child, fmt::format("thread block {} of gpu {} is there twice",
                                gpu.blocks.back().id, id));
      }
    }
    for (MscclBlock& block : gpu.blocks) {
      for (MscclStep& step : block.steps) {
        ResolveDependency(gpu, position_of_id, step);
      }
    }
    return gpu;
  }

  // A buffer that is not used may be stated as empty.
  void CheckSize(pugi::xml_node node, const char* key, uint32_t size) {
    const uint32_t stated =
        xml_.Count(node, key, 0, CustomSchedule::kMaxChunks);
    if (stated == 0 || stated == size || !xml_.status().ok()) return;
    Fail(node, fmt::format("<gpu>: {} is {}: expected {}, of nchunksperloop "
                           "and coll",
                           key, stated, size));
  }

  MscclBlock ReadBlock(pugi::xml_node node, const MscclGpu& gpu, uint32_t id) {
    xml_.CheckAttributes(node, {"id", "send", "recv", "chan"});
    const uint32_t last_gpu = collective().num_ranks - 1;
    MscclBlock block;
    block.place = xml_.PlaceOf(node);
    block.id = xml_.Count(node, "id", 0, kMaxMscclBlocks - 1);
    block.send = xml_.Optional(node, "send", last_gpu);
    block.receive = xml_.Optional(node, "recv", last_gpu);
    // A block that only copies has channel -1.
    const bool is_local = !block.send && !block.receive;
    block.channel = static_cast<uint16_t>(std::max<int64_t>(
        xml_.Integer(node, "chan", is_local ? -1 : 0, num_channels_ - 1), 0));
    if (block.send == id || block.receive == id) {
      Fail(node, fmt::format("<tb>: gpu {} is its own peer", id));
    }
    for (const pugi::xml_node child : xml_.Children(node, "step")) {
      if (!xml_.status().ok()) break;
      block.steps.push_back(ReadStep(
          child, gpu, block, static_cast<uint32_t>(block.steps.size())));
    }
    return block;
  }

  MscclStep ReadStep(pugi::xml_node node, const MscclGpu& gpu,
                     const MscclBlock& block, uint32_t position) {
    xml_.CheckAttributes(node, {"s", "type", "srcbuf", "srcoff", "dstbuf",
                                "dstoff", "cnt", "depid", "deps", "hasdep"});
    MscclStep step;
    step.place = xml_.PlaceOf(node);
    xml_.Count(node, "s", position, position);
    step.op = static_cast<MscclOp>(xml_.Choice(node, "type", kMscclOpNames));
    const uint32_t least = step.op == MscclOp::kNothing ? 0 : 1;
    step.count = xml_.Count(node, "cnt", least, CustomSchedule::kMaxChunks);
    step.source = ReadAddress(node, "srcbuf", "srcoff");
    step.target = ReadAddress(node, "dstbuf", "dstoff");
    if (Reads(step.op)) CheckAddress(node, "src", gpu, step.source, step.count);
    if (Writes(step.op)) {
      CheckAddress(node, "dst", gpu, step.target, step.count);
    }
    if (Sends(step.op) && !block.send) {
      Fail(node, "a step that sends in a <tb> with send=\"-1\"");
    }
    if (Receives(step.op) && !block.receive) {
      Fail(node, "a step that receives in a <tb> with recv=\"-1\"");
    }
    if (const auto id = xml_.Optional(node, "depid", kMaxMscclBlocks - 1)) {
      step.dependency = MscclStep::Dependency{
          .block_id = *id, .step = xml_.Count(node, "deps", 0, kMaxMscclMoves)};
    }
    num_moves_ += std::max(step.count, 1U);
    if (num_moves_ > kMaxMscclMoves) {
      Fail(node,
           fmt::format("the steps have more than {} chunks", kMaxMscclMoves));
    }
    return step;
  }

  MscclAddress ReadAddress(pugi::xml_node node, const char* buffer,
                           const char* offset) {
    MscclAddress address;
    address.buffer =
        static_cast<MscclBuffer>(xml_.Choice(node, buffer, kMscclBufferNames));
    // -1 stands for an address that is not used.
    address.offset = static_cast<int32_t>(
        xml_.Integer(node, offset, -1, CustomSchedule::kMaxChunks));
    return address;
  }

  void CheckAddress(pugi::xml_node node, std::string_view prefix,
                    const MscclGpu& gpu, const MscclAddress& address,
                    uint32_t count) {
    const uint32_t sizes[] = {algorithm_.input_chunks, algorithm_.output_chunks,
                              gpu.num_scratch_chunks};
    const auto buffer = static_cast<size_t>(address.buffer);
    if (address.offset >= 0 &&
        static_cast<uint32_t>(address.offset) + count <= sizes[buffer]) {
      return;
    }
    Fail(node,
         fmt::format("<step>: {}off is {} with {} chunk(s): buffer \"{}\" "
                     "has {}",
                     prefix, address.offset, count, kMscclBufferNames[buffer],
                     sizes[buffer]));
  }

  void ResolveDependency(const MscclGpu& gpu,
                         const std::map<uint32_t, uint32_t>& position_of_id,
                         MscclStep& step) {
    if (!step.dependency) return;
    const auto found = position_of_id.find(step.dependency->block_id);
    if (found == position_of_id.end()) {
      xml_.Fail(step.place,
                fmt::format("<step>: depid is {}: the gpu has no such <tb>",
                            step.dependency->block_id));
      return;
    }
    step.dependency->block = found->second;
    const size_t num_steps = gpu.blocks[found->second].steps.size();
    if (step.dependency->step < num_steps) return;
    xml_.Fail(step.place,
              fmt::format("<step>: deps is {}: thread block {} has {} step(s)",
                          step.dependency->step, step.dependency->block_id,
                          num_steps));
  }

  XmlReader xml_;
  MscclAlgorithm algorithm_;
  uint32_t num_channels_ = 1;
  size_t num_slots_ = 0;
  size_t num_moves_ = 0;
};

}  // namespace

absl::StatusOr<CustomSchedule> ParseMsccl(std::string_view file,
                                          std::string_view contents,
                                          Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const MscclAlgorithm algorithm,
                         Parser(file, contents, warnings).Parse());
  return RunMsccl(file, algorithm);
}

absl::StatusOr<CustomSchedule> ReadMsccl(const std::string& path,
                                         Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseMsccl(path, contents, warnings);
}

}  // namespace astra
