// One replica of a model as its scheduler sees it: sequences that wait,
// sequences that run, and the blocks of its KV cache.
//
// A scheduler forms the batch of the next step from it; see
// schedulers/registry.h. Under every scheduler:
//
// - A sequence knows its prompt and the output tokens that it has generated. A
//   step computes some of the positions that are known but not in the cache. If
//   it computes all of them, the sequence gets its next output token.
// - A sequence that is preempted loses its blocks and keeps its output. It
//   waits, and computes all of its positions again, but for those that it finds
//   in the prefix index.

#ifndef WORKLOAD_SERVING_REPLICA_H_
#define WORKLOAD_SERVING_REPLICA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "workload/serving/batching_options.h"
#include "workload/serving/kv_blocks.h"
#include "workload/serving/kv_transfer.h"
#include "workload/serving/request.h"

namespace astra {

// A request on its way through a replica.
struct Sequence {
  Request request;
  RequestTimes times;
  bool was_scheduled = false;
  int64_t target = 0;     // Output tokens after which it leaves the replica.
  int64_t computed = 0;   // Positions in the KV cache.
  int64_t generated = 0;  // Output tokens so far.
  uint32_t replica = 0;
  uint32_t prefill_replica = 0;
  KvHolding kv;
  KvProgress transfer;  // Of its cache, to the pool that decodes.

  int64_t known() const { return request.prompt_tokens + generated; }
  int64_t todo() const { return known() - computed; }
  // Returns the positions of the sequence when it leaves.
  int64_t final_tokens() const { return request.prompt_tokens + target; }
  // Returns whether the next step computes only the last output token.
  bool is_decoding() const { return generated > 0 && todo() == 1; }
};

struct BatchPart {
  Sequence* sequence = nullptr;
  int64_t tokens = 0;  // Positions to compute; at most todo().
};
using Batch = std::vector<BatchPart>;

// How a waiting sequence may start.
struct Admission {
  int64_t max_tokens = 0;    // Positions that this step may still compute.
  bool may_split = false;    // Whether it may compute fewer than all.
  int64_t room_tokens = 0;   // Positions for which there must be room.
  bool take_room = false;    // Whether it takes this room at once.
  bool publish_now = false;  // Whether others find its prefix in this step.
};

class Replica {
 public:
  explicit Replica(const BatchingOptions& options);

  const BatchingOptions& options() const { return options_; }
  const KvBlocks& blocks() const { return blocks_; }
  const std::deque<Sequence*>& waiting() const { return waiting_; }
  const std::vector<Sequence*>& running() const { return running_; }
  int64_t preemptions() const { return preemptions_; }
  // Returns the blocks of sequences that have finished but still hold them.
  int64_t leaving_blocks() const { return leaving_blocks_; }
  // Returns how many sequences are here, or will come from another pool.
  int64_t outstanding() const {
    return static_cast<int64_t>(waiting_.size() + running_.size()) + expected_;
  }

  // Adds a sequence behind all that wait. Positions that are computed already
  // come with it, and get blocks when it starts.
  void Add(Sequence* sequence) { waiting_.push_back(sequence); }

  // Counts a sequence whose KV cache is on its way here, until it is added.
  void Expect() { ++expected_; }
  void AddExpected(Sequence* sequence) {
    --expected_;
    Add(sequence);
  }

  // The following are for schedulers.

  // Returns the positions that the first waiting sequence would find in the
  // cache. Requires that one waits.
  int64_t CachedOfNext() const;

  // Lets the first waiting sequence run, as its last, and puts it into the
  // batch. Returns the positions that it computes in this step; 0 if the
  // admission or the memory does not allow any. A share of the blocks, the
  // watermark, stays free while other sequences run. Requires that one waits.
  int64_t Admit(const Admission& admission, Batch* batch);

  // Gives a running sequence blocks for `tokens` more positions and puts it
  // into the batch. Returns false, and does nothing, if there are too few.
  bool Continue(Sequence* sequence, int64_t tokens, bool publish_now,
                Batch* batch);

  // The same, but preempts the last running sequence as often as needed.
  // Returns false if the sequence was preempted itself. Requires that the batch
  // holds no sequence that runs behind it.
  bool ContinueOrPreempt(Sequence* sequence, int64_t tokens, bool publish_now,
                         Batch* batch);

  // Moves a running sequence in front of all that wait, or behind them.
  void Preempt(Sequence* sequence, bool to_front);

  // State that only the schedulers lightllm and sglang use.
  int64_t decode_steps = 0;     // Since the last attempt to admit.
  double new_token_ratio = -1;  // See sglang.cc; below 0 before its first use.

  // The following are for the simulation.

  // Accounts for a step that computed `part`. Returns whether the sequence got
  // an output token.
  bool FinishPart(const BatchPart& part);

  // Takes sequences that have reached their target from the running ones. They
  // keep their blocks until Release().
  void DropFinished();
  void Release(Sequence* sequence);

 private:
  PrefixMatch MatchOf(const Sequence& sequence) const {
    return blocks_.Match(sequence.request, sequence.known() - 1);
  }

  BatchingOptions options_;
  int64_t watermark_blocks_;
  KvBlocks blocks_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  int64_t expected_ = 0;
  int64_t preemptions_ = 0;
  int64_t leaving_blocks_ = 0;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_REPLICA_H_
