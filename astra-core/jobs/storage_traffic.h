// Lets the iterations of a job wait for storage, and sends what they write and
// read, on the network that the job shares with others.
//
//   StorageTraffic traffic(use, plan, topology, shared.ViewFor(user, nodes));
//   if (traffic.TryBegin(iteration)) ...     // Else try again at wanted(), and
//   traffic.TakeArrivals();                  // after this.
//   traffic.StartDue();  // At wanted(), and after arrivals.
//
// Model. A checkpoint that is restored is read before iteration 0, which begins
// once all of it is there.
//
// Before iterations 0, `every`, 2 `every`, ... a checkpoint is written, but not
// before iteration 0 if that was restored. It waits until the one before it is
// written, then for the pause, and then all of its messages are sent at once.
// The iteration begins once they are sent, or if checkpoints block, once all
// have arrived.
//
// Checkpoints with times of their own begin at these, whatever the iterations
// do, but each waits until the one before it is written. If checkpoints block,
// no iteration begins while one is under way.
//
// Data is read iteration by iteration, one after another. The read of an
// iteration begins as soon as the one before it has ended and the iteration is
// at most `ahead` behind the one that runs; with 0 when the iteration would
// begin. An iteration begins when its data is there. The data of the first
// `ahead` iterations is there from the beginning, and reads go on at the end,
// so that a run shows a job in the middle of its life.
//
// The request of a read is no message, and storage servers take no time but
// that of their links.

#ifndef ASTRA_CORE_JOBS_STORAGE_TRAFFIC_H_
#define ASTRA_CORE_JOBS_STORAGE_TRAFFIC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/storage_messages.h"
#include "astra-core/jobs/storage_use.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

enum class StorageKind : uint8_t { kCheckpoint, kRestore, kData };
inline constexpr StorageKind kStorageKinds[] = {
    StorageKind::kCheckpoint, StorageKind::kRestore, StorageKind::kData};

// A checkpoint that is written or read, or the data of one iteration.
struct StorageTransfer {
  StorageKind kind = StorageKind::kCheckpoint;
  // The iteration that reads the data or restores, or the first one that begins
  // after the checkpoint has; the number of iterations if none does.
  int64_t iteration = 0;
  TimePs begin;  // When its messages were sent.
  TimePs end;    // When the last of them had arrived.
  Bytes bytes;
  // How long the iteration waited for it: of a checkpoint also for the one
  // before it and for its pause.
  TimePs waited;
};

class StorageTraffic {
 public:
  // `network` has the nodes of `topology`, and its clock is that of the run.
  // Requires that `topology` has storage servers.
  StorageTraffic(const StorageUse& use, const ParallelPlan& plan,
                 const Topology& topology,
                 std::unique_ptr<NetworkBackend> network);
  StorageTraffic(const StorageTraffic&) = delete;
  StorageTraffic& operator=(const StorageTraffic&) = delete;

  // Checks that a path leads from each rank to its storage server. Errors:
  // those of Routes.
  absl::Status CheckPaths(Routes& routes) const;

  // Begins `iteration`, or sends what it has to wait for and returns false.
  // Iterations begin in their order.
  bool TryBegin(int64_t iteration);

  // Returns when to call StartDue() and to try again, if nothing arrives
  // before; none if only arrivals matter.
  std::optional<TimePs> wanted() const;

  // Begins the checkpoint whose time has come, if none is under way.
  void StartDue();

  // Takes what has arrived. Requires that something has.
  void TakeArrivals();

  // Returns true while something is under way, or has a time that is to come.
  bool has_any_left() const;

  // Returns what is under way, such as "3 of 8 messages of the checkpoint
  // before iteration 2"; "" if nothing is.
  std::string UnderWay() const;

  // Returns all transfers, in the order in which they began.
  const std::vector<StorageTransfer>& transfers() const { return transfers_; }

 private:
  // Transfers of one kind, of which at most one is under way.
  struct Stream {
    StorageKind kind = StorageKind::kCheckpoint;
    std::vector<StorageMessage> messages;  // Of each transfer.
    uint32_t first_id = 0;                 // Of the messages.
    size_t missing = 0;                    // Messages under way.
    size_t last = 0;    // Index of the transfer that began last.
    int64_t next = 0;   // Iteration of the next transfer.
    int64_t every = 1;  // Iterations from one transfer to the next.
  };

  Stream& StreamOf(StorageKind kind) {
    return streams_[static_cast<size_t>(kind)];
  }
  const Stream& StreamOf(StorageKind kind) const {
    return streams_[static_cast<size_t>(kind)];
  }
  // Returns the time of the next checkpoint that has one.
  std::optional<TimePs> NextTime() const;
  bool Restore();
  bool Write(int64_t iteration);
  bool IsFree();
  bool Read(int64_t iteration);
  void ReadAhead();
  void Start(Stream& stream);
  void Arrive(Stream& stream);
  void AddWait(size_t transfer);

  const StorageUse use_;
  const std::unique_ptr<NetworkBackend> network_;
  // By StorageKind; the ids of their messages increase.
  std::array<Stream, std::size(kStorageKinds)> streams_;
  size_t num_timed_ = 0;    // Checkpoints with times that have begun.
  int64_t num_begun_ = 0;   // Iterations.
  int64_t num_loaded_ = 0;  // Iterations whose data has arrived.
  size_t last_read_ = 0;    // Index of the read that ended last.
  bool has_restored_ = false;
  bool is_held_ = false;      // By a checkpoint with a time of its own.
  bool has_written_ = false;  // What the iteration to begin next has to write.
  // Since when the iteration to begin next waits for what it waits for now.
  std::optional<TimePs> waits_since_;
  std::optional<TimePs> pause_ends_;
  std::vector<StorageTransfer> transfers_;
  std::vector<MessageId> arrived_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_STORAGE_TRAFFIC_H_
