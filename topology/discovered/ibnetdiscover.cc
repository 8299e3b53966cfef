#include "topology/discovered/ibnetdiscover.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMaxPorts = 255;  // The field of the number has 8 bits.

struct LaneSpeed {
  std::string_view name;
  int64_t mbps;
};
constexpr LaneSpeed kSpeeds[] = {
    {"SDR", 2'500},    {"DDR", 5'000},   {"QDR", 10'000},
    {"FDR10", 10'000}, {"FDR", 14'000},  {"EDR", 25'000},
    {"HDR", 50'000},   {"NDR", 100'000}, {"XDR", 200'000},
};
constexpr std::string_view kWidths[] = {"1x", "2x", "4x", "8x", "12x"};

// Lines that have no effect begin with these words.
constexpr std::string_view kIgnored[] = {
    "#",       "vendid=", "devid=",  "sysimgguid=", "switchguid=",
    "caguid=", "rtguid=", "Chassis", "Hostname:",
};

// Reads a line from left to right.
class LineCursor {
 public:
  explicit LineCursor(const TextReader& reader) : reader_(reader) {
    const Token& first = reader.tokens().front();
    const Token& last = reader.tokens().back();
    begin_ = first.text.data();
    first_column_ = first.column;
    rest_ = {begin_,
             static_cast<size_t>(last.text.data() - begin_) + last.text.size()};
  }

  // Returns an error at the cursor.
  absl::Status Error(std::string_view message) const {
    const auto offset = static_cast<uint32_t>(rest_.data() - begin_);
    return reader_.Error({.text = rest_,
                          .line = reader_.line(),
                          .column = first_column_ + offset},
                         message);
  }

  void SkipBlanks() {
    const size_t blanks = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(blanks == std::string_view::npos ? rest_.size()
                                                         : blanks);
  }

  // Skips what begins with `begin`, if it is here, up to `end`.
  void SkipGroup(std::string_view begin, char end) {
    SkipBlanks();
    const size_t length = rest_.find(end);
    if (!rest_.starts_with(begin) || length == std::string_view::npos) return;
    rest_.remove_prefix(length + 1);
  }

  // Returns the text between two marks, of which the first must be here.
  absl::StatusOr<std::string_view> Between(char begin, char end,
                                           std::string_view what) {
    SkipBlanks();
    const size_t length =
        rest_.empty() ? std::string_view::npos : rest_.find(end, 1);
    if (!rest_.starts_with(begin) || length == std::string_view::npos) {
      return Error(fmt::format("expected {}", what));
    }
    const std::string_view text = rest_.substr(1, length - 1);
    rest_.remove_prefix(length + 1);
    return text;
  }

  // Returns a number of a port in brackets.
  absl::StatusOr<uint32_t> Port() {
    const LineCursor at_begin = *this;
    ASTRA_ASSIGN_OR_RETURN(
        const std::string_view text,
        Between('[', ']', "the number of a port, such as [1]"));
    const absl::StatusOr<int64_t> number =
        ParseInteger("port", text, 1, kMaxPorts);
    if (!number.ok()) {
      return at_begin.Error(std::string(number.status().message()));
    }
    return static_cast<uint32_t>(*number);
  }

  // Moves behind the last quote of the line, if there is one.
  void SkipDescription() {
    const size_t quote = rest_.rfind('"');
    if (quote != std::string_view::npos) rest_.remove_prefix(quote + 1);
  }

  // Returns the next word; it is empty at the end.
  std::string_view Word() {
    SkipBlanks();
    const size_t length = std::min(rest_.find_first_of(" \t"), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

  std::string_view rest() const { return rest_; }

 private:
  const TextReader& reader_;
  const char* begin_;
  uint32_t first_column_;
  std::string_view rest_;
};

// Returns the rate of a width and speed such as "4xNDR".
absl::StatusOr<Bandwidth> RateOf(std::string_view text) {
  const size_t times = text.find('x');
  if (times == std::string_view::npos) {
    return absl::InvalidArgumentError(
        fmt::format("{} is no width and speed such as 4xNDR", Quoted(text)));
  }
  const std::string_view width = text.substr(0, times + 1);
  const std::string_view speed = text.substr(times + 1);
  std::vector<std::string_view> names;
  for (const LaneSpeed& each : kSpeeds) names.push_back(each.name);
  if (std::find(std::begin(kWidths), std::end(kWidths), width) ==
      std::end(kWidths)) {
    return absl::InvalidArgumentError(UnknownName("width", width, kWidths));
  }
  const auto named = std::find(names.begin(), names.end(), speed);
  if (named == names.end()) {
    return absl::InvalidArgumentError(UnknownName("speed", speed, names));
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t lanes,
                         ParseInteger("", width.substr(0, times)));
  constexpr int64_t kMbps = 1'000'000;
  return Bandwidth(lanes * kMbps * kSpeeds[named - names.begin()].mbps);
}

class FabricReader {
 public:
  FabricReader(std::string_view file, std::string_view contents)
      : reader_(file, contents) {}

  absl::StatusOr<IbFabric> Read() {
    while (reader_.NextLine()) {
      if (reader_.tokens().empty()) continue;
      const std::string_view word = reader_.tokens().front().text;
      const bool is_ignored = std::any_of(
          std::begin(kIgnored), std::end(kIgnored),
          [&](std::string_view begin) { return word.starts_with(begin); });
      if (is_ignored) continue;
      ASTRA_RETURN_IF_ERROR(word.starts_with('[') ? ReadPort() : ReadNode());
    }
    if (fabric_.nodes.empty()) {
      return ErrorAt(1, "there is no Switch, Ca or Rt");
    }
    ASTRA_RETURN_IF_ERROR(JoinPorts());
    return std::move(fabric_);
  }

 private:
  absl::Status ErrorAt(uint32_t line, std::string_view message) const {
    return reader_.Error({.text = "", .line = line, .column = 1}, message);
  }

  absl::Status ReadNode() {
    constexpr std::string_view kWords[] = {"Switch", "Ca", "Rt"};
    LineCursor cursor(reader_);
    const std::string_view word = reader_.tokens().front().text;
    const auto* const known =
        std::find(std::begin(kWords), std::end(kWords), word);
    if (known == std::end(kWords)) {
      return cursor.Error(fmt::format(
          "{} begins no line of ibnetdiscover: expected Switch, Ca, Rt or a "
          "port such as [1]",
          Quoted(word)));
    }
    cursor.Word();
    cursor.SkipBlanks();
    const LineCursor at_number = cursor;
    const absl::StatusOr<int64_t> ports =
        ParseInteger("the number of ports", cursor.Word(), 0, kMaxPorts);
    if (!ports.ok()) {
      return at_number.Error(std::string(ports.status().message()));
    }
    IbNode node;
    node.kind = static_cast<IbNodeKind>(known - std::begin(kWords));
    node.line = reader_.line();
    num_ports_ = static_cast<uint32_t>(*ports);
    ASTRA_ASSIGN_OR_RETURN(node.id,
                           cursor.Between('"', '"', "the id in quotes"));
    node.description = ReadDescription(cursor);
    const auto [first, is_new] = node_of_.try_emplace(
        node.id, static_cast<uint32_t>(fabric_.nodes.size()));
    if (!is_new) {
      return ErrorAt(node.line, fmt::format("the node {} is on line {} already",
                                            Quoted(node.id),
                                            fabric_.nodes[first->second].line));
    }
    fabric_.nodes.push_back(std::move(node));
    peers_.emplace_back();
    return absl::OkStatus();
  }

  // Returns what stands between the first and the last quote.
  static std::string ReadDescription(const LineCursor& cursor) {
    const std::string_view rest = cursor.rest();
    const size_t begin = rest.find('"');
    const size_t end = rest.rfind('"');
    if (begin == std::string_view::npos || end == begin) return "";
    return std::string(rest.substr(begin + 1, end - begin - 1));
  }

  absl::Status ReadPort() {
    LineCursor cursor(reader_);
    if (fabric_.nodes.empty()) {
      return cursor.Error("a port of no node: expected Switch, Ca or Rt first");
    }
    IbPort port;
    port.line = reader_.line();
    ASTRA_ASSIGN_OR_RETURN(port.number, cursor.Port());
    if (port.number > num_ports_) {
      return ErrorAt(port.line, fmt::format("port {} of a node with {} ports",
                                            port.number, num_ports_));
    }
    cursor.SkipGroup("[ext", ']');
    cursor.SkipGroup("(", ')');
    ASTRA_ASSIGN_OR_RETURN(
        const std::string_view peer,
        cursor.Between('"', '"', "the id of the peer in quotes"));
    ASTRA_ASSIGN_OR_RETURN(port.peer_port, cursor.Port());
    cursor.SkipDescription();
    if (cursor.Word() != "lid") {
      return ErrorAt(port.line,
                     "expected the description of the peer, its lid, width and "
                     "speed behind #");
    }
    cursor.Word();
    cursor.SkipBlanks();
    const LineCursor at_speed = cursor;
    port.speed = cursor.Word();
    const absl::StatusOr<Bandwidth> rate = RateOf(port.speed);
    if (!rate.ok()) {
      return at_speed.Error(std::string(rate.status().message()));
    }
    port.rate = *rate;
    return AddPort(std::move(port), peer);
  }

  absl::Status AddPort(IbPort port, std::string_view peer) {
    for (const IbPort& other : fabric_.nodes.back().ports) {
      if (other.number != port.number) continue;
      return ErrorAt(port.line, fmt::format("port {} is on line {} already",
                                            port.number, other.line));
    }
    fabric_.nodes.back().ports.push_back(std::move(port));
    peers_.back().emplace_back(peer);
    return absl::OkStatus();
  }

  // Finds the peers, and checks that both ends of each cable agree.
  absl::Status JoinPorts() {
    for (size_t i = 0; i < fabric_.nodes.size(); ++i) {
      std::vector<IbPort>& ports = fabric_.nodes[i].ports;
      for (size_t j = 0; j < ports.size(); ++j) {
        const auto peer = node_of_.find(peers_[i][j]);
        if (peer == node_of_.end()) {
          return ErrorAt(ports[j].line, fmt::format("the peer {} has no block",
                                                    Quoted(peers_[i][j])));
        }
        ports[j].peer = peer->second;
      }
    }
    for (uint32_t i = 0; i < fabric_.nodes.size(); ++i) {
      for (const IbPort& port : fabric_.nodes[i].ports) {
        ASTRA_RETURN_IF_ERROR(CheckBothEnds(i, port));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBothEnds(uint32_t node, const IbPort& port) const {
    const IbNode& peer = fabric_.nodes[port.peer];
    const auto there = std::find_if(
        peer.ports.begin(), peer.ports.end(),
        [&](const IbPort& p) { return p.number == port.peer_port; });
    const std::string ends = fmt::format(
        "port {} of {} leads to port {} of {}", port.number,
        IbNodeName(fabric_.nodes[node]), port.peer_port, IbNodeName(peer));
    if (there == peer.ports.end()) {
      return ErrorAt(port.line,
                     fmt::format("{}, whose block from line {} on does not "
                                 "list that port",
                                 ends, peer.line));
    }
    if (there->peer != node || there->peer_port != port.number) {
      return ErrorAt(port.line,
                     fmt::format("{}, which on line {} leads to port {} of {}",
                                 ends, there->line, there->peer_port,
                                 IbNodeName(fabric_.nodes[there->peer])));
    }
    if (there->rate != port.rate) {
      return ErrorAt(port.line,
                     fmt::format("{} at {}, on line {} at {}", ends, port.speed,
                                 there->line, there->speed));
    }
    return absl::OkStatus();
  }

  TextReader reader_;
  IbFabric fabric_;
  uint32_t num_ports_ = 0;  // Of the node that is being read.
  // By node and port: the id of the peer.
  std::vector<std::vector<std::string>> peers_;
  absl::flat_hash_map<std::string, uint32_t> node_of_;  // By id.
};

}  // namespace

absl::StatusOr<IbFabric> ParseIbnetdiscover(std::string_view file,
                                            std::string_view contents) {
  return FabricReader(file, contents).Read();
}

std::string IbNodeName(const IbNode& node) {
  return Quoted(node.description.empty() ? node.id : node.description);
}

}  // namespace astra
