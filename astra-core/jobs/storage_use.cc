#include "astra-core/jobs/storage_use.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/parse.h"
#include "astra-core/jobs/checkpoint_state.h"
#include "fmt/core.h"
#include "network-frontends/config/amounts.h"

namespace astra {
namespace {

constexpr int64_t kMostIterationsApart = 1'000'000;
constexpr int64_t kMostAhead = 1000;
constexpr size_t kMostTimes = 10'000;
constexpr TimePs kLongestPause = Microseconds(1'000'000'000);
constexpr TimePs kLatest = Microseconds(1'000'000'000);

using NamedRanks = std::pair<std::string_view, StorageRanks>;

// Reads the ranks, which are those of the first of `choices` unless `key` names
// others.
StorageRanks ReadRanks(std::string_view key,
                       absl::Span<const NamedRanks> choices,
                       YamlFields& fields) {
  std::vector<std::string_view> names;
  for (const auto& [name, ranks] : choices) names.push_back(name);
  return choices[fields.ChoiceOr(key, 0, names)].second;
}

Bytes ReadBytes(YamlFields& fields) {
  const std::string text = fields.Text("bytes");
  if (!fields.has("bytes")) return {};
  const absl::StatusOr<Bytes> bytes = ParseSize(text);
  if (!bytes.ok()) {
    fields.Error("bytes", std::string(bytes.status().message()));
    return {};
  }
  if (*bytes == Bytes(0)) fields.Error("bytes", "expected above 0");
  return *bytes;
}

// Reads the size of a checkpoint: its bytes, or those of each of its
// parameters. If nothing of this is there, it is `otherwise`.
Bytes ReadCheckpointBytes(std::optional<Bytes> otherwise, YamlFields& fields) {
  const bool has_state = fields.Value("state") != nullptr;
  const bool has_parameters =
      fields.Value("parameters") != nullptr || has_state;
  if (fields.Value("bytes") != nullptr) {
    if (has_parameters) {
      fields.Error("bytes", "no effect beside parameters and state");
    }
    return ReadBytes(fields);
  }
  if (has_parameters) {
    const double parameters = fields.Number("parameters", 1, kMostParameters);
    const size_t state = fields.Choice("state", CheckpointStateNames());
    return CheckpointBytes(kCheckpointStates[state], parameters);
  }
  if (!otherwise) {
    fields.Error("bytes", "expected bytes, or parameters and state");
  }
  return otherwise.value_or(Bytes());
}

uint32_t ReadStripes(YamlFields& fields) {
  return static_cast<uint32_t>(fields.IntegerOr("stripes", 1, 1, kMostStripes));
}

TimePs ReadPause(YamlFields& fields) {
  const absl::StatusOr<TimePs> pause = ParseTime(fields.TextOr("pause", "0us"));
  if (pause.ok() && *pause <= kLongestPause) return *pause;
  fields.Error("pause", pause.ok() ? "expected at most 1000 s"
                                   : std::string(pause.status().message()));
  return {};
}

// Reads the times at which checkpoints begin, none before `start`.
std::vector<TimePs> ReadTimes(TimePs start, YamlFields& fields) {
  std::vector<TimePs> times;
  for (const std::string& text : fields.Texts("at")) {
    const absl::StatusOr<TimePs> time = ParseTime(text);
    if (!time.ok()) {
      fields.Error("at", std::string(time.status().message()));
    } else if (*time < start || *time > kLatest) {
      fields.Error("at", "expected times from the start of the job to 1000 s");
    } else if (!times.empty() && *time <= times.back()) {
      fields.Error("at", fmt::format("expected {} to be later than the time "
                                     "before it",
                                     text));
    } else {
      times.push_back(*time);
    }
  }
  if (times.empty() || times.size() > kMostTimes) {
    fields.Error("at", fmt::format("expected 1 to {} times", kMostTimes));
  }
  return times;
}

// Reads when checkpoints begin.
void ReadWhen(TimePs start, CheckpointUse& checkpoint, YamlFields& fields) {
  const bool has_every = fields.Value("every") != nullptr;
  if (fields.Value("at") != nullptr) {
    checkpoint.times = ReadTimes(start, fields);
    for (const std::string_view key : {"every", "pause"}) {
      if (fields.has(key)) fields.Error(key, "no effect beside at");
    }
  } else if (has_every) {
    checkpoint.every = fields.Integer("every", 1, kMostIterationsApart);
  } else {
    fields.Error("every", "expected every or at");
  }
  checkpoint.pause = ReadPause(fields);
}

CheckpointUse ReadCheckpoint(TimePs start, YamlFields fields) {
  constexpr NamedRanks kWriters[] = {
      {"all", StorageRanks::kAll},
      {"first-replica", StorageRanks::kFirstReplica}};
  CheckpointUse checkpoint;
  checkpoint.amount = {ReadCheckpointBytes(std::nullopt, fields),
                       ReadRanks("writers", kWriters, fields),
                       ReadStripes(fields)};
  ReadWhen(start, checkpoint, fields);
  checkpoint.blocks = fields.BoolOr("blocking", false);
  fields.Close();
  return checkpoint;
}

// `written` is the size of the checkpoints of the job, if it writes any.
RestoreUse ReadRestore(std::optional<Bytes> written, YamlFields fields) {
  constexpr NamedRanks kReaders[] = {
      {"all", StorageRanks::kAll},
      {"first-replica", StorageRanks::kFirstReplica},
      {"every-replica", StorageRanks::kEveryReplica}};
  RestoreUse restore;
  restore.amount = {ReadCheckpointBytes(written, fields),
                    ReadRanks("readers", kReaders, fields),
                    ReadStripes(fields)};
  fields.Close();
  return restore;
}

DataUse ReadData(YamlFields fields) {
  constexpr NamedRanks kReaders[] = {
      {"all", StorageRanks::kAll}, {"first-stage", StorageRanks::kFirstStage}};
  DataUse data;
  data.amount = {ReadBytes(fields), ReadRanks("readers", kReaders, fields),
                 ReadStripes(fields)};
  data.ahead = fields.IntegerOr("ahead", 1, 0, kMostAhead);
  fields.Close();
  return data;
}

// The first checkpoint of a job that begins with a restore comes `every`
// iterations later.
int64_t NumCheckpoints(const StorageUse& use, int64_t iterations) {
  const CheckpointUse& checkpoint = *use.checkpoint;
  if (checkpoint.is_timed()) {
    return static_cast<int64_t>(checkpoint.times.size());
  }
  const int64_t num_later = (iterations - 1) / checkpoint.every;
  return use.restore ? num_later : num_later + 1;
}

}  // namespace

std::vector<StorageMoves> MovesOf(const StorageUse& use, int64_t iterations) {
  std::vector<StorageMoves> moves;
  if (use.checkpoint) {
    moves.push_back({"checkpoint", use.checkpoint->amount,
                     NumCheckpoints(use, iterations)});
  }
  if (use.restore) moves.push_back({"restore", use.restore->amount, 1});
  if (use.data) moves.push_back({"data", use.data->amount, iterations});
  return moves;
}

StorageUse ReadStorageUse(TimePs start, int64_t iterations, YamlFields& job) {
  StorageUse use;
  std::optional<Bytes> written;
  if (job.Value("checkpoint") != nullptr) {
    use.checkpoint =
        ReadCheckpoint(start, job.Map("checkpoint", "a checkpoint"));
    written = use.checkpoint->amount.bytes;
  }
  if (job.Value("restore") != nullptr) {
    use.restore = ReadRestore(written, job.Map("restore", "a restore"));
  }
  if (job.Value("data") != nullptr) {
    use.data = ReadData(job.Map("data", "the data"));
  }
  if (use.checkpoint && NumCheckpoints(use, iterations) == 0) {
    job.Error("checkpoint",
              fmt::format("no effect: after a restore the first checkpoint "
                          "would be written before iteration {}, and the job "
                          "has {}",
                          use.checkpoint->every, iterations));
  }
  return use;
}

}  // namespace astra
