#include "collectives/collective_request.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max();

absl::Status CheckNumRanks(CollectiveKind kind, uint32_t num_ranks) {
  const bool is_pair = kind == CollectiveKind::kSendRecv;
  const uint32_t max_ranks = is_pair ? 2 : CollectiveRequest::kMaxRanks;
  if (num_ranks >= 2 && num_ranks <= max_ranks) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{} over {} rank(s): the group must have {}", Name(kind), num_ranks,
      is_pair ? "2" : fmt::format("2 to {}", max_ranks)));
}

// Returns the error for parts that do not fit in one buffer; all ranks' parts
// count as one.
absl::Status TooManyBytes(uint32_t num_ranks) {
  return absl::InvalidArgumentError(
      fmt::format("all-to-all over {} ranks: what all send together must be at "
                  "most {}",
                  num_ranks, Bytes(kMaxBytes)));
}

// Returns part `i` of `n` of a buffer of `bytes`.
ByteRange PartOf(int64_t bytes, uint32_t n, uint32_t i) {
  const int64_t size = bytes / n;
  const int64_t rest = bytes % n;
  const int64_t begin = i * size + std::min<int64_t>(i, rest);
  return {begin, begin + size + (i < rest)};
}

}  // namespace

absl::StatusOr<CollectiveRequest> CollectiveRequest::Create(
    CollectiveKind kind, Bytes bytes,
    std::shared_ptr<const GroupLayout> layout) {
  if (bytes < Bytes(1)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} of {}: the buffer must hold at least 1B", Name(kind), bytes));
  }
  const uint32_t n = layout->num_ranks();
  ASTRA_RETURN_IF_ERROR(CheckNumRanks(kind, n));
  if (IsAllToAll(kind) && bytes.count() > kMaxBytes / n) {
    return TooManyBytes(n);
  }
  return CollectiveRequest(kind, bytes, std::move(layout));
}

absl::StatusOr<CollectiveRequest> CollectiveRequest::AllToAllV(
    std::vector<int64_t> sizes, std::shared_ptr<const GroupLayout> layout) {
  constexpr CollectiveKind kKind = CollectiveKind::kAllToAll;
  const uint32_t n = layout->num_ranks();
  ASTRA_RETURN_IF_ERROR(CheckNumRanks(kKind, n));
  if (sizes.size() != size_t{n} * n) {
    return absl::InvalidArgumentError(
        fmt::format("{} size(s) for an all-to-all over {} ranks: expected {}",
                    sizes.size(), n, size_t{n} * n));
  }
  std::vector<int64_t> sent(n), received(n);
  auto begins = std::make_shared<std::vector<int64_t>>(1, 0);
  begins->reserve(sizes.size() + 1);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      const int64_t size = sizes[size_t{i} * n + j];
      if (size < 0) {
        return absl::InvalidArgumentError(
            fmt::format("rank {} sends {} to rank {}: expected at least 0B", i,
                        Bytes(size), j));
      }
      const int64_t counted = i == j ? 0 : size;
      if (counted > kMaxBytes - begins->back()) return TooManyBytes(n);
      begins->push_back(begins->back() + counted);
      sent[i] += counted;
      received[j] += counted;
    }
  }
  if (begins->back() == 0) {
    return absl::InvalidArgumentError(
        "all-to-all: no rank sends anything to another");
  }
  const int64_t most =
      std::max(*std::max_element(sent.begin(), sent.end()),
               *std::max_element(received.begin(), received.end()));
  CollectiveRequest request(kKind, Bytes(most), std::move(layout));
  request.pair_begin_ = std::move(begins);
  return request;
}

absl::StatusOr<CollectiveRequest> CollectiveRequest::With(
    const Chunking& chunking) const {
  if (chunking.num_channels > kMaxChannels) {
    return absl::InvalidArgumentError(
        fmt::format("{} channels: expected at most {}", chunking.num_channels,
                    kMaxChannels));
  }
  if (chunking.max_chunk < Bytes(0)) {
    return absl::InvalidArgumentError(
        fmt::format("chunks of {}: expected at least 0B", chunking.max_chunk));
  }
  if (chunking.slices_per_chunk < 1 || chunking.slices_per_chunk > kMaxSlices) {
    return absl::InvalidArgumentError(
        fmt::format("{} slice(s) per chunk: expected 1 to {}",
                    chunking.slices_per_chunk, kMaxSlices));
  }
  CollectiveRequest request = *this;
  request.chunking_ = chunking;
  return request;
}

absl::StatusOr<CollectiveRequest> CollectiveRequest::WithRoot(
    GroupRank root) const {
  if (root.index() >= num_ranks()) {
    return absl::InvalidArgumentError(fmt::format(
        "root {}: expected a rank from 0 to {}", root, num_ranks() - 1));
  }
  CollectiveRequest request = *this;
  request.root_ = root;
  return request;
}

ByteRange CollectiveRequest::Part(GroupRank r) const {
  return PartOf(bytes_.count(), num_ranks(), r.index());
}

ByteRange CollectiveRequest::PairPart(GroupRank source,
                                      GroupRank target) const {
  if (pair_begin_ != nullptr) {
    const size_t pair = size_t{source.index()} * num_ranks() + target.index();
    return {(*pair_begin_)[pair], (*pair_begin_)[pair + 1]};
  }
  if (kind_ == CollectiveKind::kSendRecv) {
    const int64_t begin = source == GroupRank(0) ? 0 : bytes_.count();
    return {begin, target == GroupRank(1) ? bytes_.count() : begin};
  }
  const int64_t buffer = source.index() * bytes_.count();
  const ByteRange part = Part(target);
  return {buffer + part.begin, buffer + part.end};
}

}  // namespace astra
