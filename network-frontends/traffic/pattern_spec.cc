#include "network-frontends/traffic/pattern_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "network-frontends/config/amounts.h"

namespace astra {
namespace {

constexpr int64_t kMostRanks = int64_t{1} << 24;

absl::Status ReadRank(std::string_view value, int64_t least, uint32_t* rank) {
  ASTRA_ASSIGN_OR_RETURN(const int64_t number,
                         ParseInteger("value", value, least, kMostRanks));
  *rank = static_cast<uint32_t>(number);
  return absl::OkStatus();
}

absl::Status ReadTime(std::string_view value, TimePs* time) {
  ASTRA_ASSIGN_OR_RETURN(*time, ParseTime(value));
  if (*time <= kMostPatternTime) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} is longer than 1000 s", Quoted(value)));
}

// A parameter: its name, and how a value is taken.
struct Parameter {
  std::string_view key;
  absl::Status (*read)(std::string_view value, PatternSpec* spec);
};

constexpr Parameter kOwn[] = {
    {"senders",
     [](std::string_view value, PatternSpec* spec) {
       return ReadRank(value, 1, &spec->shape.senders.emplace());
     }},
    {"shift",
     [](std::string_view value, PatternSpec* spec) {
       return ReadRank(value, 1, &spec->shape.shift.emplace());
     }},
    {"stride",
     [](std::string_view value, PatternSpec* spec) {
       return ReadRank(value, 1, &spec->shape.stride);
     }},
    {"target",
     [](std::string_view value, PatternSpec* spec) {
       uint32_t rank = 0;
       ASTRA_RETURN_IF_ERROR(ReadRank(value, 0, &rank));
       spec->shape.target = RankId(rank);
       return absl::OkStatus();
     }},
};

constexpr Parameter kCommon[] = {
    {"bytes",
     [](std::string_view value, PatternSpec* spec) {
       ASTRA_ASSIGN_OR_RETURN(const Bytes bytes, ParseSize(value));
       if (bytes == Bytes(0)) {
         return absl::InvalidArgumentError("a message has at least one byte");
       }
       spec->sizes = FlowSizes::All(bytes);
       return absl::OkStatus();
     }},
    {"duration",
     [](std::string_view value, PatternSpec* spec) {
       return ReadTime(value, &spec->duration);
     }},
    {"rate",
     [](std::string_view value, PatternSpec* spec) {
       ASTRA_ASSIGN_OR_RETURN(spec->rate, ParseBandwidth(value));
       return absl::OkStatus();
     }},
    {"sizes",
     [](std::string_view value, PatternSpec* spec) {
       spec->sizes_file = std::string(value);
       return absl::OkStatus();
     }},
    {"spread",
     [](std::string_view value, PatternSpec* spec) {
       return ReadTime(value, &spec->spread);
     }},
    {"start", [](std::string_view value,
                 PatternSpec* spec) { return ReadTime(value, &spec->start); }},
};

const Parameter* FindIn(absl::Span<const Parameter> parameters,
                        std::string_view key) {
  const auto* found = std::find_if(
      parameters.begin(), parameters.end(),
      [key](const Parameter& parameter) { return parameter.key == key; });
  return found == parameters.end() ? nullptr : found;
}

// Returns the parameter `key` of `pattern`.
absl::StatusOr<const Parameter*> FindParameter(const PatternEntry& pattern,
                                               std::string_view key) {
  std::vector<std::string_view> known(pattern.keys.begin(), pattern.keys.end());
  const bool is_own = std::find(known.begin(), known.end(), key) != known.end();
  const Parameter* found = is_own ? FindIn(kOwn, key) : FindIn(kCommon, key);
  if (found != nullptr) return found;
  for (const Parameter& parameter : kCommon) known.push_back(parameter.key);
  return absl::InvalidArgumentError(UnknownName("key", key, known));
}

using Keys = std::set<std::string_view>;

absl::Status CheckTogether(const Keys& given) {
  const auto has = [&](std::string_view key) { return given.count(key) > 0; };
  if (has("bytes") == has("sizes")) {
    return absl::InvalidArgumentError(
        has("bytes") ? "sizes has no effect beside bytes"
                     : "bytes is missing, such as bytes=1MiB, or sizes=FILE");
  }
  if (has("rate") != has("duration")) {
    return absl::InvalidArgumentError(
        "rate and duration go together, such as rate=40Gbps,duration=1ms");
  }
  if (has("rate") && has("spread")) {
    return absl::InvalidArgumentError(
        "spread has no effect beside rate, which says when messages come");
  }
  return absl::OkStatus();
}

// Returns the parts of `text` between the separators, of which "" has one.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

absl::Status ReadParameter(std::string_view setting, Keys* given,
                           PatternSpec* spec) {
  const size_t equals = setting.find('=');
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected KEY=VALUE, such as bytes=1MiB", Quoted(setting)));
  }
  const std::string_view key = setting.substr(0, equals);
  ASTRA_ASSIGN_OR_RETURN(const Parameter* parameter,
                         FindParameter(*spec->pattern, key));
  if (!given->insert(key).second) {
    return absl::InvalidArgumentError(
        fmt::format("the key {} is there twice", Quoted(key)));
  }
  const absl::Status status = parameter->read(setting.substr(equals + 1), spec);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", key, std::string(status.message())));
}

absl::Status ReadParameters(std::string_view text, PatternSpec* spec) {
  Keys given;
  for (const std::string_view setting : Split(text, ',')) {
    ASTRA_RETURN_IF_ERROR(ReadParameter(setting, &given, spec));
  }
  return CheckTogether(given);
}

absl::StatusOr<PatternSpec> ParsePattern(std::string_view text) {
  PatternSpec spec;
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  ASTRA_ASSIGN_OR_RETURN(spec.pattern, FindPattern(name));
  const absl::Status status =
      colon == std::string_view::npos
          ? CheckTogether({})
          : ReadParameters(text.substr(colon + 1), &spec);
  if (status.ok()) return spec;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", name, std::string(status.message())));
}

}  // namespace

absl::StatusOr<std::vector<PatternSpec>> ParsePatterns(std::string_view text) {
  std::vector<PatternSpec> specs;
  for (const std::string_view part : Split(text, '+')) {
    ASTRA_ASSIGN_OR_RETURN(PatternSpec spec, ParsePattern(part));
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::Status ReadSizes(absl::Span<PatternSpec> specs) {
  for (PatternSpec& spec : specs) {
    if (!spec.sizes_file) continue;
    const std::string& file = *spec.sizes_file;
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    ASTRA_ASSIGN_OR_RETURN(spec.sizes, FlowSizes::Parse(file, contents));
  }
  return absl::OkStatus();
}

}  // namespace astra
