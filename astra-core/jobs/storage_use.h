// What a job writes to and reads from the storage servers of its fabric, as its
// keys `checkpoint`, `restore` and `data` in the file of --jobs say:
//
//   checkpoint: {every: 10, bytes: 98GB, writers: first-replica}
//   restore: {parameters: 7e9, state: bf16-adam, readers: every-replica}
//   data: {bytes: 2GB, ahead: 1}
//
// docs/guide/storage.md has all keys.

#ifndef ASTRA_CORE_JOBS_STORAGE_USE_H_
#define ASTRA_CORE_JOBS_STORAGE_USE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/base/yaml_reader.h"

namespace astra {

// The ranks of a job that write or read.
enum class StorageRanks : uint8_t {
  kAll,
  kFirstReplica,  // The first rank of each DP_EP group: one copy of all
                  // weights.
  kEveryReplica,  // All ranks, of which each replica moves a copy of its own.
  kFirstStage,    // The ranks of the first pipeline stage.
};

// What is moved at once, in equal parts: `stripes` parts for each rank.
struct StorageAmount {
  Bytes bytes;  // Of all ranks together, or of each replica; above 0.
  StorageRanks ranks = StorageRanks::kAll;
  uint32_t stripes = 1;
};

struct CheckpointUse {
  StorageAmount amount;
  int64_t every = 1;  // Iterations from one checkpoint to the next.
  // In place of `every`: the simulated times of the run at which a checkpoint
  // begins, increasing.
  std::vector<TimePs> times = {};
  bool blocks = false;  // Whether iterations wait until all is written.
  // How long the job stands still before it writes, for example while each rank
  // copies its state to the memory of its server.
  TimePs pause;

  bool is_timed() const { return !times.empty(); }
};

// A checkpoint of an earlier run, which is read before the first iteration.
struct RestoreUse {
  StorageAmount amount;
};

struct DataUse {
  StorageAmount amount;  // The data of one iteration.
  // Iterations whose data may be there before they begin, beside the one that
  // runs; 0: the data is read when the iteration would begin.
  int64_t ahead = 1;
};

struct StorageUse {
  std::optional<CheckpointUse> checkpoint;
  std::optional<RestoreUse> restore = std::nullopt;
  std::optional<DataUse> data;

  bool empty() const { return !checkpoint && !restore && !data; }
};

// One of the uses of a job, and how often it moves its amount.
struct StorageMoves {
  std::string_view key;  // Of the file: "checkpoint", "restore" or "data".
  StorageAmount amount;
  int64_t count = 0;
};

// Returns what a job of `iterations` iterations moves, one entry for each use.
std::vector<StorageMoves> MovesOf(const StorageUse& use, int64_t iterations);

constexpr int64_t kMostStripes = 1024;

// Reads `checkpoint`, `restore` and `data` from the fields of a job that begins
// at `start` and has `iterations` iterations. Errors are recorded in the
// document of `job`.
StorageUse ReadStorageUse(TimePs start, int64_t iterations, YamlFields& job);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_STORAGE_USE_H_
