#include "astra-core/jobs/storage_use.h"

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "network-frontends/config/amounts.h"

namespace astra {
namespace {

constexpr int64_t kMostIterationsApart = 1'000'000;
constexpr int64_t kMostAhead = 1000;
constexpr TimePs kLongestPause = Microseconds(1'000'000'000);

// Reads the ranks, of which `key` names either all or `others`.
StorageRanks ReadRanks(std::string_view key, std::string_view name,
                       StorageRanks others, YamlFields& fields) {
  const std::string_view names[] = {"all", name};
  return fields.ChoiceOr(key, 0, names) == 0 ? StorageRanks::kAll : others;
}

void ReadAmount(StorageAmount& amount, YamlFields& fields) {
  const std::string text = fields.Text("bytes");
  if (fields.has("bytes")) {
    const absl::StatusOr<Bytes> bytes = ParseSize(text);
    if (!bytes.ok()) {
      fields.Error("bytes", std::string(bytes.status().message()));
    } else if (*bytes == Bytes(0)) {
      fields.Error("bytes", "expected above 0");
    } else {
      amount.bytes = *bytes;
    }
  }
  amount.stripes =
      static_cast<uint32_t>(fields.IntegerOr("stripes", 1, 1, kMostStripes));
}

TimePs ReadPause(YamlFields& fields) {
  const absl::StatusOr<TimePs> pause = ParseTime(fields.TextOr("pause", "0us"));
  if (pause.ok() && *pause <= kLongestPause) return *pause;
  fields.Error("pause", pause.ok() ? "expected at most 1000 s"
                                   : std::string(pause.status().message()));
  return {};
}

}  // namespace

StorageUse ReadStorageUse(YamlFields& job) {
  StorageUse use;
  if (job.Value("checkpoint") != nullptr) {
    YamlFields fields = job.Map("checkpoint", "a checkpoint");
    CheckpointUse& checkpoint = use.checkpoint.emplace();
    ReadAmount(checkpoint.amount, fields);
    checkpoint.amount.ranks = ReadRanks("writers", "first-replica",
                                        StorageRanks::kFirstReplica, fields);
    checkpoint.every = fields.Integer("every", 1, kMostIterationsApart);
    checkpoint.blocks = fields.BoolOr("blocking", false);
    checkpoint.pause = ReadPause(fields);
    fields.Close();
  }
  if (job.Value("data") != nullptr) {
    YamlFields fields = job.Map("data", "the data");
    DataUse& data = use.data.emplace();
    ReadAmount(data.amount, fields);
    data.amount.ranks =
        ReadRanks("readers", "first-stage", StorageRanks::kFirstStage, fields);
    data.ahead = fields.IntegerOr("ahead", 1, 0, kMostAhead);
    fields.Close();
  }
  return use;
}

}  // namespace astra
