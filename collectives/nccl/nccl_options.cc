#include "collectives/nccl/nccl_options.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMaxChannels = 64;

// NCCL's names of collectives, as in NCCL_ALGO="allreduce:tree".
struct Function {
  std::string_view name;
  CollectiveKind kind;
};
constexpr Function kFunctions[] = {
    {"broadcast", CollectiveKind::kBroadcast},
    {"reduce", CollectiveKind::kReduce},
    {"allgather", CollectiveKind::kAllGather},
    {"reducescatter", CollectiveKind::kReduceScatter},
    {"allreduce", CollectiveKind::kAllReduce},
};

// NCCL got each of these after its first release, in the version `first`.
//
// Source: NCCL's release notes. ParseNcclVersion takes no version before 2.18,
// so only the last ones can be missing.
struct Feature {
  std::string_view name;
  NcclVersion first;
  std::optional<NcclAlgorithm> algorithm;  // None: it is no algorithm.
};
constexpr Feature kFeatures[] = {
    {"algorithm Tree", {2, 4}, NcclAlgorithm::kTree},
    {"algorithm CollNetDirect", {2, 14}, NcclAlgorithm::kCollnetDirect},
    {"algorithm CollNetChain", {2, 14}, NcclAlgorithm::kCollnetChain},
    {"algorithm NVLS", {2, 17}, NcclAlgorithm::kNvls},
    {"algorithm NVLSTree", {2, 18}, NcclAlgorithm::kNvlsTree},
    {"algorithm PAT", {2, 23}, NcclAlgorithm::kPat},
    {"kernels for symmetric buffers", {2, 27}, std::nullopt},
};

bool IsAsked(const Feature& feature, const NcclOptions& options) {
  if (!feature.algorithm) return options.symmetric;
  return std::any_of(options.choices.begin(), options.choices.end(),
                     [&](const auto& choice) {
                       return choice.second.names(*feature.algorithm);
                     });
}

constexpr std::string_view kNeutral[] = {
    "NCCL_BUFFSIZE",
    "NCCL_DEBUG",
    "NCCL_DEBUG_FILE",
    "NCCL_DEBUG_SUBSYS",
    "NCCL_IB_ADAPTIVE_ROUTING",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_HCA",
    "NCCL_IB_PCI_RELAXED_ORDERING",
    "NCCL_IB_SL",
    "NCCL_IB_TC",
    "NCCL_IB_TIMEOUT",
    "NCCL_NCHANNELS_PER_NET_PEER",
    "NCCL_NET",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_PLUGIN",
    "NCCL_P2P_LEVEL",
    "NCCL_P2P_NET_CHUNKSIZE",
    "NCCL_SOCKET_IFNAME",
    "NCCL_TOPO_FILE",
    "NCCL_TUNER_PLUGIN",
};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) {
    return c == ' ' || c == '\t' || c == '\r';
  };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Parses "ring,tree" or "^tree" as a set of bits, one for each of `values`.
template <class Value, size_t kCount>
absl::StatusOr<uint32_t> ParseSet(std::string_view key, std::string_view text,
                                  const Value (&values)[kCount]) {
  const bool is_excluded = !text.empty() && text.front() == '^';
  if (is_excluded) text.remove_prefix(1);
  uint32_t set = 0;
  for (const std::string_view part : Split(text, ',')) {
    uint32_t bit = 0;
    std::vector<std::string_view> known;
    for (const Value value : values) {
      if (LowerCase(Name(value)) == LowerCase(part)) bit = 1U << IndexOf(value);
      known.push_back(Name(value));
    }
    if (bit == 0) {
      return absl::InvalidArgumentError(UnknownName(key, part, known));
    }
    set |= bit;
  }
  return is_excluded ? ~set : set;
}

absl::Status ParseFunctions(std::string_view text,
                            std::vector<CollectiveKind>* kinds) {
  for (const std::string_view part : Split(text, ',')) {
    const auto found = std::find_if(
        std::begin(kFunctions), std::end(kFunctions),
        [&](const Function& f) { return f.name == LowerCase(part); });
    if (found == std::end(kFunctions)) {
      std::vector<std::string_view> known;
      for (const Function& f : kFunctions) known.push_back(f.name);
      return absl::InvalidArgumentError(
          UnknownName("NCCL function", part, known));
    }
    kinds->push_back(found->kind);
  }
  return absl::OkStatus();
}

// Applies "ring", "^tree" or "allreduce:tree,ring;allgather:ring": sets `field`
// of the choices of the collectives that it names, or of all.
template <class Value, size_t kCount>
absl::Status ApplyChoices(std::string_view key, std::string_view text,
                          const Value (&values)[kCount],
                          uint32_t NcclChoices::*field, NcclOptions* options) {
  for (const std::string_view entry : Split(text, ';')) {
    const size_t colon = entry.find(':');
    std::vector<CollectiveKind> kinds;
    if (colon == std::string_view::npos) {
      for (const Function& f : kFunctions) kinds.push_back(f.kind);
    } else {
      ASTRA_RETURN_IF_ERROR(ParseFunctions(entry.substr(0, colon), &kinds));
    }
    const std::string_view set =
        colon == std::string_view::npos ? entry : entry.substr(colon + 1);
    ASTRA_ASSIGN_OR_RETURN(const uint32_t bits, ParseSet(key, set, values));
    for (const CollectiveKind kind : kinds)
      options->choices[kind].*field = bits;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Number(std::string_view key, std::string_view text,
                                int64_t min, int64_t max) {
  ASTRA_ASSIGN_OR_RETURN(const int64_t number,
                         ParseInteger(key, text, min, max));
  return static_cast<uint32_t>(number);
}

using Apply = absl::Status (*)(std::string_view key, std::string_view value,
                               NcclOptions* options);
struct Variable {
  std::string_view key;
  Apply apply;
};

template <uint32_t NcclOptions::*kField, int64_t kMin, int64_t kMax>
absl::Status SetNumber(std::string_view key, std::string_view value,
                       NcclOptions* options) {
  ASTRA_ASSIGN_OR_RETURN(options->*kField, Number(key, value, kMin, kMax));
  return absl::OkStatus();
}

template <bool NcclOptions::*kField, bool kIsDisable>
absl::Status SetFlag(std::string_view key, std::string_view value,
                     NcclOptions* options) {
  // NCCL_NVLS_ENABLE=2, its default, means "where it is possible".
  ASTRA_ASSIGN_OR_RETURN(const uint32_t number, Number(key, value, 0, 2));
  options->*kField = (number != 0) != kIsDisable;
  return absl::OkStatus();
}

constexpr Variable kVariables[] = {
    {"NCCL_ALGO",
     [](std::string_view key, std::string_view value, NcclOptions* options) {
       return ApplyChoices(key, value, kNcclAlgorithms,
                           &NcclChoices::algorithms, options);
     }},
    {"NCCL_COLLNET_ENABLE", &SetFlag<&NcclOptions::collnet, false>},
    {"NCCL_CROSS_NIC", &SetNumber<&NcclOptions::cross_nic, 0, 2>},
    {"NCCL_IB_QPS_PER_CONNECTION",
     &SetNumber<&NcclOptions::queue_pairs, 1, 128>},
    {"NCCL_MAX_CTAS", &SetNumber<&NcclOptions::max_channels, 1, kMaxChannels>},
    {"NCCL_MAX_NCHANNELS",
     &SetNumber<&NcclOptions::max_channels, 1, kMaxChannels>},
    {"NCCL_MIN_CTAS", &SetNumber<&NcclOptions::min_channels, 1, kMaxChannels>},
    {"NCCL_MIN_NCHANNELS",
     &SetNumber<&NcclOptions::min_channels, 1, kMaxChannels>},
    {"NCCL_NVLS_ENABLE", &SetFlag<&NcclOptions::nvls, false>},
    {"NCCL_PAT_ENABLE", &SetFlag<&NcclOptions::pat, false>},
    {"NCCL_PROTO",
     [](std::string_view key, std::string_view value, NcclOptions* options) {
       return ApplyChoices(key, value, kNcclProtocols, &NcclChoices::protocols,
                           options);
     }},
    {"NCCL_PXN_DISABLE", &SetFlag<&NcclOptions::pxn, true>},
    {"NCCL_VERSION",
     [](std::string_view, std::string_view value, NcclOptions* options) {
       const absl::StatusOr<NcclVersion> version = ParseNcclVersion(value);
       if (version.ok()) options->version = *version;
       return version.status();
     }},
};

// Applies an entry of a list or a file; `keys` are those of the entries before
// it.
absl::Status ApplyNext(std::string_view text, std::set<std::string_view>* keys,
                       NcclOptions* options) {
  ASTRA_RETURN_IF_ERROR(ApplyNcclOption(text, options));
  const std::string_view key = text.substr(0, text.find('='));
  if (keys->insert(key).second) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} is given twice", key));
}

}  // namespace

absl::StatusOr<NcclVersion> ParseNcclVersion(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '.');
  const auto error = [&] {
    return absl::InvalidArgumentError(
        fmt::format("NCCL version {}: expected one such as 2.27, from 2.18 to "
                    "2.99",
                    Quoted(text)));
  };
  if (parts.size() < 2) return error();
  const absl::StatusOr<int64_t> major = ParseInteger("", parts[0], 2, 2);
  const absl::StatusOr<int64_t> minor = ParseInteger("", parts[1], 18, 99);
  if (!major.ok() || !minor.ok()) return error();
  return NcclVersion{static_cast<int32_t>(*major),
                     static_cast<int32_t>(*minor)};
}

absl::Status ApplyNcclOption(std::string_view text, NcclOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected KEY=VALUE, such as NCCL_ALGO=Ring", Quoted(text)));
  }
  const std::string_view key = text.substr(0, equals);
  std::vector<std::string_view> known;
  for (const Variable& variable : kVariables) {
    if (variable.key == key) {
      return variable.apply(key, text.substr(equals + 1), options);
    }
    known.push_back(variable.key);
  }
  if (IsNeutralNcclVariable(key)) {
    return absl::InvalidArgumentError(
        fmt::format("{} has no effect here: leave it out", Quoted(key)));
  }
  return absl::InvalidArgumentError(UnknownName("NCCL variable", key, known));
}

bool HasAlgorithm(const NcclVersion& version, NcclAlgorithm algorithm) {
  return std::none_of(
      std::begin(kFeatures), std::end(kFeatures), [&](const Feature& feature) {
        return feature.algorithm == algorithm && version < feature.first;
      });
}

absl::Status CheckVersion(const NcclOptions& options) {
  const NcclVersion& version = options.version;
  for (const Feature& feature : kFeatures) {
    if (version >= feature.first || !IsAsked(feature, options)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "NCCL {}.{} has no {}: expected {}.{} or later", version.major,
        version.minor, feature.name, feature.first.major, feature.first.minor));
  }
  return absl::OkStatus();
}

absl::StatusOr<NcclOptions> WithDefaults(
    NcclOptions asked, absl::Span<const std::string> defaults) {
  NcclOptions others;
  for (const std::string& text : defaults) {
    ASTRA_RETURN_IF_ERROR(ApplyNcclOption(text, &others));
  }
  constexpr uint32_t kOpen = ~0U;
  for (const auto& [kind, choices] : others.choices) {
    NcclChoices& mine = asked.choices[kind];
    if (mine.algorithms == kOpen) mine.algorithms = choices.algorithms;
    if (mine.protocols == kOpen) mine.protocols = choices.protocols;
  }
  asked.nvls = asked.nvls && others.nvls;
  if (asked.min_channels == 0) asked.min_channels = others.min_channels;
  if (asked.max_channels == 0) asked.max_channels = others.max_channels;
  return asked;
}

bool IsNeutralNcclVariable(std::string_view key) {
  return std::find(std::begin(kNeutral), std::end(kNeutral), key) !=
         std::end(kNeutral);
}

bool IsNcclVariable(std::string_view key) {
  return std::any_of(
      std::begin(kVariables), std::end(kVariables),
      [&](const Variable& variable) { return variable.key == key; });
}

absl::Status ApplyNcclOptionList(std::string_view list, NcclOptions* options) {
  std::set<std::string_view> keys;
  list = Trimmed(list);
  while (true) {
    // Values also contain commas: NCCL_ALGO=Ring,Tree.
    const size_t next = list.find("NCCL_", 1);
    const size_t end =
        next == std::string_view::npos ? next : list.rfind(',', next);
    ASTRA_RETURN_IF_ERROR(
        ApplyNext(Trimmed(list.substr(0, end)), &keys, options));
    if (end == std::string_view::npos) return absl::OkStatus();
    list.remove_prefix(end + 1);
    list = Trimmed(list);
  }
}

absl::Status ApplyNcclOptionFile(const std::string& path,
                                 NcclOptions* options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  std::set<std::string_view> keys;
  int line_number = 0;
  for (const std::string_view line : Split(contents, '\n')) {
    ++line_number;
    const std::string_view option = Trimmed(line.substr(0, line.find('#')));
    if (option.empty()) continue;
    const absl::Status status = ApplyNext(option, &keys, options);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          fmt::format("{}:{}:{}: {}", path, line_number,
                                      option.data() - line.data() + 1,
                                      std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace astra
