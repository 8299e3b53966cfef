#include "astra-core/apps/memory_snapshot.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/rank_computations.h"
#include "astra-core/base/pickle_writer.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/memory_events.h"

namespace astra {
namespace {

// Address of the first block. PyTorch shows GPU addresses of this size.
constexpr int64_t kBaseAddress = 0x7f0000000000;

// Returns `text` with U+FFFD for what is not UTF-8, which Python refuses.
std::string ValidText(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(
             Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

// Gives blocks addresses, the lowest that is free.
class AddressSpace {
 public:
  int64_t Take(int64_t size) {
    for (auto free = free_.begin(); free != free_.end(); ++free) {
      const auto [address, room] = *free;
      if (room < size) continue;
      free_.erase(free);
      if (room > size) free_.emplace(address + size, room - size);
      return address;
    }
    const int64_t address = end_;
    end_ += size;
    return address;
  }

  void Release(int64_t address, int64_t size) {
    auto next = free_.lower_bound(address);
    if (next != free_.end() && address + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == address) {
        before->second += size;
        return;
      }
    }
    free_.emplace(address, size);
  }

  int64_t end() const { return end_; }

 private:
  int64_t end_ = kBaseAddress;
  std::map<int64_t, int64_t> free_;  // Sizes of free ranges by address.
};

struct LiveBlock {
  size_t number = 0;
  int64_t size = 0;
};

class SnapshotWriter {
 public:
  SnapshotWriter(const Program& program, const StageMemory& memory,
                 const RankComputations& computations)
      : program_(program), memory_(memory), computations_(computations) {}

  std::string Write(absl::Span<const MemoryEvent> events) {
    pickle_.BeginDict().Text("device_traces").BeginList().BeginList();
    for (const MemoryEvent& event : events) AddEvent(event);
    pickle_.EndList().EndList().Text("segments").BeginList();
    AddSegment();
    pickle_.EndList().EndDict();
    return std::move(pickle_).Finish();
  }

 private:
  // A block that an event allocated.
  struct Block {
    int64_t address = 0;
    uint32_t frames = 0;  // Number of its frames in the pickle.
  };

  void AddEvent(const MemoryEvent& event) {
    now_ = computations_.TimeOf(event, now_);
    const int64_t size = event.bytes.count();
    if (!event.is_release) {
      const int64_t address = addresses_.Take(size);
      live_[address] = {event.block, size};
      blocks_.push_back({address, 0});
      AddAction("alloc", blocks_.back(), size, &event);
      return;
    }
    const Block& block = blocks_[event.block];
    AddAction("free_requested", block, size, nullptr);
    AddAction("free_completed", block, size, nullptr);
    addresses_.Release(block.address, size);
    live_.erase(block.address);
  }

  // Adds an event of the trace. `event` is that of the allocation, which writes
  // the frames of the block.
  void AddAction(std::string_view action, const Block& block, int64_t size,
                 const MemoryEvent* event) {
    pickle_.BeginDict().Text("action").Text(action);
    pickle_.Text("addr").Integer(block.address);
    pickle_.Text("size").Integer(size).Text("stream").Integer(0);
    pickle_.Text("time_us").Integer(now_.count() / kPsPerUs).Text("frames");
    if (event != nullptr) {
      blocks_.back().frames = AddFrames(*event);
    } else {
      pickle_.Again(block.frames);
    }
    pickle_.EndDict();
  }

  void AddFrame(std::string_view file, int64_t line, std::string_view name) {
    pickle_.BeginDict().Text("filename").Text(file);
    pickle_.Text("line").Integer(line).Text("name").Text(name).EndDict();
  }

  // Writes the frames of a block, or refers to those that are alike.
  uint32_t AddFrames(const MemoryEvent& event) {
    const int64_t micro_batch = event.slot ? event.slot->micro_batch : 0;
    const int64_t chunk = event.slot ? event.slot->chunk : 0;
    const int kind = event.slot ? static_cast<int>(event.slot->kind) : -1;
    const auto [known, is_new] = frames_.try_emplace(
        {event.module.index(), event.use, micro_batch, chunk, kind});
    if (!is_new) {
      pickle_.Again(known->second);
      return known->second;
    }
    std::string place = "held all the time";
    if (event.slot) {
      place = fmt::format("{} of micro-batch {}", Name(event.slot->kind),
                          micro_batch);
    } else if (event.use == MemoryUse::kWorkspace) {
      place = "after the last micro-batch";
    }
    pickle_.BeginList();
    AddFrame(ValidText(program_.module(event.module).name), micro_batch,
             Name(event.use));
    AddFrame(fmt::format("stage {}", memory_.stage), chunk, place);
    pickle_.EndList();
    known->second = pickle_.Remember();
    return known->second;
  }

  void AddSegment() {
    int64_t allocated = 0;
    for (const auto& [_, block] : live_) allocated += block.size;
    const int64_t size = std::max(addresses_.end() - kBaseAddress,
                                  ReservedMemory(memory_).count());
    pickle_.BeginDict().Text("device").Integer(0);
    pickle_.Text("address").Integer(kBaseAddress);
    pickle_.Text("total_size").Integer(size);
    for (const std::string_view name :
         {"allocated_size", "active_size", "requested_size"}) {
      pickle_.Text(name).Integer(allocated);
    }
    pickle_.Text("stream").Integer(0).Text("segment_type").Text("large");
    pickle_.Text("is_expandable").Bool(false);
    pickle_.Text("frames").BeginList().EndList().Text("blocks").BeginList();
    int64_t address = kBaseAddress;
    for (const auto& [begin, block] : live_) {
      if (begin > address) AddBlock(address, begin - address, nullptr);
      AddBlock(begin, block.size, &blocks_[block.number]);
      address = begin + block.size;
    }
    const int64_t end = kBaseAddress + size;
    if (end > address) AddBlock(address, end - address, nullptr);
    pickle_.EndList().EndDict();
  }

  // Adds a block of the segment; null: it is free.
  void AddBlock(int64_t address, int64_t size, const Block* block) {
    const bool is_live = block != nullptr;
    pickle_.BeginDict().Text("address").Integer(address);
    pickle_.Text("size").Integer(size);
    pickle_.Text("requested_size").Integer(is_live ? size : 0);
    pickle_.Text("state").Text(is_live ? "active_allocated" : "inactive");
    pickle_.Text("frames");
    if (is_live) {
      pickle_.Again(block->frames);
    } else {
      pickle_.BeginList().EndList();
    }
    pickle_.EndDict();
  }

  const Program& program_;
  const StageMemory& memory_;
  const RankComputations& computations_;
  PickleWriter pickle_;
  AddressSpace addresses_;
  TimePs now_;
  std::vector<Block> blocks_;          // By MemoryEvent::block.
  std::map<int64_t, LiveBlock> live_;  // By address.
  // By module, use, micro-batch, chunk and kind of slot.
  std::map<std::tuple<uint32_t, MemoryUse, int64_t, int64_t, int>, uint32_t>
      frames_;
};

}  // namespace

MemorySnapshot SnapshotOf(const Program& program, const StageMemory& memory,
                          const SimulationResult& result, size_t most) {
  const RankComputations computations(result, memory.stage);
  const MemoryEvents events = MemoryEventsOf(
      program, memory.stage, computations.MicroBatches(program), most);
  MemorySnapshot snapshot;
  snapshot.file =
      SnapshotWriter(program, memory, computations).Write(events.events);
  snapshot.events = events.events.size();
  snapshot.left_out = events.left_out;
  return snapshot;
}

std::string DescribeLeftOut(const MemorySnapshot& snapshot) {
  if (snapshot.left_out == 0) return "";
  return fmt::format(
      "snapshot   has the first {} of {} allocations and releases: more are "
      "left out, and the peak may be among them\n",
      snapshot.events, snapshot.events + snapshot.left_out);
}

}  // namespace astra
