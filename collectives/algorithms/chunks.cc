#include "collectives/algorithms/chunks.h"

#include <algorithm>
#include <limits>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

ByteRange Piece(ByteRange range, uint32_t i, uint32_t n) {
  const int64_t size = range.size() / n;
  const int64_t rest = range.size() % n;
  const int64_t begin = range.begin + i * size + std::min<int64_t>(i, rest);
  return {begin, begin + size + (i < rest)};
}

uint64_t NumPieces(Bytes bytes, Bytes max_piece) {
  if (max_piece == Bytes(0) || bytes <= max_piece) return 1;
  const auto size = static_cast<uint64_t>(max_piece.count());
  return (static_cast<uint64_t>(bytes.count()) - 1) / size + 1;
}

uint32_t NumChannels(const CollectiveRequest& request) {
  const uint32_t asked = request.chunking().num_channels;
  if (asked > 0) return asked;
  const GroupLayout& layout = request.layout();
  return layout.num_servers() == 1 ? 1 : layout.min_ranks_per_server();
}

uint32_t NumNvlsChannels(const CollectiveRequest& request, uint32_t least) {
  const uint32_t asked = request.chunking().num_channels;
  const uint32_t switches = request.layout().nv_switches_per_server();
  return asked > 0 ? asked : least * std::max(1U, switches);
}

bool IsAllToAllV(const CollectiveRequest& request) {
  // Parts of equal sizes include the part that a rank keeps; an all-to-all-v
  // has none.
  return IsAllToAll(request.kind()) &&
         request.PairPart(GroupRank(0), GroupRank(0)).size() == 0;
}

absl::Status CheckSize(std::string_view name, const CollectiveRequest& request,
                       const GraphSize& piece, uint64_t num_pieces,
                       uint64_t max_flows) {
  const auto check = [&](std::string_view what, uint64_t count,
                         uint64_t limit) {
    if (count == 0 || num_pieces <= limit / count) return absl::OkStatus();
    return absl::ResourceExhaustedError(fmt::format(
        "{} {} of {} over {} ranks needs {} x {} {}, more than the limit of {}",
        name, Name(request.kind()), request.bytes(), request.num_ranks(),
        num_pieces, count, what, limit));
  };
  constexpr uint64_t kMaxChunks = std::numeric_limits<uint32_t>::max();
  ASTRA_RETURN_IF_ERROR(check("flows", piece.num_flows, max_flows));
  return check("chunks", piece.num_chunks, kMaxChunks);
}

}  // namespace astra
