#include "workload/serving/replica.h"

#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "workload/serving/random_draws.h"

namespace astra {

Replica::Replica(const BatchingOptions& options, uint64_t seed)
    : options_(options),
      seed_(seed),
      watermark_blocks_(static_cast<int64_t>(
          options.watermark * static_cast<double>(options.num_blocks))),
      blocks_(options.num_blocks, options.block_tokens, options.prefix_caching,
              options.host_blocks, options.held) {}

int64_t Replica::CachedOfNext() const {
  const Sequence& next = *waiting_.front();
  return std::max(next.computed, MatchOf(next).tokens);
}

int64_t Replica::Admit(const Admission& admission, Batch* batch) {
  Sequence* const next = waiting_.front();
  const int64_t held = next->kv.blocks();  // What it has loaded, or nothing.
  const PrefixMatch match = held > 0 ? PrefixMatch() : MatchOf(*next);
  const int64_t cached = std::max(next->computed, match.tokens);
  int64_t tokens = next->known() - cached;
  if (tokens > admission.max_tokens) {
    if (!admission.may_split || admission.max_tokens <= 0) return 0;
    tokens = admission.max_tokens;
  }
  const int64_t room = std::max(cached + tokens, admission.room_tokens);
  const int64_t missing = blocks_.BlocksOf(room) - match.blocks - held;
  const int64_t left_free = running_.empty() ? 0 : watermark_blocks_;
  if (missing + match.idle_blocks + left_free > blocks_.available()) return 0;

  if (held == 0) blocks_.Acquire(match, next->request, &next->kv);
  loaded_blocks_ -= held;
  const bool has_room =
      blocks_.Grow(admission.take_room ? room : cached + tokens, &next->kv);
  ASTRA_CHECK(has_room, "no room for request {}", next->request.id);
  if (!next->was_scheduled) {
    next->times.cached_tokens = held > 0 ? next->computed : match.tokens;
    next->times.host_tokens = next->loading;
  }
  next->loading = 0;
  next->computed = cached;
  waiting_.pop_front();
  running_.push_back(next);
  if (admission.publish_now) {
    blocks_.Publish(next->request, cached + tokens, &next->kv);
  }
  batch->push_back({next, tokens});
  return tokens;
}

bool Replica::Continue(Sequence* sequence, int64_t tokens, bool publish_now,
                       Batch* batch) {
  const int64_t then = sequence->scheduled() + tokens;
  if (!blocks_.Grow(then, &sequence->kv)) return false;
  if (publish_now) blocks_.Publish(sequence->request, then, &sequence->kv);
  batch->push_back({sequence, tokens});
  return true;
}

bool Replica::ContinueOrPreempt(Sequence* sequence, int64_t tokens,
                                bool publish_now, Batch* batch) {
  while (!Continue(sequence, tokens, publish_now, batch)) {
    Sequence* victim = nullptr;
    for (size_t i = running_.size(); victim == nullptr; --i) {
      Sequence* const last = running_[i - 1];
      if (last->under_way == 0) victim = last;
      if (last == sequence) break;
    }
    if (victim == nullptr) return false;
    Preempt(victim, /*to_front=*/true);
    if (victim == sequence) return false;
  }
  return true;
}

void Replica::Preempt(Sequence* sequence, bool to_front) {
  blocks_.Release(&sequence->kv);
  sequence->computed = 0;
  sequence->drafts = 0;
  ++sequence->times.preemptions;
  ++preemptions_;
  if (running_.back() == sequence) {
    running_.pop_back();
  } else {
    std::erase(running_, sequence);
  }
  if (to_front) {
    waiting_.push_front(sequence);
  } else {
    waiting_.push_back(sequence);
  }
}

int64_t Replica::AcceptedOf(const Sequence& sequence, int64_t drafts) const {
  if (drafts == 0) return 0;
  constexpr uint64_t kPurpose = 0x6472616674;  // "draft"
  RandomDraws draws(seed_, kPurpose,
                    HashOf(static_cast<uint64_t>(sequence.request.id),
                           static_cast<uint64_t>(sequence.generated)));
  int64_t accepted = 0;
  while (accepted < drafts && draws.Uniform() < options_.acceptance_rate) {
    ++accepted;
  }
  return accepted;
}

int64_t Replica::StartPart(const BatchPart& part) {
  Sequence& sequence = *part.sequence;
  int64_t tokens = part.tokens == sequence.todo() ? 1 : 0;
  if (sequence.is_decoding()) {
    sequence.drafts = part.tokens - 1;  // A scheduler may cut them.
    sequence.accepted = AcceptedOf(sequence, sequence.drafts);
    tokens = 1 + sequence.accepted;
  }
  sequence.under_way += part.tokens;
  return tokens;
}

int64_t Replica::FinishPart(const BatchPart& part) {
  Sequence& sequence = *part.sequence;
  const int64_t accepted = std::exchange(sequence.accepted, 0);
  const int64_t drafts = std::exchange(sequence.drafts, 0);
  sequence.computed += part.tokens - (drafts - accepted);
  sequence.under_way -= part.tokens;
  blocks_.Publish(sequence.request, sequence.computed, &sequence.kv);
  if (sequence.computed < sequence.known()) return 0;
  const int64_t tokens = 1 + accepted;
  sequence.generated += tokens;
  sequence.drafts = std::clamp<int64_t>(
      sequence.target - sequence.generated - 1, 0, options_.draft_tokens);
  return tokens;
}

Sequence* Replica::StartLoad(int64_t free_blocks) {
  if (waiting_.empty() || blocks_.host().num_blocks() == 0) return nullptr;
  if (static_cast<int64_t>(running_.size()) + loading_ >=
      options_.max_sequences) {
    return nullptr;
  }
  Sequence* const next = waiting_.front();
  if (next->computed > 0) return nullptr;  // It has loaded, or came with it.
  const PrefixMatch match = MatchOf(*next);
  const int64_t blocks = match.host_blocks;
  const int64_t then = (match.blocks + blocks) * options_.block_tokens;
  const int64_t missing = blocks_.BlocksOf(then) - match.blocks;
  if (blocks == 0 ||
      missing + match.idle_blocks + free_blocks > blocks_.available()) {
    return nullptr;
  }
  blocks_.TouchHost(match, next->request);
  blocks_.Acquire(match, next->request, &next->kv);
  const bool has_room = blocks_.Grow(then, &next->kv);
  ASTRA_CHECK(has_room, "no room for request {}", next->request.id);
  next->loading = blocks * options_.block_tokens;
  loaded_blocks_ += next->kv.blocks();
  ++loading_;
  waiting_.pop_front();
  return next;
}

void Replica::EndLoad(Sequence* sequence) {
  --loading_;
  // What it found here, and what it has loaded behind it.
  sequence->computed =
      sequence->kv.shared * options_.block_tokens + sequence->loading;
  blocks_.Publish(sequence->request, sequence->computed, &sequence->kv);
  const auto first = std::find_if(
      waiting_.begin(), waiting_.end(),
      [](const Sequence* other) { return other->kv.blocks() == 0; });
  waiting_.insert(first, sequence);
}

bool Replica::DropLoaded() {
  bool had_any = false;
  for (Sequence* const sequence : waiting_) {
    const int64_t held = sequence->kv.blocks();
    if (held == 0) continue;
    had_any = true;
    loaded_blocks_ -= held;
    blocks_.Release(&sequence->kv);
    sequence->computed = sequence->loading = 0;
  }
  return had_any;
}

void Replica::DropFinished() {
  std::erase_if(running_, [this](const Sequence* sequence) {
    if (sequence->generated < sequence->target) return false;
    leaving_blocks_ += sequence->kv.blocks();
    return true;
  });
}

void Replica::Release(Sequence* sequence) {
  leaving_blocks_ -= sequence->kv.blocks();
  blocks_.Release(&sequence->kv);
}

}  // namespace astra
