#include "topology/topology_file.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

constexpr std::string_view kHeaderColumns =
    "\"nodes gpus_per_server nv_switches other_switches links gpu_type\"";
constexpr std::string_view kCableColumns =
    "\"source target rate latency error_rate\"";
constexpr std::string_view kStorageWord = "storage_servers";
constexpr std::string_view kStorageColumns = "\"storage_servers count\"";

// Values of the first line.
struct Header {
  int64_t num_nodes = 0;
  int64_t gpus_per_server = 0;
  int64_t num_nv_switches = 0;
  int64_t num_other_switches = 0;
  int64_t num_cables = 0;
  std::string gpu_type;

  int64_t num_switches() const { return num_nv_switches + num_other_switches; }
  int64_t num_gpus() const { return num_nodes - num_switches(); }
};

absl::Status ExpectTokens(const TextReader& reader, size_t count,
                          std::string_view columns) {
  if (reader.tokens().size() < count) {
    return reader.ErrorAtEnd(fmt::format(
        "{} words, expected {}: {}", reader.tokens().size(), count, columns));
  }
  if (reader.tokens().size() > count) {
    const Token& extra = reader.tokens()[count];
    return reader.Error(extra, fmt::format("unexpected {} after {}",
                                           Quoted(extra.text), columns));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadInteger(const TextReader& reader,
                                    std::string_view what, const Token& token,
                                    int64_t min, int64_t max) {
  absl::StatusOr<int64_t> value = ParseInteger(what, token.text, min, max);
  if (!value.ok()) {
    return reader.Error(token, std::string(value.status().message()));
  }
  return value;
}

absl::StatusOr<Header> ReadHeader(TextReader& reader) {
  reader.NextLine();
  ASTRA_RETURN_IF_ERROR(ExpectTokens(reader, 6, kHeaderColumns));
  Header header;
  const std::pair<std::string_view, int64_t*> counts[] = {
      {"the number of nodes", &header.num_nodes},
      {"the number of GPUs per server", &header.gpus_per_server},
      {"the number of NVSwitches", &header.num_nv_switches},
      {"the number of other switches", &header.num_other_switches},
  };
  for (size_t i = 0; i < std::size(counts); ++i) {
    ASTRA_ASSIGN_OR_RETURN(
        *counts[i].second,
        ReadInteger(reader, counts[i].first, reader.tokens()[i], i < 2 ? 1 : 0,
                    Topology::kMaxNodes));
  }
  ASTRA_ASSIGN_OR_RETURN(
      header.num_cables,
      ReadInteger(reader, "the number of links", reader.tokens()[4], 0,
                  Topology::kMaxCables));
  header.gpu_type = reader.tokens()[5].text;
  if (header.num_gpus() < 1) {
    return reader.Error(reader.tokens()[0],
                        fmt::format("{} nodes with {} switches leave no GPU",
                                    header.num_nodes, header.num_switches()));
  }
  return header;
}

// Reads the current line, which lists the switches: the NVSwitches first.
absl::Status ReadSwitches(const TextReader& reader, const Header& header,
                          TopologyBuilder& builder) {
  const auto count = static_cast<int64_t>(reader.tokens().size());
  if (count != header.num_switches()) {
    return reader.ErrorAtEnd(
        fmt::format("{} switch ids, but the header says {} NVSwitches and {} "
                    "other switches",
                    count, header.num_nv_switches, header.num_other_switches));
  }
  constexpr NodeKind kUnlisted = NodeKind::kGpu;
  std::vector<NodeKind> kinds(static_cast<size_t>(count), kUnlisted);
  for (int64_t i = 0; i < count; ++i) {
    const Token& token = reader.tokens()[static_cast<size_t>(i)];
    ASTRA_ASSIGN_OR_RETURN(
        const int64_t id, ReadInteger(reader, "the id of a switch", token,
                                      header.num_gpus(), header.num_nodes - 1));
    NodeKind& kind = kinds[static_cast<size_t>(id - header.num_gpus())];
    if (kind != kUnlisted) {
      return reader.Error(token, fmt::format("switch {} is listed twice", id));
    }
    kind = i < header.num_nv_switches ? NodeKind::kNvSwitch : NodeKind::kSwitch;
  }
  for (const NodeKind kind : kinds) builder.AddSwitch(kind);
  return absl::OkStatus();
}

// Returns the make of the cable of the current line. An error stands at the
// word that is wrong.
absl::StatusOr<LinkTypeId> ReadLinkType(const TextReader& reader,
                                        TopologyBuilder& builder) {
  const absl::Span<const Token> words = reader.tokens();
  absl::StatusOr<LinkTypeId> type =
      builder.AddLinkType(words[2].text, words[3].text, words[4].text);
  if (type.ok()) return type;
  const Token& wrong = !ParseBandwidth(words[2].text).ok() ? words[2]
                       : !ParseTime(words[3].text).ok()    ? words[3]
                                                           : words[4];
  return reader.Error(wrong, std::string(type.status().message()));
}

absl::Status ReadCable(const TextReader& reader, const Header& header,
                       TopologyBuilder& builder) {
  ASTRA_RETURN_IF_ERROR(ExpectTokens(reader, 5, kCableColumns));
  int64_t ends[2];
  for (size_t i = 0; i < 2; ++i) {
    ASTRA_ASSIGN_OR_RETURN(
        ends[i], ReadInteger(reader, "the id of a node", reader.tokens()[i], 0,
                             header.num_nodes - 1));
  }
  ASTRA_ASSIGN_OR_RETURN(const LinkTypeId type, ReadLinkType(reader, builder));
  const absl::Status added =
      builder.AddCable(NodeId(static_cast<uint32_t>(ends[0])),
                       NodeId(static_cast<uint32_t>(ends[1])), type);
  if (!added.ok()) {
    return reader.Error(reader.tokens()[0], std::string(added.message()));
  }
  return absl::OkStatus();
}

// Reads the cables. The first is on the current line if `begins_here`, else on
// the next; `first_line` becomes the number of this line.
absl::Status ReadCables(TextReader& reader, const Header& header,
                        bool begins_here, TopologyBuilder& builder,
                        uint32_t& first_line) {
  first_line = reader.line() + (begins_here ? 0 : 1);
  for (int64_t i = 0; i < header.num_cables; ++i) {
    if (!(begins_here && i == 0) && !reader.NextLine()) {
      return reader.ErrorAtEnd(fmt::format("{} links, but the header says {}",
                                           i, header.num_cables));
    }
    ASTRA_RETURN_IF_ERROR(ReadCable(reader, header, builder));
  }
  return absl::OkStatus();
}

// Reads what follows the cables: blank lines, and in files with storage servers
// the line that counts them.
absl::Status ReadEnd(TextReader& reader, const Header& header,
                     TopologyBuilder& builder) {
  bool has_storage = false;
  while (reader.NextLine()) {
    const absl::Span<const Token> words = reader.tokens();
    if (words.empty()) continue;
    if (has_storage || words[0].text != kStorageWord) {
      return reader.Error(
          words[0], has_storage
                        ? fmt::format("unexpected {} behind the line of {}",
                                      Quoted(words[0].text), kStorageWord)
                        : fmt::format("more links than the {} that the header "
                                      "says",
                                      header.num_cables));
    }
    has_storage = true;
    ASTRA_RETURN_IF_ERROR(ExpectTokens(reader, 2, kStorageColumns));
    ASTRA_ASSIGN_OR_RETURN(const int64_t count,
                           ReadInteger(reader, "the number of storage servers",
                                       words[1], 1, Topology::kMaxNodes));
    const absl::Status made = builder.MakeStorage(static_cast<uint32_t>(count));
    if (!made.ok()) return reader.Error(words[1], std::string(made.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Topology> ParseTopology(std::string_view file,
                                       std::string_view contents) {
  TextReader reader(file, contents);
  ASTRA_ASSIGN_OR_RETURN(const Header header, ReadHeader(reader));
  // Each node and cable takes at least two bytes of text, so the size of the
  // file limits the counts that the header may claim and the memory reserved.
  if (header.num_nodes > static_cast<int64_t>(contents.size())) {
    return reader.Error(reader.tokens()[0],
                        fmt::format("{} nodes cannot have their links in a "
                                    "file of {} bytes",
                                    header.num_nodes, contents.size()));
  }
  TopologyBuilder builder(static_cast<uint32_t>(header.num_gpus()),
                          static_cast<uint32_t>(header.gpus_per_server),
                          header.gpu_type);
  // Without switches, the line of switches is empty or missing.
  reader.NextLine();
  const bool has_switch_line =
      header.num_switches() > 0 || reader.tokens().empty();
  if (has_switch_line) {
    ASTRA_RETURN_IF_ERROR(ReadSwitches(reader, header, builder));
  }
  uint32_t first_line = 0;
  ASTRA_RETURN_IF_ERROR(
      ReadCables(reader, header, !has_switch_line, builder, first_line));
  ASTRA_RETURN_IF_ERROR(ReadEnd(reader, header, builder));
  absl::StatusOr<Topology> topology = std::move(builder).Build();
  if (!topology.ok()) {
    // An error about a cable stands at its line; any other stands at the
    // header.
    constexpr std::string_view kLinks = "links.";
    const std::string field = FieldOf(topology.status());
    Token place = {.text = "", .line = 1, .column = 1};
    if (field.starts_with(kLinks)) {
      const auto cable =
          ParseInteger("", std::string_view(field).substr(kLinks.size()));
      place.line = first_line + static_cast<uint32_t>(cable.value_or(0));
    }
    return reader.Error(place, std::string(topology.status().message()));
  }
  return topology;
}

absl::StatusOr<Topology> ReadTopology(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseTopology(path, contents);
}

std::string FormatTopology(const Topology& topology) {
  std::vector<NodeId> nv_switches;
  std::vector<NodeId> other_switches;
  for (uint32_t i = topology.num_gpus(); i < topology.num_nodes(); ++i) {
    const bool is_nv = topology.kind(NodeId(i)) == NodeKind::kNvSwitch;
    (is_nv ? nv_switches : other_switches).push_back(NodeId(i));
  }

  std::string text;
  AppendFormat(&text, "{} {} {} {} {} {}\n", topology.num_nodes(),
               topology.gpus_per_server(), nv_switches.size(),
               other_switches.size(), topology.links().size() / 2,
               topology.gpu_type());
  for (const NodeId node : nv_switches) AppendFormat(&text, "{} ", node);
  for (const NodeId node : other_switches) AppendFormat(&text, "{} ", node);
  text += '\n';
  for (size_t i = 0; i < topology.links().size(); i += 2) {
    const LinkId link(static_cast<uint32_t>(i));
    AppendFormat(&text, "{} {} {}\n", topology.link(link).source,
                 topology.link(link).target, topology.type(link).text);
  }
  if (topology.num_storage() > 0) {
    AppendFormat(&text, "{} {}\n", kStorageWord, topology.num_storage());
  }
  return text;
}

}  // namespace astra
