#include "astra-core/results/memory_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fmt/core.h"

namespace astra {
namespace {

struct MemoryRow {
  int64_t stage = 0;
  size_t place = 0;          // In the order of what the stage runs.
  std::optional<Slot> slot;  // None: what runs after the last micro-batch.
  int64_t in_flight = 0;
  Bytes allocated;
};

constexpr Column<MemoryRow> kColumns[] = {
    {"stage", "", "pipeline stage; its ranks are alike",
     [](const MemoryRow& row, std::string* text) {
       AppendInteger(row.stage, text);
     }},
    {"slot", "", "place in the order of what the stage runs",
     [](const MemoryRow& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.place), text);
     }},
    {"pass", "",
     "forward, backward, input_gradient or weight_gradient; after: what runs "
     "once after the last micro-batch",
     [](const MemoryRow& row, std::string* text) {
       *text += row.slot ? Name(row.slot->kind) : "after";
     }},
    {"chunk", "", "which of the stage's chunks; - for after",
     [](const MemoryRow& row, std::string* text) {
       *text += row.slot ? fmt::format("{}", row.slot->chunk) : "-";
     }},
    {"micro_batch", "", "- for after",
     [](const MemoryRow& row, std::string* text) {
       *text += row.slot ? fmt::format("{}", row.slot->micro_batch) : "-";
     }},
    {"in_flight", "",
     "micro-batches that went forward through a chunk and not back yet",
     [](const MemoryRow& row, std::string* text) {
       AppendInteger(row.in_flight, text);
     }},
    {"allocated_bytes", "B", "highest sum of allocated tensors in the slot",
     [](const MemoryRow& row, std::string* text) {
       AppendInteger(row.allocated.count(), text);
     }},
};

}  // namespace

std::string MemoryCsv(const Program& program,
                      absl::Span<const StageMemory> memories) {
  std::string text = fmt::format(
      "# bytes of each rank of a stage, as allocated; {} micro-batches\n",
      program.shape().micro_batches);
  text += HeaderOf<MemoryRow>(kColumns);
  for (const StageMemory& memory : memories) {
    for (size_t i = 0; i < memory.points.size(); ++i) {
      const auto& [slot, in_flight, bytes] = memory.points[i];
      AppendRow<MemoryRow>(kColumns, {memory.stage, i, slot, in_flight, bytes},
                           &text);
    }
    if (memory.after == Bytes(0)) continue;
    AppendRow<MemoryRow>(
        kColumns,
        {memory.stage, memory.points.size(), std::nullopt, 0, memory.after},
        &text);
  }
  return text;
}

void AppendMemoryColumns(std::vector<ColumnText>* texts) {
  AppendTexts<MemoryRow>("memory.csv", kColumns, texts);
}

}  // namespace astra
