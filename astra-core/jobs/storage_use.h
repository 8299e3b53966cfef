// What a job writes to and reads from the storage servers of its fabric, as its
// keys `checkpoint` and `data` in the file of --jobs say:
//
//   checkpoint: {every: 10, bytes: 98GB, writers: first-replica}
//   data: {bytes: 2GB, ahead: 1}
//
// docs/guide/storage.md has all keys.

#ifndef ASTRA_CORE_JOBS_STORAGE_USE_H_
#define ASTRA_CORE_JOBS_STORAGE_USE_H_

#include <cstdint>
#include <optional>

#include "astra-core/base/units.h"
#include "astra-core/base/yaml_reader.h"

namespace astra {

// The ranks of a job that write or read.
enum class StorageRanks : uint8_t {
  kAll,
  kFirstReplica,  // The first rank of each DP_EP group: one copy of all
                  // weights.
  kFirstStage,    // The ranks of the first pipeline stage.
};

// What is moved at once, in equal parts: `stripes` parts for each rank.
struct StorageAmount {
  Bytes bytes;  // Of all ranks together, above 0.
  StorageRanks ranks = StorageRanks::kAll;
  uint32_t stripes = 1;
};

struct CheckpointUse {
  StorageAmount amount;
  int64_t every = 1;    // Iterations from one checkpoint to the next.
  bool blocks = false;  // Whether iterations wait until all is written.
  // How long the job stands still before it writes, for example while each rank
  // copies its state to the memory of its server.
  TimePs pause;
};

struct DataUse {
  StorageAmount amount;  // The data of one iteration.
  // Iterations whose data may be there before they begin, beside the one that
  // runs; 0: the data is read when the iteration would begin.
  int64_t ahead = 1;
};

struct StorageUse {
  std::optional<CheckpointUse> checkpoint;
  std::optional<DataUse> data;

  bool empty() const { return !checkpoint && !data; }
};

constexpr int64_t kMostStripes = 1024;

// Reads `checkpoint` and `data` from the fields of a job. Errors are recorded
// in the document of `job`.
StorageUse ReadStorageUse(YamlFields& job);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_STORAGE_USE_H_
