#include "collectives/measurements/measured_environment.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>

#include "astra-core/base/names.h"
#include "collectives/measurements/digits.h"

namespace astra {
namespace {

// Words that may occur in a statement and have no meaning.
constexpr std::string_view kFillers[] = {
    "algo", "algorithm", "and",  "auto",    "aws",     "by",       "chose",
    "nccl", "chosen",    "ofi",  "picked",  "picks",   "proto",    "protocol",
    "ran",  "runs",      "the",  "tuner",   "used",    "selected", "selects",
    "uses", "using",     "with", "default", "chooses",
};

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kClauseEnds = ",;:()";

// The words of a clause.
using Clause = std::vector<std::string>;

bool IsIn(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Returns the text in lower case, without '_' and '-'.
std::string Plain(std::string_view text) {
  std::string plain = LowerCase(text);
  plain.erase(std::remove_if(plain.begin(), plain.end(),
                             [](char c) { return c == '_' || c == '-'; }),
              plain.end());
  return plain;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result =
      std::from_chars(text.data(), end, value);
  const bool is_whole = !text.empty() && IsDigit(text[0]) &&
                        result.ec == std::errc() && result.ptr == end;
  return is_whole ? std::optional<int64_t>(value) : std::nullopt;
}

// Returns the power of two of a unit: "", "b", "k", "kb", "kib", "m", ...
std::optional<int> ShiftOf(std::string_view unit) {
  constexpr std::string_view kPrefixes = "kmgt";
  if (!unit.empty() && unit.back() == 'b') unit.remove_suffix(1);
  if (!unit.empty() && unit.back() == 'i') unit.remove_suffix(1);
  if (unit.empty()) return 0;
  if (unit.size() > 1 || !IsIn(kPrefixes, unit[0])) return std::nullopt;
  return 10 * static_cast<int>(kPrefixes.find(unit[0]) + 1);
}

// Parses a size such as "1mib", "64k" or "8".
std::optional<int64_t> SizeOf(std::string_view text) {
  const size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<int64_t> number = WholeNumber(text.substr(0, digits));
  const std::optional<int> shift = ShiftOf(text.substr(digits));
  if (!number || !shift) return std::nullopt;
  if (*number > std::numeric_limits<int64_t>::max() >> *shift) {
    return std::nullopt;
  }
  return *number << *shift;
}

// Splits a text into clauses and takes out the settings.
class Lexer {
 public:
  explicit Lexer(std::string_view text) {
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
      if (text.empty()) break;
      const size_t end = std::min(text.find_first_of(kSpace), text.size());
      ReadWord(text.substr(0, end));
      text.remove_prefix(end);
    }
    EndClause();
  }

  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<Clause> clauses;

 private:
  void ReadWord(std::string_view word) {
    const size_t equals = word.find('=');
    const bool is_setting = equals != std::string_view::npos && equals > 0 &&
                            !IsIn("<>", word[equals - 1]);
    if (!is_setting) return ReadPlain(word);
    ReadSettings(word);
    if (IsIn(kClauseEnds, word.back())) EndClause();
  }

  // Reads "(NCCL_ALGO=Ring,Tree,NCCL_PROTO=LL);": a comma may be part of a
  // value.
  void ReadSettings(std::string_view word) {
    while (!word.empty() && IsIn("(\"'", word[0])) word.remove_prefix(1);
    while (StartsWith(word, "NCCL_")) {
      const size_t end = std::min(word.find(",NCCL_"), word.size());
      AddSetting(word.substr(0, end));
      word.remove_prefix(std::min(end + 1, word.size()));
    }
  }

  void AddSetting(std::string_view setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view value = setting.substr(equals + 1);
    while (!value.empty() && IsIn(",;:)\"'", value.back())) {
      value.remove_suffix(1);
    }
    while (!value.empty() && IsIn("\"'", value[0])) value.remove_prefix(1);
    settings.emplace_back(setting.substr(0, equals), value);
  }

  void ReadPlain(std::string_view text) {
    std::string word;
    for (const char c : WithAsciiSigns(text)) {
      if (!IsIn(kClauseEnds, c) && !IsIn("/+", c)) {
        word += c;
        continue;
      }
      AddWord(&word);
      if (IsIn(kClauseEnds, c)) EndClause();
    }
    AddWord(&word);
  }

  // Replaces the signs for "at most" and "at least", of three bytes each in
  // UTF-8.
  static std::string WithAsciiSigns(std::string_view text) {
    std::string ascii;
    for (size_t i = 0; i < text.size(); ++i) {
      const std::string_view sign = text.substr(i, 3);
      const bool at_most = sign == "\xe2\x89\xa4";
      if (at_most || sign == "\xe2\x89\xa5") {
        ascii += at_most ? "<=" : ">=";
        i += 2;
      } else {
        ascii += text[i];
      }
    }
    return ascii;
  }

  void AddWord(std::string* word) {
    if (!word->empty()) clause_.push_back(std::move(*word));
    word->clear();
  }

  void EndClause() {
    if (!clause_.empty()) clauses.push_back(std::move(clause_));
    clause_.clear();
  }

  Clause clause_;
};

// Reads a clause as "ALGORITHM [PROTOCOL] [CONDITION...]".
class Statement {
 public:
  Statement(const Clause& clause, int64_t size, int64_t num_gpus)
      : clause_(clause), size_(size), num_gpus_(num_gpus) {
    while (next_ < clause_.size() && understood_) {
      Read(LowerCase(clause_[next_++]));
    }
  }

  // Returns whether the clause states exactly one algorithm, for this case.
  bool holds() const { return understood_ && holds_ && num_algorithms_ == 1; }

  std::optional<NcclAlgorithm> algorithm;
  std::optional<NcclProtocol> protocol;

 private:
  void Read(const std::string& word) {
    if (const auto named = AlgorithmNamed(word)) {
      algorithm = named;
      ++num_algorithms_;
    } else if (const auto protocol_named = ProtocolNamed(word)) {
      protocol = protocol_named;
    } else if (IsIn("<>", word[0])) {
      ReadSize(word);
    } else if (word == "at" || word == "on" || word == "for") {
      ReadNumbersOfGpus();
    } else {
      const auto* const end = std::end(kFillers);
      understood_ = std::find(std::begin(kFillers), end, word) != end;
    }
  }

  // Reads a condition such as "<=1MiB", "<= 1 MiB" or ">1k".
  void ReadSize(std::string_view word) {
    const bool less = word[0] == '<';
    const bool or_equal = word.size() > 1 && word[1] == '=';
    std::string text(word.substr(or_equal ? 2 : 1));
    if (text.empty()) text = Next();
    if (WholeNumber(text) && next_ < clause_.size() &&
        ShiftOf(LowerCase(clause_[next_]))) {
      text += Next();
    }
    const std::optional<int64_t> limit = SizeOf(text);
    if (!limit) {
      understood_ = false;
    } else if (size_ == *limit) {
      holds_ = holds_ && or_equal;
    } else {
      holds_ = holds_ && (size_ < *limit) == less;
    }
  }

  // Reads numbers such as "2 and 4 GPUs", "6" or "2..8 GPUs".
  void ReadNumbersOfGpus() {
    bool any = false;
    bool matches = false;
    for (; next_ < clause_.size(); ++next_) {
      const std::string word = LowerCase(clause_[next_]);
      if (word == "and" || word == "or" || StartsWith(word, "gpu") ||
          StartsWith(word, "rank")) {
        continue;
      }
      const size_t dots = std::min(word.find(".."), word.size());
      const auto low = WholeNumber(std::string_view(word).substr(0, dots));
      const auto high =
          dots == word.size()
              ? low
              : WholeNumber(std::string_view(word).substr(dots + 2));
      if (!low || !high) break;
      any = true;
      matches = matches || (*low <= num_gpus_ && num_gpus_ <= *high);
    }
    understood_ = any;
    holds_ = holds_ && matches;
  }

  std::string Next() {
    return next_ < clause_.size() ? LowerCase(clause_[next_++]) : std::string();
  }

  const Clause& clause_;
  int64_t size_;
  int64_t num_gpus_;
  size_t next_ = 0;
  bool understood_ = true;
  bool holds_ = true;
  int num_algorithms_ = 0;
};

// Returns the number after an option of nccl-tests: "-G 1", "-G1".
std::optional<int64_t> OptionOf(const std::vector<Clause>& clauses,
                                std::string_view option) {
  for (const Clause& clause : clauses) {
    for (size_t i = 0; i < clause.size(); ++i) {
      if (!StartsWith(clause[i], option)) continue;
      const std::string_view rest =
          std::string_view(clause[i]).substr(option.size());
      if (const auto value = WholeNumber(rest)) return value;
      if (!rest.empty() || i + 1 == clause.size()) continue;
      if (const auto value = WholeNumber(clause[i + 1])) return value;
    }
  }
  return std::nullopt;
}

// Returns whether a clause has a word with this beginning and no negation.
bool Says(const std::vector<Clause>& clauses, std::string_view begin) {
  for (const Clause& clause : clauses) {
    bool says = false;
    bool denies = false;
    for (const std::string& word : clause) {
      const std::string lower = LowerCase(word);
      says = says || StartsWith(lower, begin);
      denies = denies || lower == "no" || lower == "not" || lower == "without";
    }
    if (says && !denies) return true;
  }
  return false;
}

}  // namespace

std::optional<NcclAlgorithm> AlgorithmNamed(std::string_view text) {
  const std::string plain = Plain(text);
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (plain == LowerCase(Name(algorithm))) return algorithm;
  }
  return std::nullopt;
}

std::optional<NcclProtocol> ProtocolNamed(std::string_view text) {
  const std::string plain = Plain(text);
  for (const NcclProtocol protocol : kNcclProtocols) {
    if (plain == LowerCase(Name(protocol))) return protocol;
  }
  return std::nullopt;
}

MeasuredEnvironment ParseMeasuredEnvironment(std::string_view text, Bytes size,
                                             uint32_t num_gpus) {
  Lexer lexer(text);
  MeasuredEnvironment environment;
  environment.settings = std::move(lexer.settings);
  for (const Clause& clause : lexer.clauses) {
    const Statement statement(clause, size.count(), num_gpus);
    if (!statement.holds()) continue;
    environment.algorithm = statement.algorithm;
    environment.protocol = statement.protocol;
    break;
  }
  environment.is_asked =
      environment.algorithm && environment.settings.empty() &&
      lexer.clauses.size() == 1 &&
      std::all_of(lexer.clauses[0].begin(), lexer.clauses[0].end(),
                  [](const std::string& word) {
                    return AlgorithmNamed(word) || ProtocolNamed(word);
                  });
  const std::optional<int64_t> graphs = OptionOf(lexer.clauses, "-G");
  const bool uses_graph =
      graphs ? *graphs > 0
             : Says(lexer.clauses, "graph") || Says(lexer.clauses, "cudagraph");
  if (uses_graph) {
    environment.launch = Launch::kGraph;
  } else if (Says(lexer.clauses, "queued")) {
    environment.launch = Launch::kQueued;
  }
  constexpr int64_t kSymmetric = 2;
  const std::optional<int64_t> registration = OptionOf(lexer.clauses, "-R");
  environment.symmetric = registration ? *registration == kSymmetric
                                       : Says(lexer.clauses, "symmetric");
  return environment;
}

}  // namespace astra
