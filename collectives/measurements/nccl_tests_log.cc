#include "collectives/measurements/nccl_tests_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "collectives/measurements/digits.h"
#include "collectives/measurements/measured_environment.h"
#include "collectives/measurements/measured_terms.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsualColumns[] = {
    "size",  "count",  "type", "redop", "root",  "time",   "algbw",
    "busbw", "#wrong", "time", "algbw", "busbw", "#wrong",
};

bool IsWhole(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// Returns whether a word may follow the type in a row, also as part of a time
// stamp.
bool IsValue(std::string_view text) {
  constexpr std::string_view kCharacters = "0123456789.+-e:";
  return text == "N/A" || text == "inf" || text == "nan" ||
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

// Recognizes "HOST:PID:TID"; the beginning may be other output.
bool IsNcclOrigin(std::string_view text) {
  const size_t last = text.rfind(':');
  if (last == std::string_view::npos || last == 0) return false;
  const size_t first = text.rfind(':', last - 1);
  return first != std::string_view::npos && first > 0 &&
         IsWhole(text.substr(first + 1, last - first - 1)) &&
         IsWhole(text.substr(last + 1));
}

// Returns the tokens of a line after the tag of mpirun or the label of srun.
std::vector<Token> WithoutTag(absl::Span<const Token> tokens) {
  std::vector<Token> rest(tokens.begin(), tokens.end());
  if (rest.empty()) return rest;
  const std::string_view first = rest[0].text;
  const size_t tag =
      first[0] == '[' ? first.find(">:") : std::string_view::npos;
  const bool is_label =
      first.back() == ':' && IsWhole(first.substr(0, first.size() - 1));
  const size_t size = is_label                        ? first.size()
                      : tag != std::string_view::npos ? tag + 2
                                                      : 0;
  rest[0].text.remove_prefix(size);
  rest[0].column += static_cast<uint32_t>(size);
  if (rest[0].text.empty()) rest.erase(rest.begin());
  return rest;
}

struct Choice {
  std::optional<NcclAlgorithm> algorithm;
  std::optional<NcclProtocol> protocol;
};

// Returns the element of this number: older NCCL prints numbers, not names.
template <class T, size_t kSize>
std::optional<T> Numbered(std::string_view text, const T (&all)[kSize]) {
  if (text.size() != 1 || !IsDigit(text[0])) return std::nullopt;
  const auto i = static_cast<size_t>(text[0] - '0');
  return i < kSize ? std::optional<T>(all[i]) : std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents)
      : file_(file),
        reader_(file, contents),
        columns_(std::begin(kUsualColumns), std::end(kUsualColumns)) {}

  absl::StatusOr<NcclTestsLog> Parse() {
    while (reader_.NextLine()) {
      FindVersion(reader_.tokens());
      const std::vector<Token> tokens =
          TakeNcclLine(WithoutTag(reader_.tokens()));
      if (tokens.empty()) continue;
      FindCollective(tokens);
      const absl::Status status =
          tokens[0].text[0] == '#' ? ReadComment(tokens) : ReadValues(tokens);
      ASTRA_RETURN_IF_ERROR(status);
    }
    ASTRA_RETURN_IF_ERROR(CheckRowIsWhole());
    if (log_.rows.empty()) {
      return reader_.ErrorAtEnd(
          "no row: expected the output of a program of nccl-tests, such as "
          "all_reduce_perf");
    }
    AddChoices();
    return std::move(log_);
  }

 private:
  // Returns the tokens of a line that are not from NCCL.
  std::vector<Token> TakeNcclLine(std::vector<Token> tokens) {
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      const std::string_view level = tokens[i + 1].text;
      const bool is_level =
          level == "INFO" || level == "WARN" || level == "TRACE";
      if (tokens[i].text != "NCCL" || !is_level) continue;
      ReadNccl(absl::MakeConstSpan(tokens).subspan(i + 2));
      size_t origin = 0;
      while (origin < i && !IsNcclOrigin(tokens[origin].text)) ++origin;
      if (origin == i) origin = 0;
      Token before = tokens[origin];
      before.text = before.text.substr(0, OriginBegin(before.text, origin > 0));
      tokens.resize(origin);
      if (!before.text.empty()) tokens.push_back(before);
      return tokens;
    }
    return tokens;
  }

  // Returns where the name of the host begins in "-1HOST:PID:TID".
  size_t OriginBegin(std::string_view text, bool follows) const {
    if (!follows) return 0;
    for (const std::string& host : log_.hosts) {
      const size_t begin = text.find(host + ':');
      if (begin != std::string_view::npos) return begin;
    }
    if (text.substr(0, 2) == "-1") return 2;
    return IsDigit(text[0]) ? 1 : 0;
  }

  // Reads "AllReduce: 8 Bytes -> Algo RING proto LL ...".
  void ReadNccl(absl::Span<const Token> words) {
    for (size_t i = 1; i + 5 < words.size(); ++i) {
      if (words[i].text != "Bytes" || words[i + 2].text != "Algo" ||
          words[i + 4].text != "proto") {
        continue;
      }
      const absl::StatusOr<int64_t> size = ParseInteger("", words[i - 1].text);
      if (!size.ok()) return;
      Choice& choice = choices_[*size];
      choice.algorithm = AlgorithmNamed(words[i + 3].text);
      if (!choice.algorithm) {
        choice.algorithm = Numbered(words[i + 3].text, kNcclAlgorithms);
      }
      choice.protocol = ProtocolNamed(words[i + 5].text);
      if (!choice.protocol) {
        choice.protocol = Numbered(words[i + 5].text, kNcclProtocols);
      }
      return;
    }
  }

  // Reads "NCCL version 2.29.2+cuda13.1" or "nccl-library=22902".
  void FindVersion(absl::Span<const Token> tokens) {
    constexpr std::string_view kLibrary = "nccl-library=";
    for (size_t i = 0; i < tokens.size() && log_.nccl_version.empty(); ++i) {
      const std::string_view text = tokens[i].text;
      if (text.substr(0, kLibrary.size()) == kLibrary) {
        SetVersion(tokens[i], kLibrary.size());
      } else if (i > 1 && tokens[i - 2].text == "NCCL" &&
                 tokens[i - 1].text == "version") {
        SetVersion(tokens[i], 0);
      }
    }
  }

  // Sets the version to the text of `token` after its first `skipped` bytes.
  void SetVersion(const Token& token, size_t skipped) {
    log_.nccl_version = token.text.substr(skipped);
    log_.nccl_version_place = Place(token, skipped);
  }

  std::string Place(const Token& token, size_t skipped = 0) const {
    return fmt::format("{}:{}:{}", file_, token.line, token.column + skipped);
  }

  // Finds a word such as "/usr/bin/all_reduce_perf", in the command or a
  // comment.
  void FindCollective(absl::Span<const Token> tokens) {
    for (const Token& token : tokens) {
      if (log_.collective) return;
      if (token.text.find("_perf") == std::string_view::npos) continue;
      log_.collective =
          CollectiveOf(token.text.substr(token.text.rfind('/') + 1));
    }
  }

  absl::Status ReadComment(absl::Span<const Token> tokens) {
    ASTRA_RETURN_IF_ERROR(CheckRowIsWhole());
    if (tokens[0].text == "#") tokens.remove_prefix(1);
    if (tokens.empty()) return absl::OkStatus();
    if (tokens[0].text == "Rank") ReadRank(tokens);
    if (tokens[0].text == "nThread") return ReadOptions(tokens);
    const bool is_header = tokens.size() > 2 && tokens[0].text == "size" &&
                           tokens[1].text == "count" &&
                           tokens[2].text == "type";
    return is_header ? ReadHeader(tokens) : absl::OkStatus();
  }

  absl::Status ReadOptions(absl::Span<const Token> tokens) {
    if (!log_.rows.empty()) {
      return reader_.Error(
          tokens[0], "a second test begins here: expected one in each log");
    }
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text == "graph:") {
        log_.uses_cuda_graph = tokens[i + 1].text != "0";
      }
    }
    return absl::OkStatus();
  }

  // Reads "Rank 0 Group 0 Pid 7 on node1 device 0 [0x1b] NVIDIA H100 80GB
  // HBM3".
  void ReadRank(absl::Span<const Token> tokens) {
    if (tokens.size() < 2) return;
    const absl::StatusOr<int64_t> rank =
        ParseInteger("rank", tokens[1].text, 0, kMaxNcclTestsRanks - 1);
    if (!rank.ok()) return;
    log_.num_ranks = std::max(log_.num_ranks, static_cast<uint32_t>(*rank) + 1);
    log_.ranks_place = Place(tokens[0]);
    std::string gpu;
    bool is_gpu = false;
    for (size_t i = 2; i < tokens.size(); ++i) {
      const std::string_view text = tokens[i].text;
      if (tokens[i - 1].text == "on" && !is_gpu) AddHost(text);
      if (is_gpu) gpu += fmt::format("{}{}", gpu.empty() ? "" : " ", text);
      is_gpu = is_gpu || (text[0] == '[' && text.back() == ']');
    }
    if (!gpu.empty()) AddGpu(gpu);
  }

  void AddHost(std::string_view name) {
    if (hosts_.insert(name).second) log_.hosts.emplace_back(name);
  }
  void AddGpu(const std::string& name) {
    if (gpus_.insert(name).second) log_.gpus.push_back(name);
  }

  absl::Status ReadHeader(absl::Span<const Token> tokens) {
    columns_.clear();
    for (const Token& token : tokens) {
      if (token.text == "cputime") {
        return reader_.Error(
            token, "times of the CPU: expected those of the GPUs, without -C");
      }
      columns_.emplace_back(token.text);
    }
    for (const std::string_view name : {"time", "algbw", "busbw"}) {
      if (std::count(columns_.begin(), columns_.end(), name) == 2) continue;
      return reader_.Error(
          tokens[0], fmt::format("column {} is not there twice, out of place "
                                 "and in place",
                                 Quoted(name)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadValues(absl::Span<const Token> tokens) {
    const bool begins_row = tokens.size() > 1 && IsWhole(tokens[0].text) &&
                            IsWhole(tokens[1].text) &&
                            (tokens.size() == 2 || !IsValue(tokens[2].text));
    const bool goes_on =
        !row_.empty() && !begins_row &&
        std::all_of(tokens.begin(), tokens.end(),
                    [](const Token& token) { return IsValue(token.text); });
    if (!begins_row && !goes_on) return absl::OkStatus();
    if (begins_row) ASTRA_RETURN_IF_ERROR(CheckRowIsWhole());
    if (log_.ranks_place.empty()) log_.ranks_place = Place(tokens[0]);
    row_.insert(row_.end(), tokens.begin(), tokens.end());
    if (row_.size() < columns_.size()) return absl::OkStatus();
    // A time stamp is one column but two words.
    const size_t most =
        columns_.size() + (columns_.back() == "timestamp" ? 1 : 0);
    if (row_.size() > most) {
      return reader_.Error(row_[most],
                           fmt::format("unexpected {}: expected {} values",
                                       Quoted(row_[most].text), most));
    }
    return FinishRow();
  }

  absl::Status CheckRowIsWhole() const {
    if (row_.empty()) return absl::OkStatus();
    return reader_.Error(
        row_[0], fmt::format("{} values in this row: expected {}", row_.size(),
                             columns_.size()));
  }

  absl::Status FinishRow() {
    if (log_.rows.size() == kMaxNcclTestsRows) {
      return reader_.Error(row_[0],
                           fmt::format("more than {} rows", kMaxNcclTestsRows));
    }
    NcclTestsRow row;
    ASTRA_ASSIGN_OR_RETURN(const int64_t size, Integer(0));
    ASTRA_ASSIGN_OR_RETURN(row.count, Integer(1));
    row.size = Bytes(size);
    std::vector<size_t> times;
    for (size_t i = 2; i < columns_.size(); ++i) {
      if (columns_[i] == "type") row.type = row_[i].text;
      if (columns_[i] == "redop") row.redop = row_[i].text;
      if (columns_[i] == "root") row.root = row_[i].text;
      if (columns_[i] == "time") times.push_back(i);
    }
    ASTRA_ASSIGN_OR_RETURN(row.out_of_place, TimeAt(times[0], times[1]));
    ASTRA_ASSIGN_OR_RETURN(row.in_place, TimeAt(times[1], columns_.size()));
    log_.rows.push_back(std::move(row));
    row_.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<NcclTestsTime> TimeAt(size_t begin, size_t end) const {
    NcclTestsTime time;
    for (size_t i = begin; i < end; ++i) {
      const std::string& name = columns_[i];
      if (name == "#wrong" && row_[i].text != "N/A") {
        ASTRA_ASSIGN_OR_RETURN(time.num_wrong, Number(i));
      } else if (name == "time") {
        ASTRA_ASSIGN_OR_RETURN(time.time_us, Number(i));
      } else if (name == "algbw") {
        ASTRA_ASSIGN_OR_RETURN(time.algbw, Number(i));
      } else if (name == "busbw") {
        ASTRA_ASSIGN_OR_RETURN(time.busbw, Number(i));
      }
    }
    return time;
  }

  absl::StatusOr<int64_t> Integer(size_t i) const {
    const absl::StatusOr<int64_t> value =
        ParseInteger(columns_[i], row_[i].text);
    if (value.ok()) return *value;
    return reader_.Error(row_[i], std::string(value.status().message()));
  }

  absl::StatusOr<double> Number(size_t i) const {
    const absl::StatusOr<double> value = ParseNumber(columns_[i], row_[i].text);
    if (value.ok()) return *value;
    return reader_.Error(row_[i], std::string(value.status().message()));
  }

  void AddChoices() {
    for (NcclTestsRow& row : log_.rows) {
      const auto found = choices_.find(row.size.count());
      if (found == choices_.end()) continue;
      row.algorithm = found->second.algorithm;
      row.protocol = found->second.protocol;
    }
  }

  std::string_view file_;
  TextReader reader_;
  std::vector<std::string> columns_;
  std::vector<Token> row_;             // Row that has begun, so far.
  std::map<int64_t, Choice> choices_;  // Choice by size; the last one counts.
  std::set<std::string_view> hosts_;   // The hosts in the log.
  std::set<std::string> gpus_;
  NcclTestsLog log_;
};

}  // namespace

absl::StatusOr<NcclTestsLog> ParseNcclTestsLog(std::string_view file,
                                               std::string_view contents) {
  return Parser(file, contents).Parse();
}

absl::StatusOr<NcclTestsLog> ReadNcclTestsLog(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseNcclTestsLog(path, contents);
}

}  // namespace astra
