#include "workload/traces/gzip.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "zlib.h"

namespace astra {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;  // Unpacked at a time.

// The state of zlib, which is freed with the object.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipWindow = 16 + MAX_WBITS;  // zlib's manual: 16 for gzip.
    ASTRA_CHECK(inflateInit2(&stream_, kGzipWindow) == Z_OK, "zlib");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks more of `*rest`, which it shortens, to the end of `*text`. Returns
  // zlib's code.
  int Unpack(std::string_view* rest, std::string* text) {
    const size_t begin = text->size();
    text->resize(begin + kPieceBytes);
    const size_t given =
        std::min<size_t>(rest->size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input, whatever its type says.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest->data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(text->data() + begin);
    stream_.avail_out = static_cast<uInt>(kPieceBytes);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    rest->remove_prefix(given - stream_.avail_in);
    text->resize(begin + kPieceBytes - stream_.avail_out);
    return code;
  }

  void BeginMember() { inflateReset(&stream_); }

 private:
  z_stream stream_{};
};

}  // namespace

bool IsGzip(std::string_view contents) {
  return contents.starts_with("\x1f\x8b");
}

absl::StatusOr<std::string> Gunzip(std::string_view file,
                                   std::string_view contents,
                                   int64_t most_bytes) {
  Inflater inflater;
  std::string text;
  std::string_view rest = contents;
  while (true) {
    const int code = inflater.Unpack(&rest, &text);
    if (static_cast<int64_t>(text.size()) > most_bytes) {
      return absl::InvalidArgumentError(
          fmt::format("{}: unpacks to more than {} bytes", file, most_bytes));
    }
    if (code == Z_STREAM_END) {
      if (rest.empty()) return text;
      inflater.BeginMember();
    } else if (code == Z_BUF_ERROR && rest.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("{}: the compressed data end early", file));
    } else if (code != Z_OK) {
      return absl::InvalidArgumentError(
          fmt::format("{}: byte {}: the compressed data are damaged", file,
                      contents.size() - rest.size()));
    }
  }
}

}  // namespace astra
