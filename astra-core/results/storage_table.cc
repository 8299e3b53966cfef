#include "astra-core/results/storage_table.h"

namespace astra {
namespace {

constexpr std::string_view kFile = "storage.csv";
constexpr int kDecimals = 6;

constexpr Column<StorageRow> kColumns[] = {
    {"job", "", "name",
     [](const StorageRow& row, std::string* text) {
       AppendField(row.job, text);
     }},
    {"kind", "", "checkpoint, restore or data",
     [](const StorageRow& row, std::string* text) { *text += row.kind; }},
    {"iteration", "", "the one that it was written before, or read for",
     [](const StorageRow& row, std::string* text) {
       AppendInteger(row.iteration, text);
     }},
    {"begin_us", "us", "when its messages were sent",
     [](const StorageRow& row, std::string* text) {
       AppendUs(row.begin, text);
     }},
    {"end_us", "us", "when the last of them had arrived",
     [](const StorageRow& row, std::string* text) { AppendUs(row.end, text); }},
    {"time_us", "us", "end_us - begin_us",
     [](const StorageRow& row, std::string* text) {
       AppendUs(row.end - row.begin, text);
     }},
    {"bytes", "B", "of all ranks, without headers",
     [](const StorageRow& row, std::string* text) {
       AppendInteger(row.bytes.count(), text);
     }},
    {"GBps", "GB/s (10^9 B/s)", "bytes / time_us",
     [](const StorageRow& row, std::string* text) {
       AppendNumber(row.GBps(), kDecimals, text);
     }},
    {"waited_us", "us",
     "for which the iteration waited for it; of a checkpoint also for the one "
     "before it and for its pause",
     [](const StorageRow& row, std::string* text) {
       AppendUs(row.waited, text);
     }},
};

}  // namespace

double StorageGBps(Bytes bytes, TimePs time) {
  constexpr double kGBpsPerBytePerPs = 1000;
  if (time == TimePs(0)) return 0;
  return kGBpsPerBytePerPs * static_cast<double>(bytes.count()) /
         static_cast<double>(time.count());
}

std::string StorageCsv(absl::Span<const StorageRow> rows) {
  std::string text = HeaderOf<StorageRow>(kColumns);
  for (const StorageRow& row : rows) {
    AppendRow<StorageRow>(kColumns, row, &text);
  }
  return text;
}

void AppendStorageColumns(std::vector<ColumnText>* texts) {
  AppendTexts<StorageRow>(kFile, kColumns, texts);
}

}  // namespace astra
