#include "collectives/bus_bandwidth_file.h"

#include <cstddef>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Key {
  std::string_view text;
  CollectiveKind kind;
};
constexpr Key kCollectiveKeys[] = {
    {"allreduce", CollectiveKind::kAllReduce},
    {"allgather", CollectiveKind::kAllGather},
    {"reducescatter", CollectiveKind::kReduceScatter},
    {"alltoall", CollectiveKind::kAllToAll},
};
constexpr Key kPipelineKeys[] = {{"busbw", CollectiveKind::kSendRecv}};

absl::Span<const Key> KeysOf(ParallelDimension dimension) {
  if (dimension == ParallelDimension::kPipeline) return kPipelineKeys;
  return kCollectiveKeys;
}

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents)
      : reader_(file, contents) {}

  absl::StatusOr<BusBandwidths> Parse() {
    while (reader_.NextLine()) {
      const absl::Span<const Token> words = WordsBeforeComment();
      if (words.empty()) continue;
      ASTRA_RETURN_IF_ERROR(ReadLine(words));
    }
    if (seen_.empty()) {
      return reader_.ErrorAtEnd(
          "no bus bandwidth: expected a dimension, such "
          "as \"TP:\", and keys below it");
    }
    return result_;
  }

 private:
  absl::Span<const Token> WordsBeforeComment() const {
    const absl::Span<const Token> words = reader_.tokens();
    size_t count = 0;
    while (count < words.size() && words[count].text[0] != '#') ++count;
    return words.subspan(0, count);
  }

  absl::Status ReadLine(absl::Span<const Token> words) {
    const bool is_name = words.size() == 1 && words[0].text.back() != ':';
    if (is_name && !dimension_ && !named_) {
      named_ = true;
      return absl::OkStatus();
    }
    if (words[0].text.back() != ':') {
      return reader_.Error(
          words[0], fmt::format("{} lacks a \":\"", Quoted(words[0].text)));
    }
    if (words.size() == 1) return ReadDimension(words[0]);
    if (words.size() > 2) {
      return reader_.Error(words[2],
                           fmt::format("unexpected {}", Quoted(words[2].text)));
    }
    return ReadValue(words[0], words[1]);
  }

  absl::Status ReadDimension(const Token& word) {
    const std::string_view text = word.text.substr(0, word.text.size() - 1);
    std::vector<std::string_view> names;
    for (const ParallelDimension dimension : kParallelDimensions) {
      if (text == Name(dimension)) {
        dimension_ = dimension;
        return absl::OkStatus();
      }
      names.push_back(Name(dimension));
    }
    return reader_.Error(word, UnknownName("dimension", text, names));
  }

  absl::Status ReadValue(const Token& key, const Token& value) {
    if (!dimension_) {
      return reader_.Error(key, "expected a dimension, such as \"TP:\", first");
    }
    ASTRA_ASSIGN_OR_RETURN(const CollectiveKind kind, KindOf(key));
    if (!seen_.insert({*dimension_, kind}).second) {
      return reader_.Error(
          key, fmt::format("{} of {} is given twice", Quoted(key.text),
                           Name(*dimension_)));
    }
    if (value.text == "null") return absl::OkStatus();
    const absl::StatusOr<double> gb_per_s = ParseNumber(
        "the bus bandwidth in GB/s", value.text, kMinGbPerS, kMaxGbPerS);
    if (!gb_per_s.ok()) {
      return reader_.Error(value, std::string(gb_per_s.status().message()));
    }
    result_.Set(*dimension_, kind, *gb_per_s);
    return absl::OkStatus();
  }

  absl::StatusOr<CollectiveKind> KindOf(const Token& key) const {
    std::string_view text = key.text.substr(0, key.text.size() - 1);
    if (!text.empty() && text.back() == ',') text.remove_suffix(1);
    std::vector<std::string_view> names;
    for (const Key& known : KeysOf(*dimension_)) {
      if (text == known.text) return known.kind;
      names.push_back(known.text);
    }
    return reader_.Error(
        key,
        UnknownName(fmt::format("key of {}", Name(*dimension_)), text, names));
  }

  static constexpr double kMinGbPerS = 1e-6;
  static constexpr double kMaxGbPerS = 1e6;

  TextReader reader_;
  bool named_ = false;
  std::optional<ParallelDimension> dimension_;
  std::set<std::pair<ParallelDimension, CollectiveKind>> seen_;
  BusBandwidths result_;
};

}  // namespace

std::optional<double> BusBandwidths::Find(ParallelDimension dimension,
                                          CollectiveKind kind) const {
  const auto found = gb_per_s_.find({dimension, BandwidthKindOf(kind)});
  if (found == gb_per_s_.end()) return std::nullopt;
  return found->second;
}

ClosedForm AtBusBandwidth(CollectiveKind kind, uint32_t num_ranks,
                          double gb_per_s) {
  constexpr double kPsPerByteAtOneGbPerS = 1e3;
  ClosedForm form;
  form.ps_per_byte =
      kPsPerByteAtOneGbPerS * BusBandwidthFactor(kind, num_ranks) / gb_per_s;
  return form;
}

absl::StatusOr<BusBandwidths> ParseBusBandwidths(std::string_view file,
                                                 std::string_view contents) {
  return Parser(file, contents).Parse();
}

absl::StatusOr<BusBandwidths> ReadBusBandwidths(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseBusBandwidths(path, contents);
}

}  // namespace astra
