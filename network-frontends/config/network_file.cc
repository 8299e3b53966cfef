#include "network-frontends/config/network_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "network-frontends/config/amounts.h"
#include "network-frontends/config/network_fields.h"
#include "network-frontends/config/simai_conf.h"
#include "network-frontends/packet/congestion/registry.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_network";
constexpr int64_t kVersion = 1;

constexpr TimePs kMostTime = Microseconds(1'000'000'000);
constexpr Bandwidth kMostRate = Gbps(1'000'000);
constexpr int64_t kMostSize = int64_t{1} << 40;

// A Visitor that replaces the values that a mapping of the file names.
class Reader {
 public:
  // With `inherits`, what the file says of `fabric` holds for `nv_switch`, too.
  explicit Reader(YamlFields fields, bool inherits = true)
      : fields_(std::move(fields)), inherits_(inherits) {}

  void Time(std::string_view key, TimePs& value) {
    Amount(key, &ParseTime, TimePs(0), kMostTime, "at most 1000s", value);
  }
  void OptionalTime(std::string_view key, std::optional<TimePs>& value) {
    if (!fields_.has(key)) return;
    Amount(key, &ParseTime, TimePs(1), kMostTime, "1ps to 1000s",
           value.emplace());
  }
  void Rate(std::string_view key, Bandwidth& value) {
    if (value == Bandwidth(0)) fields_.Text(key);  // It has no default.
    Amount(key, &ParseBandwidth, Bandwidth(1), kMostRate, "at most 1000Tbps",
           value);
  }
  void Size(std::string_view key, Bytes& value, int64_t min,
            int64_t max = kMostSize) {
    Amount(key, &ParseSize, Bytes(min), Bytes(max),
           fmt::format("{} to {}", SizeText(Bytes(min)), SizeText(Bytes(max))),
           value);
  }
  void Number(std::string_view key, double& value, double min, double max) {
    value = fields_.NumberOr(key, value, min, max);
  }
  template <class Integer_>
  void Integer(std::string_view key, Integer_& value, int64_t min,
               int64_t max) {
    value = static_cast<Integer_>(
        fields_.IntegerOr(key, static_cast<int64_t>(value), min, max));
  }
  void Bool(std::string_view key, bool& value) {
    value = fields_.BoolOr(key, value);
  }
  template <class Id_>
  void Id(std::string_view key, Id_& value) {
    constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
    value = Id_(static_cast<uint32_t>(fields_.Integer(key, 0, kMax)));
  }
  template <class Id_>
  void OptionalId(std::string_view key, std::optional<Id_>& value) {
    if (!fields_.has(key)) return;
    Id(key, value.emplace());
  }
  template <class Enum, size_t size>
  void Choice(std::string_view key, Enum& value,
              const std::array<std::string_view, size>& names) {
    value = static_cast<Enum>(
        fields_.ChoiceOr(key, static_cast<size_t>(value), names));
  }
  void CongestionControl(std::string_view key, std::string& value) {
    value = fields_.TextOr(key, value);
    const absl::Status status = FindCongestionControl(value).status();
    if (!status.ok()) fields_.Error(key, std::string(status.message()));
  }
  template <class Part>
  void Map(std::string_view key, Part& value) {
    Reader part(fields_.Map(key, key));
    Visit(value, part);
    part.Close();
  }
  template <class Item>
  void List(std::string_view key, std::vector<Item>& value) {
    if (fields_.Value(key) == nullptr) return;
    value.clear();
    for (const YamlFields& item : fields_.Maps(key, key)) {
      Reader fields(item);
      Visit(value.emplace_back(), fields);
      fields.Close();
    }
  }
  void Close() { fields_.Close(); }

  // Takes over `from`, except PFC and ECN of `to`.
  void Inherit(const SwitchOptions& from, SwitchOptions& to) const {
    if (!inherits_) return;
    const bool pfc = to.pfc;
    const bool ecn = to.ecn;
    to = from;
    to.pfc = pfc;
    to.ecn = ecn;
  }

 private:
  // `range` describes the allowed values, from `min` to `max`.
  template <class Value>
  void Amount(std::string_view key,
              absl::StatusOr<Value> (*parse)(std::string_view), Value min,
              Value max, std::string_view range, Value& value) {
    if (fields_.Value(key) == nullptr) return;
    const std::string text = fields_.Text(key);
    const absl::StatusOr<Value> parsed = parse(text);
    if (!parsed.ok()) {
      fields_.Error(key, fmt::format("{}: {}", key,
                                     std::string(parsed.status().message())));
    } else if (*parsed < min || *parsed > max) {
      fields_.Error(
          key, fmt::format("{} is {}: expected {}", key, Quoted(text), range));
    } else {
      value = *parsed;
    }
  }

  YamlFields fields_;
  bool inherits_;
};

// A Visitor that collects the lines of a mapping.
class Writer {
 public:
  void Time(std::string_view key, TimePs value) { Add(key, TimeText(value)); }
  void OptionalTime(std::string_view key, const std::optional<TimePs>& value) {
    if (value) Time(key, *value);
  }
  void Rate(std::string_view key, Bandwidth value) {
    Add(key, RateText(value));
  }
  void Size(std::string_view key, Bytes value, int64_t /*min*/,
            int64_t /*max*/ = 0) {
    Add(key, SizeText(value));
  }
  void Number(std::string_view key, double value, double /*min*/,
              double /*max*/) {
    Add(key, value);
  }
  void Integer(std::string_view key, uint64_t value, int64_t /*min*/,
               int64_t /*max*/) {
    Add(key, value);
  }
  void Bool(std::string_view key, bool value) { Add(key, value); }
  template <class Id_>
  void Id(std::string_view key, Id_ value) {
    Add(key, value.index());
  }
  template <class Id_>
  void OptionalId(std::string_view key, const std::optional<Id_>& value) {
    if (value) Id(key, *value);
  }
  template <class Enum, size_t size>
  void Choice(std::string_view key, Enum value,
              const std::array<std::string_view, size>& names) {
    Add(key, names[static_cast<size_t>(value)]);
  }
  void CongestionControl(std::string_view key, const std::string& value) {
    Add(key, value);
  }
  template <class Part>
  void Map(std::string_view key, Part& value) {
    Writer part;
    Visit(value, part);
    lines_.push_back(fmt::format("{}:", key));
    for (const std::string& line : part.lines_) lines_.push_back("  " + line);
  }
  template <class Item>
  void List(std::string_view key, std::vector<Item>& value) {
    lines_.push_back(fmt::format("{}:{}", key, value.empty() ? " []" : ""));
    for (Item& item : value) {
      Writer fields;
      Visit(item, fields);
      std::string line;
      for (const std::string& field : fields.lines_) {
        line += (line.empty() ? "  - {" : ", ") + field;
      }
      lines_.push_back(line + '}');
    }
  }
  void Inherit(const SwitchOptions& /*from*/, const SwitchOptions& /*to*/) {}

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
  }

  // Returns the lines by their key, such as "nic.window". Lines that are
  // indented further belong to the key before them.
  std::map<std::string, std::string> ValuesByKey() const {
    std::map<std::string, std::string> values;
    std::string section;
    std::string key;
    for (const std::string& line : lines_) {
      const size_t indent = line.find_first_not_of(' ');
      const std::string name = line.substr(indent, line.find(':') - indent);
      if (indent == 0) key = section = name;
      if (indent == 2 && line[indent] != '-') {
        key = fmt::format("{}.{}", section, name);
      }
      values[key] += line;
    }
    return values;
  }

 private:
  template <class Value>
  void Add(std::string_view key, const Value& value) {
    lines_.push_back(fmt::format("{}: {}", key, value));
  }

  std::vector<std::string> lines_;
};

// Returns the congestion control that runs, with the default parameters: those
// of `options` may be wrong, which is said later. Requires that there is one.
std::unique_ptr<CongestionControl> ControlOf(const PacketOptions& options) {
  const auto control = FindCongestionControl(options.congestion.name);
  return (*control)->make(CongestionOptions());
}

// Returns whether the congestion control that runs goes by ECN marks.
bool HeedsMarks(const PacketOptions& options) {
  return ControlOf(options)->heeds_marks();
}

// Returns whether the NIC decides what becomes of the packet that waits when a
// rate rises. Rates never change with UEC and without congestion control.
bool NicMovesPaces(const PacketOptions& options) {
  const std::string_view name = options.congestion.name;
  return name != NoCongestionControl::kName && name != Uec::kName &&
         !ControlOf(options)->paces_anew();
}

// Does the work of MissingFor() for what switches have for PFC alone.
std::string MissingForPfc(std::string_view key, const PacketOptions& options) {
  constexpr std::string_view kFields[] = {"reserve", "resume_offset",
                                          "headroom_factor", "headroom_extra"};
  const std::pair<std::string_view, bool> switches[] = {
      {"fabric", options.fabric.pfc}, {"nv_switch", options.nv_switch.pfc}};
  for (const auto& [name, has_pfc] : switches) {
    for (const std::string_view field : kFields) {
      if (has_pfc || key != fmt::format("{}.{}", name, field)) continue;
      return fmt::format("{}.pfc=true", name);
    }
  }
  return {};
}

// Returns the setting without which `key` changes nothing; "" if `options` have
// it, or if the key needs none.
std::string MissingFor(std::string_view key, const PacketOptions& options) {
  const NicOptions& nic = options.nic;
  const bool has_window = nic.window != WindowScope::kNone;
  const bool goes_back = nic.loss_recovery == LossRecovery::kGoBackN;
  const struct {
    std::string_view key;
    bool has_effect;
    std::string_view needs;
  } rules[] = {
      {"nic.window_factor", has_window, "nic.window=path or network"},
      {"nic.window_follows_rate", has_window, "nic.window=path or network"},
      {"nic.pace_follows_rate", NicMovesPaces(options),
       "congestion.name=dcqcn, dctcp, swift or timely"},
      {"nic.nack_interval", goes_back, "nic.loss_recovery=go-back-n"},
      {"nic.reorder_packets", !goes_back, "nic.loss_recovery=selective-repeat"},
      {"flowlet_gap", options.load_balancing == LoadBalancing::kFlowlet,
       "load_balancing=flowlet"},
  };
  for (const auto& rule : rules) {
    if (rule.key == key && !rule.has_effect) return std::string(rule.needs);
  }
  if (std::string needs = MissingForPfc(key, options); !needs.empty()) {
    return needs;
  }
  constexpr std::string_view kControls = "congestion.";
  if (key.substr(0, kControls.size()) != kControls) return {};
  key.remove_prefix(kControls.size());
  if (key == "name") return {};
  if (key != options.congestion.name) {
    return fmt::format("congestion.name={}", key);
  }
  const bool marks = options.fabric.ecn || options.nv_switch.ecn;
  if (!marks && HeedsMarks(options)) return "fabric.ecn=true";
  return {};
}

}  // namespace

bool IsNetworkFile(std::string_view contents) {
  TextReader reader("", contents);
  while (reader.NextLine()) {
    if (reader.tokens().empty()) continue;
    const std::string_view first = reader.tokens().front().text;
    if (first.front() == '#' || first == "---") continue;
    return first.substr(0, kMark.size()) == kMark || first.front() == '{';
  }
  return false;
}

absl::StatusOr<PacketOptions> ParseNetworkFile(std::string_view file,
                                               std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a network");
  fields.Integer(kMark, kVersion, kVersion);
  if (fields.has("link_events")) {
    fields.Error("link_events",
                 "link_events are gone: simai_simulator reads what happens to "
                 "links with --events");
  }
  PacketOptions options = DefaultNetwork();
  Reader reader(std::move(fields));
  Visit(options, reader);
  reader.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return options;
}

absl::Status SetNetworkValue(std::string_view setting, PacketOptions& options) {
  const size_t equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  const bool is_plain = std::all_of(setting.begin(), setting.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("._+-/%=").find(c) != std::string_view::npos;
  });
  if (equals == std::string_view::npos || key.empty() ||
      equals + 1 == setting.size() || !is_plain) {
    return absl::InvalidArgumentError(
        fmt::format("{}: expected KEY=VALUE, such as fabric.latency=300ns",
                    Quoted(setting)));
  }
  std::string text(setting.substr(equals + 1));
  std::string_view rest = key;
  while (true) {
    const size_t dot = rest.rfind('.');
    text = fmt::format(
        "{{{}: {}}}",
        dot == std::string_view::npos ? rest : rest.substr(dot + 1), text);
    if (dot == std::string_view::npos) break;
    rest = rest.substr(0, dot);
  }
  YamlDocument document(setting, text);
  Reader reader(document.Root("a network"), /*inherits=*/false);
  Visit(options, reader);
  reader.Close();
  return document.status();
}

absl::Status SetNetworkValues(absl::Span<const std::string> settings,
                              PacketOptions& options) {
  const PacketOptions before = options;
  for (const std::string& setting : settings) {
    ASTRA_RETURN_IF_ERROR(SetNetworkValue(setting, options));
  }
  for (const std::string& key : DifferentKeys(options, before)) {
    const std::string missing = MissingFor(key, options);
    if (missing.empty()) continue;
    return absl::InvalidArgumentError(
        fmt::format("{} has no effect without {}", key, missing));
  }
  return absl::OkStatus();
}

std::string WriteNetworkFile(const PacketOptions& options) {
  PacketOptions copy = options;  // Visit() needs variables.
  Writer writer;
  Visit(copy, writer);
  return fmt::format("{}: {}\n{}", kMark, kVersion, writer.text());
}

std::vector<std::string> DifferentKeys(const PacketOptions& a,
                                       const PacketOptions& b) {
  const auto values = [](const PacketOptions& options) {
    PacketOptions copy = options;
    Writer writer;
    Visit(copy, writer);
    return writer.ValuesByKey();
  };
  const std::map<std::string, std::string> of_a = values(a);
  const std::map<std::string, std::string> of_b = values(b);
  std::vector<std::string> keys;
  for (const auto& [key, value] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end() || other->second != value) keys.push_back(key);
  }
  for (const auto& [key, value] : of_b) {
    if (of_a.count(key) == 0) keys.push_back(key);
  }
  return keys;
}

absl::StatusOr<PacketOptions> ReadNetwork(const std::string& path,
                                          Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  if (IsNetworkFile(contents)) return ParseNetworkFile(path, contents);
  return ParseSimaiConf(path, contents, warnings);
}

absl::Status AtNetworkField(const std::optional<std::string>& path,
                            const absl::Status& error) {
  const std::string field = FieldOf(error);
  if (!path || field.empty()) return error;
  const absl::StatusOr<std::string> contents = ReadFile(*path);
  if (!contents.ok()) return error;
  const std::string message(error.message());
  if (!IsNetworkFile(*contents)) {
    return AtSimaiConfKey(*path, *contents, field, message);
  }
  YamlDocument document(*path, *contents);
  document.ErrorAt(field, message);
  return document.status();
}

}  // namespace astra
