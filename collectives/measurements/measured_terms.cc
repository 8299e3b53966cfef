#include "collectives/measurements/measured_terms.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <limits>

#include "collectives/measurements/digits.h"

namespace astra {
namespace {

struct CollectiveWord {
  std::string_view word;  // Lower-case letters and digits.
  CollectiveKind kind;
};
constexpr CollectiveWord kCollectives[] = {
    {"allreduce", CollectiveKind::kAllReduce},
    {"allgather", CollectiveKind::kAllGather},
    {"reducescatter", CollectiveKind::kReduceScatter},
    {"alltoall", CollectiveKind::kAllToAll},
    {"all2all", CollectiveKind::kAllToAll},
    {"a2a", CollectiveKind::kAllToAll},
    {"sendrecv", CollectiveKind::kSendRecv},
    {"sendreceive", CollectiveKind::kSendRecv},
    {"p2p", CollectiveKind::kSendRecv},
    {"broadcast", CollectiveKind::kBroadcast},
    {"bcast", CollectiveKind::kBroadcast},
    {"reduce", CollectiveKind::kReduce},
    {"gather", CollectiveKind::kGather},
    {"scatter", CollectiveKind::kScatter},
    {"dispatch", CollectiveKind::kDispatch},
    {"combine", CollectiveKind::kCombine},
};

// The beginning of a word, and the transport that it implies.
struct TransportWord {
  std::string_view word;  // Lower-case letters and digits.
  std::string_view transport;
};
constexpr std::string_view kAnyRdma = "RDMA";
constexpr TransportWord kTransports[] = {
    {"infiniband", "IB"},
    {"ib", "IB"},
    {"ndr", "IB"},
    {"hdr", "IB"},
    {"xdr", "IB"},
    {"roce", "RoCE"},
    {"efa", "EFA"},
    {"tcpxo", "TCPXO"},
    {"gpudirecttcpxo", "TCPXO"},
    {"fastrak", "TCPXO"},
    {"tcpx", "TCPX"},
    {"gpudirecttcpx", "TCPX"},
    {"tcp", "TCP"},
    {"socket", "TCP"},
    {"ethernet", "TCP"},
    {"slingshot", "Slingshot"},
    {"rdma", kAnyRdma},
    {"cx", kAnyRdma},
    {"connectx", kAnyRdma},
    {"bluefield", kAnyRdma},
};

// Rates of InfiniBand generations with four lanes, in Gbit/s.
struct RateWord {
  std::string_view word;
  double gbps;
};
constexpr RateWord kRates[] = {
    {"fdr", 56}, {"edr", 100}, {"hdr", 200}, {"ndr", 400}, {"xdr", 800}};

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Returns only the letters, in lower case, and digits.
std::string Bare(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    if (!IsDigit(c) && !IsLetter(c)) continue;
    bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return bare;
}

std::vector<std::string_view> SplitAt(std::string_view text,
                                      std::string_view separators) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Takes a number off the front of `text`. If there is none, or it is too large,
// takes nothing and returns nullopt.
template <class T>
std::optional<T> TakeNumber(std::string_view* text) {
  T value = {};
  if (text->empty() || !IsDigit(text->front())) return std::nullopt;
  const std::from_chars_result result =
      std::from_chars(text->data(), text->data() + text->size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(result.ptr - text->data()));
  return value;
}

// Parses a rack such as "NVL72"; "NVL" alone is only the link.
std::optional<uint32_t> NvlinkDomainOf(const std::string& bare) {
  if (!StartsWith(bare, "nvl")) return std::nullopt;
  std::string_view rest = std::string_view(bare).substr(3);
  return TakeNumber<uint32_t>(&rest);
}

// Reads the words of a description of NICs.
class NicReader {
 public:
  explicit NicReader(std::string_view text) {
    const std::vector<std::string_view> words = SplitAt(text, " \t,;()");
    for (size_t i = 0; i < words.size(); ++i) {
      Read(words[i], i + 1 < words.size() ? words[i + 1] : "");
    }
  }

  const MeasuredNics& nics() const { return nics_; }

 private:
  void Read(std::string_view word, std::string_view next) {
    if (word == "per" && !counted_for_) {
      counted_for_ = true;
      const std::string what = Bare(next);
      nics_.per_gpu = what == "gpu" || what == "rank";
    }
    if (IsDigit(word.front())) return ReadNumber(word, next);
    const std::string bare = Bare(word);
    if (bare == "none") nics_.none = true;
    if (!nics_.nvlink_domain) nics_.nvlink_domain = NvlinkDomainOf(bare);
    // A rate such as "x400", after a separate number.
    if (bare.size() > 1 && bare[0] == 'x' && IsDigit(bare[1])) {
      ReadRate(std::string_view(word).substr(1), next);
    }
    ReadTransport(bare);
  }

  // Reads "8", "8x", "8x400", "8x400Gb/s", "400G", or "400" before "Gb/s".
  void ReadNumber(std::string_view word, std::string_view next) {
    std::string_view rest = word;
    const std::optional<uint32_t> count = TakeNumber<uint32_t>(&rest);
    // The sign for "times" in UTF-8.
    const bool times = StartsWith(rest, "\xc3\x97");
    if (count && (times || StartsWith(rest, "x") || StartsWith(rest, "*"))) {
      if (!nics_.count) nics_.count = count;
      rest.remove_prefix(times ? 2 : 1);
      return ReadRate(rest, next);
    }
    const std::string unit = rest.empty() ? Bare(next) : Bare(rest);
    const bool is_rate = StartsWith(unit, "tb") ||
                         (StartsWith(unit, "g") && !StartsWith(unit, "gpu"));
    if (is_rate) return ReadRate(word, next);
    if (count && rest.empty() && !nics_.count) nics_.count = count;
  }

  // Reads a rate such as "400G", "50GB/s" or "1.6Tbps"; `next` may be the unit.
  void ReadRate(std::string_view text, std::string_view next) {
    constexpr double kBitsPerByte = 8;
    constexpr double kGigabitsPerTerabit = 1000;
    const std::optional<double> number = TakeNumber<double>(&text);
    if (!number || *number <= 0 || nics_.gbps) return;
    const std::string_view unit = text.empty() ? next : text;
    constexpr double kFastestNic = 800;  // "400GB" means bits.
    const bool is_tera = StartsWith(unit, "Tb") || StartsWith(unit, "TB");
    const bool is_bytes =
        StartsWith(unit, "GB") && *number * kBitsPerByte <= kFastestNic;
    nics_.gbps = *number * (is_tera ? kGigabitsPerTerabit : 1) *
                 (is_bytes ? kBitsPerByte : 1);
  }

  void ReadTransport(const std::string& bare) {
    for (const TransportWord& known : kTransports) {
      if (!StartsWith(bare, known.word)) continue;
      const bool says_more =
          nics_.transport.empty() || nics_.transport == kAnyRdma;
      if (says_more) nics_.transport = known.transport;
      break;
    }
    for (const RateWord& known : kRates) {
      if (!StartsWith(bare, known.word) || nics_.gbps) continue;
      nics_.gbps = known.gbps;
      ReadRateBehind(std::string_view(bare).substr(known.word.size()));
    }
  }

  // Reads the rate after a generation: "200" of "NDR200".
  void ReadRateBehind(std::string_view digits) {
    const std::optional<double> gbps = TakeNumber<double>(&digits);
    if (gbps && *gbps > 0) nics_.gbps = gbps;
  }

  MeasuredNics nics_;
  bool counted_for_ = false;  // "per SOMETHING" was read.
};

// Recognizes one to three letters, digits, and up to two letters: "H100",
// "MI300X", "L40S". Names of memory, sockets and racks are no models.
bool IsGpuModel(std::string_view word) {
  constexpr std::string_view kOthers[] = {"SXM", "HBM", "NVL", "PCI", "GEN"};
  constexpr size_t kMaxLetters = 3;
  constexpr size_t kMaxSuffix = 2;
  size_t i = 0;
  while (i < word.size() && IsLetter(word[i])) ++i;
  if (i == 0 || i > kMaxLetters) return false;
  for (const std::string_view other : kOthers) {
    if (word.substr(0, i) == other) return false;
  }
  const size_t digits = i;
  while (i < word.size() && IsDigit(word[i])) ++i;
  if (i - digits < 2) return false;
  const size_t suffix = i;
  while (i < word.size() && IsLetter(word[i])) ++i;
  return i == word.size() && i - suffix <= kMaxSuffix;
}

// Reads "2.26.2" at the front of `text`; returns nullopt without a second part.
std::optional<MeasuredVersion> TakeVersion(std::string_view text) {
  MeasuredVersion version;
  const std::optional<uint32_t> major = TakeNumber<uint32_t>(&text);
  if (!major || !StartsWith(text, ".")) return std::nullopt;
  version.major = *major;
  text.remove_prefix(1);
  const std::optional<uint32_t> minor = TakeNumber<uint32_t>(&text);
  if (!minor) return std::nullopt;
  version.minor = *minor;
  if (!StartsWith(text, ".")) return version;
  text.remove_prefix(1);
  version.patch = TakeNumber<uint32_t>(&text).value_or(0);
  return version;
}

// Decodes NCCL_VERSION(X, Y, Z), which is 10000 X + 100 Y + Z from 2.9 on.
std::optional<MeasuredVersion> VersionOfCode(std::string_view word) {
  constexpr uint32_t kLeast = 20'900;
  constexpr uint32_t kMost = 99'999;
  const std::optional<uint32_t> code = TakeNumber<uint32_t>(&word);
  if (!code || !word.empty() || *code < kLeast || *code > kMost) {
    return std::nullopt;
  }
  return MeasuredVersion{*code / 10'000, *code / 100 % 100, *code % 100};
}

}  // namespace

std::optional<CollectiveKind> CollectiveOf(std::string_view text) {
  const std::string bare = Bare(text.substr(0, text.find("_perf")));
  for (const CollectiveWord& known : kCollectives) {
    if (bare == known.word) return known.kind;
  }
  return std::nullopt;
}

std::string_view NcclTestsName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllToAll:
      return "alltoall";
    case CollectiveKind::kSendRecv:
      return "sendrecv";
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return Name(kind);
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

std::vector<std::string_view> NcclTestsNames() {
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    names.push_back(NcclTestsName(kind));
  }
  return names;
}

std::string GpuModelOf(std::string_view text) {
  for (const std::string_view word : SplitAt(text, " \t-_/,;()")) {
    if (IsGpuModel(word)) return std::string(word);
  }
  return std::string(text);
}

MeasuredNics ParseMeasuredNics(std::string_view text) {
  return NicReader(text).nics();
}

MeasuredNvlink ParseMeasuredNvlink(std::string_view text) {
  MeasuredNvlink nvlink;
  const std::vector<std::string_view> words = SplitAt(text, " \t,;()");
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string bare = Bare(words[i]);
    const std::string next = i + 1 < words.size() ? Bare(words[i + 1]) : "";
    const bool negated = i > 0 && Bare(words[i - 1]) == "no";
    if (StartsWith(bare, "nvswitch")) nvlink.has_switch = !negated;
    if (bare == "pairs") nvlink.joins_pairs = true;
    if (StartsWith(bare, "nvlink") && !nvlink.generation) {
      std::string_view rest = std::string_view(bare).substr(6);
      nvlink.generation = TakeNumber<uint32_t>(&rest);
    }
    if (!nvlink.nvlink_domain) nvlink.nvlink_domain = NvlinkDomainOf(bare);
    std::string_view number = words[i];
    if (StartsWith(next, "link") && !nvlink.num_links) {
      nvlink.num_links = TakeNumber<uint32_t>(&number);
    } else if (StartsWith(next, "gbsdir") && !nvlink.gb_per_s) {
      nvlink.gb_per_s = TakeNumber<double>(&number);
    }
  }
  return nvlink;
}

std::optional<MeasuredVersion> ParseMeasuredVersion(std::string_view text) {
  const std::vector<std::string_view> words = SplitAt(text, " \t,;:()+-_=");
  for (std::string_view word : words) {
    if (StartsWith(word, "v")) word.remove_prefix(1);
    if (const auto version = TakeVersion(word)) return version;
  }
  for (const std::string_view word : words) {
    if (const auto version = VersionOfCode(word)) return version;
  }
  return std::nullopt;
}

}  // namespace astra
