#include "astra-core/run/events_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_events";
constexpr int64_t kVersion = 1;
constexpr TimePs kLatest = Microseconds(1'000'000'000);
// Lowest speeds, and rates of links that are up: times then stay finite.
constexpr double kLeastShare = 1e-6;

// From `from` until `until`, a rate, a speed or a loss.
struct Interval {
  TimePs from;
  TimePs until = kLatest;
  double value = 1;
};

// How an event of cables repeats: for `length`, again after `every`.
struct Flaps {
  TimePs every;
  TimePs length;
};

// What is known of one cable, by its ends, the lower first.
struct Cable {
  std::vector<Interval> rates;
  std::vector<Interval> losses;
};

using Ends = std::pair<uint32_t, uint32_t>;

// What an event happens to.
enum class Target : uint8_t { kLink, kSwitch, kNic, kGpu, kServer };
constexpr std::array<std::string_view, 5> kTargets = {"link", "switch", "nic",
                                                      "gpu", "server"};
// What happens.
constexpr std::array<std::string_view, 5> kEffects = {"rate", "down", "loss",
                                                      "speed", "dead"};

class EventsReader {
 public:
  EventsReader(std::string_view file, std::string_view contents,
               const Topology& topology, double error_rate)
      : topology_(topology),
        error_rate_(error_rate),
        document_(file, contents) {}

  absl::StatusOr<RunEvents> Read() {
    YamlFields root = document_.Root("a file of events");
    root.Integer(kMark, kVersion, kVersion);
    events_.reroute_delay = ReadTime("reroute_delay", TimePs(), root);
    std::vector<YamlFields> list = root.Maps("events", "an event");
    if (list.empty()) root.Error("events", "expected at least one event");
    for (YamlFields& fields : list) ReadEvent(fields);
    root.Close();
    if (!document_.status().ok()) return document_.status();
    AddLinks();
    AddSpeeds();
    return std::move(events_);
  }

 private:
  static TimePs ReadTime(std::string_view key, TimePs otherwise,
                         YamlFields& fields) {
    const std::string text = fields.TextOr(key, "");
    if (!fields.has(key)) return otherwise;
    const absl::StatusOr<TimePs> time = ParseTime(text);
    if (time.ok() && *time < kLatest) return *time;
    fields.Error(key, time.ok() ? "expected less than 1000 s"
                                : std::string(time.status().message()));
    return otherwise;
  }

  // Returns the one of `names` that the event has. All of them count as known.
  static std::optional<size_t> OnlyOne(absl::Span<const std::string_view> names,
                                       YamlFields& fields) {
    std::optional<size_t> found;
    for (size_t i = 0; i < names.size(); ++i) {
      if (fields.Value(names[i]) == nullptr) continue;
      if (found) {
        fields.Error(names[i], fmt::format("expected only one of {}",
                                           fmt::join(names, ", ")));
      }
      found = i;
    }
    if (!found) {
      fields.Missing(names,
                     fmt::format("expected one of {}", fmt::join(names, ", ")));
    }
    return found;
  }

  void ReadEvent(YamlFields& fields) {
    Interval when;
    when.from = ReadTime("from", TimePs(), fields);
    when.until = ReadTime("until", kLatest, fields);
    if (when.until <= when.from) fields.Error("until", "expected after from");
    const Flaps flaps = {ReadTime("every", TimePs(), fields),
                         ReadTime("for", TimePs(), fields)};
    const std::optional<size_t> target = OnlyOne(kTargets, fields);
    const std::optional<size_t> effect = OnlyOne(kEffects, fields);
    if (target && effect) {
      const bool is_of_gpus = *target >= static_cast<size_t>(Target::kGpu);
      if (is_of_gpus) {
        ReadSpeed(static_cast<Target>(*target), when, fields);
      } else {
        ReadRate(static_cast<Target>(*target), when, flaps, fields);
      }
    }
    fields.Close();
  }

  static void RefuseEffects(std::initializer_list<std::string_view> effects,
                            std::string_view of, YamlFields& fields) {
    for (const std::string_view effect : effects) {
      if (fields.has(effect)) {
        fields.Error(effect, fmt::format("a {} has none: expected {}", of,
                                         of == "gpu" || of == "server"
                                             ? "speed or dead"
                                             : "rate, down or loss"));
      }
    }
  }

  // Rates and speeds multiply, so 1 does not even end another event.
  static void RefuseOne(std::string_view key, double share,
                        YamlFields& fields) {
    if (share != 1) return;
    fields.Error(
        key,
        fmt::format("{} is 1, which changes nothing: expected below 1", key));
  }

  // Refuses a loss of 0 for cables that lose nothing anyway.
  void RefuseNoLoss(double loss, absl::Span<const Ends> cables,
                    YamlFields& fields) const {
    if (loss > 0 || error_rate_ > 0) return;
    for (const auto& [a, b] : cables) {
      for (const LinkId link : topology_.links_from(NodeId(a))) {
        if (topology_.link(link).target == NodeId(b) &&
            topology_.type(link).error_rate > 0) {
          return;
        }
      }
    }
    fields.Error("loss",
                 "loss is 0, which changes nothing on links that lose no "
                 "packets: expected above 0");
  }

  static void RequireTrue(std::string_view key, YamlFields& fields) {
    if (!fields.Bool(key)) fields.Error(key, "expected true");
  }

  void ReadSpeed(Target target, Interval when, YamlFields& fields) {
    const std::string_view name = kTargets[static_cast<size_t>(target)];
    RefuseEffects({"rate", "down", "loss"}, name, fields);
    for (const std::string_view key : {"every", "for"}) {
      if (fields.has(key)) {
        fields.Error(key, "only events of links, NICs and switches repeat");
      }
    }
    const std::vector<uint32_t> gpus = GpusOf(target, fields);
    std::string what = "dead";
    if (fields.has("dead")) {
      RequireTrue("dead", fields);
      if (fields.has("until")) fields.Error("until", "the dead stay dead");
      when.value = 0;
    } else if (fields.has("speed")) {
      when.value = fields.Number("speed", kLeastShare, 1);
      RefuseOne("speed", when.value, fields);
      what = fmt::format("at {:g} of its speed", when.value);
    }
    for (const uint32_t gpu : gpus) speeds_[gpu].push_back(when);
    const int64_t number = fields.IntegerOr(name, 0);
    Tell(when,
         fmt::format("{} {} {}", target == Target::kGpu ? "GPU" : "server",
                     number, what));
  }

  std::vector<uint32_t> GpusOf(Target target, YamlFields& fields) {
    if (target == Target::kGpu) {
      return {static_cast<uint32_t>(
          fields.Integer("gpu", 0, int64_t{topology_.num_gpus()} - 1))};
    }
    const uint32_t size = topology_.gpus_per_server();
    const auto server = static_cast<uint32_t>(
        fields.Integer("server", 0, int64_t{topology_.num_servers()} - 1));
    std::vector<uint32_t> gpus;
    for (uint32_t i = 0; i < size; ++i) gpus.push_back(server * size + i);
    return gpus;
  }

  void ReadRate(Target target, const Interval& when, const Flaps& flaps,
                YamlFields& fields) {
    RefuseEffects({"speed", "dead"}, kTargets[static_cast<size_t>(target)],
                  fields);
    std::string name;
    const std::vector<Ends> cables = CablesOf(target, &name, fields);
    std::vector<Interval> intervals = {when};
    std::string what;
    if (fields.has("loss")) {
      intervals[0].value = fields.Number("loss", 0, 1);
      RefuseNoLoss(intervals[0].value, cables, fields);
      events_.has_losses = true;
      what = fmt::format("loses {:g} of its packets", intervals[0].value);
    } else if (fields.has("down")) {
      RequireTrue("down", fields);
      intervals[0].value = 0;
      what = "down";
    } else if (fields.has("rate")) {
      intervals[0].value = fields.Number("rate", 0, 1);
      if (intervals[0].value > 0 && intervals[0].value < kLeastShare) {
        fields.Error("rate",
                     fmt::format("expected 0, or {} to 1", kLeastShare));
      }
      RefuseOne("rate", intervals[0].value, fields);
      what = fmt::format("at {:g} of its rate", intervals[0].value);
    }
    what += AddFlaps(when, flaps, &intervals, fields);
    for (const Ends& ends : cables) {
      Cable& cable = cables_[ends];
      std::vector<Interval>& list =
          fields.has("loss") ? cable.losses : cable.rates;
      list.insert(list.end(), intervals.begin(), intervals.end());
      num_changes_ += intervals.size();
    }
    if (num_changes_ > kMostEventChanges) {
      fields.Error(
          "", fmt::format("more than {} changes of cables", kMostEventChanges));
    }
    Tell(when, fmt::format("{} {}", name, what));
  }

  // Replaces the only interval by one for each flap. Returns what to say of it.
  std::string AddFlaps(const Interval& when, const Flaps& flaps,
                       std::vector<Interval>* intervals, YamlFields& fields) {
    const auto [every, length] = flaps;
    if (fields.has("every") != fields.has("for")) {
      fields.Error(fields.has("every") ? "every" : "for",
                   "expected every and for together");
      return {};
    }
    if (!fields.has("every")) return {};
    if (!fields.has("until")) {
      fields.Error("every", "expected until, when this ends");
      return {};
    }
    if (length == TimePs() || length >= every) {
      fields.Error("for", "expected above 0 and below every");
      return {};
    }
    if ((when.until - when.from).count() / every.count() >
        static_cast<int64_t>(kMostEventChanges)) {
      fields.Error("every", "expected fewer times until then");
      return {};
    }
    const double value = intervals->front().value;
    intervals->clear();
    for (TimePs from = when.from; from < when.until; from += every) {
      intervals->push_back({from, std::min(from + length, when.until), value});
    }
    return fmt::format(", for {:g} us every {:g} us", ToMicroseconds(length),
                       ToMicroseconds(every));
  }

  std::vector<Ends> CablesOf(Target target, std::string* name,
                             YamlFields& fields) {
    if (target == Target::kLink) return {LinkOf(name, fields)};
    const bool is_nic = target == Target::kNic;
    const std::string_view key = is_nic ? "nic" : "switch";
    const int64_t first = is_nic ? 0 : topology_.num_gpus();
    const int64_t last =
        int64_t{is_nic ? topology_.num_gpus() : topology_.first_storage()} - 1;
    const NodeId node(static_cast<uint32_t>(fields.Integer(key, first, last)));
    *name = (is_nic ? "NIC of " : "") + topology_.NodeName(node);
    std::set<Ends> cables;
    for (const LinkId link : topology_.links_from(node)) {
      const NodeId far = topology_.link(link).target;
      if (is_nic && topology_.kind(far) != NodeKind::kSwitch) continue;
      cables.insert(EndsOf(node, far));
    }
    if (cables.empty()) {
      fields.Error(key, fmt::format("{} has no cable to a switch outside of "
                                    "its server",
                                    topology_.NodeName(node)));
    }
    return {cables.begin(), cables.end()};
  }

  Ends LinkOf(std::string* name, YamlFields& fields) {
    std::array<uint32_t, 2> ends{};
    const std::vector<std::string> texts = fields.Texts("link");
    bool is_right = texts.size() == ends.size();
    for (size_t i = 0; is_right && i < ends.size(); ++i) {
      const absl::StatusOr<int64_t> node =
          ParseInteger("", texts[i], 0, int64_t{topology_.num_nodes()} - 1);
      is_right = node.ok();
      if (is_right) ends[i] = static_cast<uint32_t>(*node);
    }
    if (!is_right) {
      fields.Error("link", fmt::format("expected two nodes below {}, such as "
                                       "[3, 47]",
                                       topology_.num_nodes()));
      return {};
    }
    const NodeId a(ends[0]);
    const NodeId b(ends[1]);
    const absl::Span<const LinkId> links = topology_.links_from(a);
    const bool is_linked = std::any_of(
        links.begin(), links.end(),
        [&](LinkId link) { return topology_.link(link).target == b; });
    if (!is_linked) {
      fields.Error("link",
                   fmt::format("no cable connects {} and {}",
                               topology_.NodeName(a), topology_.NodeName(b)));
    }
    *name = fmt::format("link {} - {}", topology_.NodeName(a),
                        topology_.NodeName(b));
    return EndsOf(a, b);
  }

  static Ends EndsOf(NodeId a, NodeId b) {
    return std::minmax(a.index(), b.index());
  }

  void Tell(const Interval& when, const std::string& what) {
    std::string text = fmt::format("{} from {:.3f} ms", what,
                                   ToMicroseconds(when.from) * 1e-3);
    if (when.until < kLatest) {
      text +=
          fmt::format(" until {:.3f} ms", ToMicroseconds(when.until) * 1e-3);
    }
    events_.texts.push_back(std::move(text));
    events_.starts.push_back(when.from);
  }

  // All instants at which one of `intervals` begins or ends.
  static void AddBounds(const std::vector<Interval>& intervals,
                        std::set<TimePs>* bounds) {
    for (const Interval& interval : intervals) {
      bounds->insert(interval.from);
      if (interval.until < kLatest) bounds->insert(interval.until);
    }
  }

  // The values that hold at `time`, combined by `combine`.
  template <class Combine>
  static std::optional<double> At(TimePs time,
                                  const std::vector<Interval>& intervals,
                                  Combine combine) {
    std::optional<double> value;
    for (const Interval& interval : intervals) {
      if (time < interval.from || time >= interval.until) continue;
      value = value ? combine(*value, interval.value) : interval.value;
    }
    return value;
  }

  static double Product(double a, double b) {
    const double product = a * b;
    return product > 0 ? std::max(product, kLeastShare) : 0;
  }
  static double Larger(double a, double b) { return std::max(a, b); }

  void AddLinks() {
    for (const auto& [ends, cable] : cables_) {
      std::set<TimePs> bounds;
      AddBounds(cable.rates, &bounds);
      AddBounds(cable.losses, &bounds);
      for (const TimePs time : bounds) {
        events_.links.push_back(
            {.time = time,
             .a = NodeId(ends.first),
             .b = NodeId(ends.second),
             .rate_factor = At(time, cable.rates, Product).value_or(1),
             .error_rate = At(time, cable.losses, Larger)});
      }
    }
    std::stable_sort(
        events_.links.begin(), events_.links.end(),
        [](const LinkEvent& a, const LinkEvent& b) { return a.time < b.time; });
  }

  void AddSpeeds() {
    for (const auto& [gpu, intervals] : speeds_) {
      std::set<TimePs> bounds;
      AddBounds(intervals, &bounds);
      for (const TimePs time : bounds) {
        events_.speeds.push_back(
            {time, RankId(gpu), At(time, intervals, Product).value_or(1)});
      }
    }
    std::stable_sort(events_.speeds.begin(), events_.speeds.end(),
                     [](const SpeedChange& a, const SpeedChange& b) {
                       return a.time < b.time;
                     });
  }

  const Topology& topology_;
  const double error_rate_;
  YamlDocument document_;
  RunEvents events_;
  std::map<Ends, Cable> cables_;
  std::map<uint32_t, std::vector<Interval>> speeds_;  // By GPU.
  size_t num_changes_ = 0;
};

}  // namespace

absl::StatusOr<RunEvents> ParseEvents(std::string_view file,
                                      std::string_view contents,
                                      const Topology& topology,
                                      double error_rate) {
  return EventsReader(file, contents, topology, error_rate).Read();
}

}  // namespace astra
