// One replica of a model as its scheduler sees it: sequences that wait,
// sequences that run, and the blocks of its KV cache.
//
// A scheduler forms the batch of the next step from it; see
// schedulers/registry.h. Under every scheduler:
//
// - A sequence knows its prompt and the output tokens that it has generated. A
//   step computes some of the positions that are known but not in the cache. If
//   it computes all of them, the sequence gets its next output token.
// - With draft_tokens, the step of a sequence that decodes also computes the
//   positions of drafts, which need blocks. Those that are accepted count as
//   computed and generated; the blocks of the others stay with the sequence.
//   Drafts never reach beyond the end of the output.
// - With pipeline stages several steps are under way at once. A sequence whose
//   positions are all computed or under way has nothing to do until its step
//   ends, and one with a step under way is never preempted.
// - With host_blocks, the first sequence that waits leaves the queue while a
//   part of it that lies in the host's memory is loaded into blocks of its own.
//   Others pass it meanwhile; then it waits in front of them. So does vLLM
//   (scheduler.py, WAITING_FOR_REMOTE_KVS).
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
  int64_t under_way = 0;  // Positions behind these that steps compute now.
  int64_t generated = 0;  // Output tokens so far.
  int64_t drafts = 0;     // Draft tokens that its next step verifies,
  int64_t accepted = 0;   // and how many the step under way accepts.
  int64_t loading = 0;    // Positions that come from the host's memory.
  uint32_t replica = 0;
  uint32_t prefill_replica = 0;
  KvHolding kv;
  KvProgress transfer;  // Of its cache, to the pool that decodes.

  int64_t known() const { return request.prompt_tokens + generated; }
  // Returns the positions that steps have computed or compute now.
  int64_t scheduled() const { return computed + under_way; }
  int64_t todo() const { return known() + drafts - scheduled(); }
  // Returns the positions of the sequence when it leaves.
  int64_t final_tokens() const { return request.prompt_tokens + target; }
  // Returns whether the next step computes only the last output token and
  // drafts.
  bool is_decoding() const {
    return generated > 0 && known() - scheduled() == 1;
  }
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
  // Drafts are accepted at random by the seed.
  explicit Replica(const BatchingOptions& options, uint64_t seed = 0);

  const BatchingOptions& options() const { return options_; }
  const KvBlocks& blocks() const { return blocks_; }
  const std::deque<Sequence*>& waiting() const { return waiting_; }
  const std::vector<Sequence*>& running() const { return running_; }
  int64_t preemptions() const { return preemptions_; }
  // Returns the blocks of sequences that have finished but still hold them.
  int64_t leaving_blocks() const { return leaving_blocks_; }
  // Returns how many sequences are here, or will come from another pool.
  int64_t outstanding() const {
    return static_cast<int64_t>(waiting_.size() + running_.size()) + loading_ +
           expected_;
  }
  // Returns the blocks of sequences that load or wait with what they loaded.
  int64_t loaded_blocks() const { return loaded_blocks_; }

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

  // The same, but preempts the last running sequence without a step under way
  // as often as needed. Returns false if the sequence was preempted itself, or
  // if steps under way hold the blocks. Requires that the batch holds no
  // sequence that runs behind it.
  bool ContinueOrPreempt(Sequence* sequence, int64_t tokens, bool publish_now,
                         Batch* batch);

  // Moves a running sequence in front of all that wait, or behind them.
  void Preempt(Sequence* sequence, bool to_front);

  // State that only the schedulers lightllm and sglang use.
  int64_t decode_steps = 0;     // Since the last attempt to admit.
  double new_token_ratio = -1;  // See sglang.cc; below 0 before its first use.

  // State that only the scheduler vllm uses: whether sequences waited still
  // when it last let prompts start.
  bool prompts_were_left = false;

  // Steps that its replica has begun since it last had nothing to do. Ranks of
  // one replica have the same number. The simulation sets it.
  int64_t step = 0;
  // Whether the next step may start prompts; set by the worker.
  bool may_start_prompts = true;

  // The following are for the simulation.

  // Takes the first waiting sequence to load what the host's memory has of it,
  // and gives it blocks beside so many that stay free. Returns null if it has
  // nothing there or no room.
  Sequence* StartLoad(int64_t free_blocks);
  // Returns the blocks that a sequence loads.
  int64_t LoadOf(const Sequence& sequence) const {
    return sequence.loading / options_.block_tokens;
  }
  // Lets a sequence that has loaded wait again, in front of all that have not.
  void EndLoad(Sequence* sequence);
  // Takes from waiting sequences what they have loaded. Returns whether any had
  // something. For when nothing else could run.
  bool DropLoaded();

  // Accounts for a step that begins to compute `part`. Returns the output
  // tokens that the sequence will get at its end.
  int64_t StartPart(const BatchPart& part);

  // Accounts for a step that computed `part`. Returns the output tokens that
  // the sequence got.
  int64_t FinishPart(const BatchPart& part);

  // Takes sequences that have reached their target from the running ones. They
  // keep their blocks until Release().
  void DropFinished();
  void Release(Sequence* sequence);

 private:
  PrefixMatch MatchOf(const Sequence& sequence) const {
    return blocks_.Match(sequence.request, sequence.known() - 1);
  }

  // Returns how many of so many drafts the next step accepts.
  int64_t AcceptedOf(const Sequence& sequence, int64_t drafts) const;

  BatchingOptions options_;
  uint64_t seed_;
  int64_t watermark_blocks_;
  KvBlocks blocks_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  int64_t expected_ = 0;
  int64_t preemptions_ = 0;
  int64_t leaving_blocks_ = 0;
  int64_t loaded_blocks_ = 0;
  int64_t loading_ = 0;  // Sequences.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_REPLICA_H_
