#include "network-frontends/config/simai_conf.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "network-frontends/config/simai_conf_values.h"

namespace astra {
namespace {

// Keys that every file may have and that change nothing here. Some never had an
// effect in SimAI. The others name output files, whose names are our own here,
// or set details that this simulator does not model.
constexpr std::string_view kWithoutEffect[] = {
    "BW_MON_FILE",       "BW_MON_INTERVAL",
    "CNP_MON_FILE",      "DATA_RATE",
    "ENABLE_TRACE",      "FCT_OUTPUT_FILE",
    "FLOW_FILE",         "GLOBAL_T",
    "INT_MULTI",         "L2_CHUNK_SIZE",
    "LINK_DELAY",        "MON_END",
    "MULTI_RATE",        "NIC_TOTAL_PAUSE_TIME",
    "PAUSE_TIME",        "PFC_OUTPUT_FILE",
    "QLEN_MON_FILE",     "RATE_MON_FILE",
    "SAMPLE_FEEDBACK",   "SIMULATOR_STOP_TIME",
    "TOPOLOGY_FILE",     "TRACE_FILE",
    "TRACE_OUTPUT_FILE", "USE_DYNAMIC_PFC_THRESHOLD",
};

constexpr int64_t kMostMiB = 1 << 20;
constexpr int64_t kMostPayload = 65'536;
constexpr int64_t kBytesPerKb = 1'000;  // SimAI's kB in these keys.

// A value of "CC_MODE" and the name in congestion/registry.h.
struct Mode {
  int64_t number;
  std::string_view name;
};
constexpr Mode kModes[] = {
    {1, "dcqcn"}, {3, "hpcc"}, {7, "timely"}, {8, "dctcp"}, {10, "hpcc_pint"}};

// Values of the file before they are put together.
struct Conf {
  PacketOptions options = DefaultNetwork();
  int64_t ack_interval = 0;  // Bytes between acknowledgements.
  Bandwidth rate_increase = Mbps(50);
  Bandwidth hyper_increase = Mbps(100);
  Bandwidth min_rate = Mbps(100);
  double gain = 1.0 / 256;
  // K or probability by rate, from KMIN_MAP, KMAX_MAP and PMAX_MAP.
  std::array<std::optional<RateMap>, 3> ecn;
  std::array<Token, 3> ecn_keys;
  std::optional<TimePs> rate_interval;  // Interval of samples.
  std::optional<TimePs> queue_interval;
};

absl::Status ReadMode(const SimaiConfValues& values, Conf& conf) {
  int64_t number = 0;
  ASTRA_RETURN_IF_ERROR(values.One(0, SimaiConfValues::kMostSteps, &number));
  for (const Mode& mode : kModes) {
    if (mode.number != number) continue;
    conf.options.congestion.name = mode.name;
    return absl::OkStatus();
  }
  return values.Error(
      0, fmt::format("CC_MODE is \"{}\": expected 1 (DCQCN), 3 (HPCC), 7 "
                     "(TIMELY), 8 (DCTCP) or 10 (HPCC-PINT)",
                     number));
}

// Reads "LINK_DOWN". SimAI counts times from 2 s on, when nothing has begun
// yet; here they count from the start.
absl::Status ReadLinkDown(const SimaiConfValues& values, Conf& conf) {
  constexpr int64_t kMostNodes = int64_t{1} << 24;
  int64_t time = 0;
  int64_t a = 0;
  int64_t b = 0;
  ASTRA_RETURN_IF_ERROR(values.Expect(3));
  ASTRA_RETURN_IF_ERROR(
      values.Integer(0, 0, SimaiConfValues::kMostMicroseconds, &time));
  ASTRA_RETURN_IF_ERROR(values.Integer(1, 0, kMostNodes, &a));
  ASTRA_RETURN_IF_ERROR(values.Integer(2, 0, kMostNodes, &b));
  if (time == 0) return absl::OkStatus();
  conf.options.link_events = {{.time = Microseconds(time),
                               .a = NodeId(static_cast<uint32_t>(a)),
                               .b = NodeId(static_cast<uint32_t>(b)),
                               .rate_factor = 0}};
  return absl::OkStatus();
}

absl::Status ReadBuffer(const SimaiConfValues& values, Conf& conf) {
  int64_t mib = 0;
  ASTRA_RETURN_IF_ERROR(values.One(1, kMostMiB, &mib));
  conf.options.fabric.buffer = MiB(mib);
  return absl::OkStatus();
}

absl::Status ReadPayload(const SimaiConfValues& values, Conf& conf) {
  int64_t bytes = 0;
  ASTRA_RETURN_IF_ERROR(values.One(1, kMostPayload, &bytes));
  conf.options.nic.payload = Bytes(bytes);
  return absl::OkStatus();
}

absl::Status ReadWindow(const SimaiConfValues& values, Conf& conf) {
  bool has_window = false;
  ASTRA_RETURN_IF_ERROR(values.One(&has_window));
  conf.options.nic.window =
      has_window ? WindowScope::kNetwork : WindowScope::kNone;
  return absl::OkStatus();
}

// Accepts only `number`, the value that this simulator models.
absl::Status Only(const SimaiConfValues& values, int64_t number,
                  std::string_view why) {
  int64_t value = 0;
  ASTRA_RETURN_IF_ERROR(values.One(0, 1, &value));
  if (value == number) return absl::OkStatus();
  return values.Error(0, fmt::format("{} is \"{}\": expected {}, {}",
                                     values.key().text, value, number, why));
}

absl::Status ReadInterval(const SimaiConfValues& values,
                          std::optional<TimePs>& interval) {
  ASTRA_RETURN_IF_ERROR(values.One(&interval.emplace()));
  if (*interval > TimePs(0)) return absl::OkStatus();
  return values.Error(0, fmt::format("{} is 0: expected microseconds above 0",
                                     values.key().text));
}

template <size_t which>
absl::Status ReadEcn(const SimaiConfValues& values, Conf& conf) {
  constexpr double kMax = which == 2 ? 1 : 1e9;
  conf.ecn_keys[which] = values.key();
  return values.Map(kMax, &conf.ecn[which]);
}

struct Key {
  std::string_view name;
  absl::Status (*read)(const SimaiConfValues& values, Conf& conf);
};

// In the lambdas, `v` has the values of the key and `c` is what they change.
constexpr Key kKeys[] = {
    {"ACK_HIGH_PRIO",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.nic.ack_has_priority);
     }},
    {"ALPHA_RESUME_INTERVAL",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dcqcn>().alpha_interval);
     }},
    {"BUFFER_SIZE", &ReadBuffer},
    {"CC_MODE", &ReadMode},
    {"CLAMP_TARGET_RATE",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dcqcn>().clamp_target_rate);
     }},
    {"DCTCP_RATE_AI",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dctcp>().additive_increase);
     }},
    {"ENABLE_QCN", [](const SimaiConfValues& v,
                      Conf& c) { return v.One(&c.options.fabric.ecn); }},
    {"ERROR_RATE_PER_LINK",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(0.0, 1.0, &c.options.error_rate);
     }},
    {"EWMA_GAIN", [](const SimaiConfValues& v,
                     Conf& c) { return v.One(0.0, 1.0, &c.gain); }},
    {"FAST_REACT",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Hpcc>().fast_react);
     }},
    {"FAST_RECOVERY_TIMES",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dcqcn>().fast_recovery_steps);
     }},
    {"HAS_WIN", &ReadWindow},
    {"KMAX_MAP", &ReadEcn<1>},
    {"KMIN_MAP", &ReadEcn<0>},
    {"L2_ACK_INTERVAL",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(int64_t{0}, SimaiConfValues::kMostSteps, &c.ack_interval);
     }},
    {"L2_BACK_TO_ZERO",
     [](const SimaiConfValues& v, Conf&) { return Only(v, 0, "go back N"); }},
    {"LINK_DOWN", &ReadLinkDown},
    {"MIN_RATE",
     [](const SimaiConfValues& v, Conf& c) { return v.One(&c.min_rate); }},
    {"MI_THRESH",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Hpcc>().max_stages);
     }},
    {"MON_START",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.record.sample_start);
     }},
    {"PACKET_PAYLOAD_SIZE", &ReadPayload},
    {"PINT_LOG_BASE",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(1.0, 1e6, &c.options.congestion.of<HpccPint>().log_base);
     }},
    {"PINT_PROB",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(0.0, 1.0,
                    &c.options.congestion.of<HpccPint>().sampling_share);
     }},
    {"PMAX_MAP", &ReadEcn<2>},
    {"QLEN_MON_INTERVAL",
     [](const SimaiConfValues& v, Conf& c) {
       return ReadInterval(v, c.queue_interval);
     }},
    {"QP_MON_INTERVAL",
     [](const SimaiConfValues& v, Conf& c) {
       return ReadInterval(v, c.rate_interval);
     }},
    {"RATE_AI",
     [](const SimaiConfValues& v, Conf& c) { return v.One(&c.rate_increase); }},
    {"RATE_BOUND",
     [](const SimaiConfValues& v, Conf&) {
       return Only(v, 1, "since senders keep to their rates");
     }},
    {"RATE_DECREASE_INTERVAL",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dcqcn>().decrease_interval);
     }},
    {"RATE_HAI", [](const SimaiConfValues& v,
                    Conf& c) { return v.One(&c.hyper_increase); }},
    {"RP_TIMER",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.congestion.of<Dcqcn>().increase_interval);
     }},
    {"U_TARGET",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(0.0, 1.0,
                    &c.options.congestion.of<Hpcc>().target_utilization);
     }},
    {"VAR_WIN",
     [](const SimaiConfValues& v, Conf& c) {
       return v.One(&c.options.nic.window_follows_rate);
     }},
};

// Returns the values that SimAI has where its file says nothing.
Conf SimaiDefaults() {
  Conf conf;
  conf.options.time_resolution = Nanoseconds(1);
  conf.options.ecmp_hash = EcmpHash::kSimai;
  NicOptions& nic = conf.options.nic;
  nic.payload = Bytes(1000);
  nic.header = Bytes(52);
  nic.ack = Bytes(60);
  nic.ack_has_priority = false;
  nic.window = WindowScope::kNetwork;
  nic.window_factor = 1;
  nic.queue_pairs = QueuePairs::kPerMessage;
  nic.completion = Completion::kAcknowledged;
  nic.loss_recovery = LossRecovery::kGoBackN;
  nic.nack_interval = Microseconds(500);
  SwitchOptions& fabric = conf.options.fabric;
  fabric.buffer = MiB(16);
  fabric.buffer_share = 1.0 / 8;  // SimAI shifts by 3.
  fabric.reserve = KiB(4);
  fabric.resume_offset = KiB(3);
  fabric.headroom_factor = 3;
  fabric.headroom_extra = Bytes(0);
  DcqcnOptions& dcqcn = conf.options.congestion.of<Dcqcn>();
  dcqcn.alpha_interval = Microseconds(55);
  dcqcn.decrease_interval = Microseconds(4);
  dcqcn.increase_interval = Microseconds(900);
  dcqcn.fast_recovery_steps = 5;
  dcqcn.clamp_target_rate = false;
  conf.options.congestion.of<Dctcp>().additive_increase = Mbps(1000);
  return conf;
}

absl::Status PutEcn(std::string_view file, const Conf& conf,
                    PacketOptions& options) {
  constexpr std::array<std::string_view, 3> kNames = {"KMIN_MAP", "KMAX_MAP",
                                                      "PMAX_MAP"};
  const auto place = [&](size_t which) {
    return fmt::format("{}:{}:{}", file, conf.ecn_keys[which].line,
                       conf.ecn_keys[which].column);
  };
  const auto given =
      std::find_if(conf.ecn.begin(), conf.ecn.end(),
                   [](const auto& map) { return map.has_value(); });
  if (given == conf.ecn.end()) return absl::OkStatus();
  const auto first = static_cast<size_t>(given - conf.ecn.begin());
  for (size_t other = 0; other < conf.ecn.size(); ++other) {
    if (!conf.ecn[other]) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: {} without {}", place(first), kNames[first], kNames[other]));
    }
    for (const auto& [rate, _] : **given) {
      if (conf.ecn[other]->count(rate) > 0 &&
          conf.ecn[other]->size() == (*given)->size()) {
        continue;
      }
      return absl::InvalidArgumentError(
          fmt::format("{}: {} has other rates than {}", place(other),
                      kNames[other], kNames[first]));
    }
  }
  const auto size = [](double kb) {
    return Bytes(static_cast<int64_t>(kb * kBytesPerKb));
  };
  options.fabric.ecn_thresholds.clear();
  for (const auto& [rate, min] : *conf.ecn[0]) {
    options.fabric.ecn_thresholds.push_back(
        {.rate = Bandwidth(rate),
         .min_queue = size(min),
         .max_queue = size(conf.ecn[1]->at(rate)),
         .max_probability = conf.ecn[2]->at(rate)});
  }
  return absl::OkStatus();
}

// Copies values of keys that serve several congestion controls.
void PutCongestion(const Conf& conf, CongestionOptions& congestion) {
  congestion.of<Dcqcn>().gain = conf.gain;
  congestion.of<Dctcp>().gain = conf.gain;
  congestion.of<Dcqcn>().additive_increase = conf.rate_increase;
  congestion.of<Hpcc>().additive_increase = conf.rate_increase;
  congestion.of<Timely>().additive_increase = conf.rate_increase;
  congestion.of<Dcqcn>().hyper_increase = conf.hyper_increase;
  congestion.of<Timely>().hyper_increase = conf.hyper_increase;
  congestion.of<Dcqcn>().min_rate = conf.min_rate;
  congestion.of<Hpcc>().min_rate = conf.min_rate;
  congestion.of<Timely>().min_rate = conf.min_rate;
  congestion.of<Dctcp>().min_rate = conf.min_rate;
  congestion.of<HpccPint>().hpcc = congestion.of<Hpcc>();
}

absl::StatusOr<PacketOptions> PutTogether(std::string_view file,
                                          const Conf& conf) {
  PacketOptions options = conf.options;
  ASTRA_RETURN_IF_ERROR(PutEcn(file, conf, options));
  PutCongestion(conf, options.congestion);
  const int64_t payload = options.nic.payload.count();
  options.nic.packets_per_ack = static_cast<uint32_t>(
      std::max<int64_t>(1, (conf.ack_interval + payload - 1) / payload));
  options.nv_switch = options.fabric;
  options.nv_switch.ecn = false;
  // All samples share one interval, the shorter of the two.
  options.record.sample_interval = conf.rate_interval;
  if (conf.queue_interval) {
    options.record.sample_interval = std::min(
        conf.queue_interval, conf.rate_interval,
        [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
  }
  return options;
}

absl::Status UnknownKey(const TextReader& reader, const Token& token) {
  std::vector<std::string_view> names(std::begin(kWithoutEffect),
                                      std::end(kWithoutEffect));
  for (const Key& key : kKeys) names.push_back(key.name);
  return reader.Error(token, fmt::format("unknown key {}{}", Quoted(token.text),
                                         DidYouMean(token.text, names)));
}

// Returns the tokens of a line before its comment.
absl::Span<const Token> WithoutComment(absl::Span<const Token> tokens) {
  const auto comment = std::find_if(
      tokens.begin(), tokens.end(),
      [](const Token& token) { return token.text.front() == '#'; });
  return tokens.first(static_cast<size_t>(comment - tokens.begin()));
}

}  // namespace

absl::StatusOr<PacketOptions> ParseSimaiConf(std::string_view file,
                                             std::string_view contents,
                                             Warnings* warnings) {
  TextReader reader(file, contents);
  Conf conf = SimaiDefaults();
  std::set<std::string_view> seen;
  std::vector<std::string_view> without_effect;
  while (reader.NextLine()) {
    const absl::Span<const Token> tokens = WithoutComment(reader.tokens());
    if (tokens.empty()) continue;
    const Token& name = tokens.front();
    if (!seen.insert(name.text).second) {
      return reader.Error(name,
                          fmt::format("{} is there twice", Quoted(name.text)));
    }
    const auto key =
        std::find_if(std::begin(kKeys), std::end(kKeys),
                     [&](const Key& k) { return k.name == name.text; });
    if (key != std::end(kKeys)) {
      ASTRA_RETURN_IF_ERROR(key->read(SimaiConfValues(reader, tokens), conf));
    } else if (std::count(std::begin(kWithoutEffect), std::end(kWithoutEffect),
                          name.text) > 0) {
      without_effect.push_back(name.text);
    } else {
      return UnknownKey(reader, name);
    }
  }
  if (!without_effect.empty()) {
    warnings->push_back(fmt::format("{}: no effect: {}", file,
                                    fmt::join(without_effect, ", ")));
  }
  return PutTogether(file, conf);
}

absl::Status AtSimaiConfKey(std::string_view file, std::string_view contents,
                            std::string_view field, std::string_view message) {
  // Key of SimAI.conf by the end of the field's name or, for a list, a part of
  // it.
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"link_events", "LINK_DOWN"},
      {"ecn_thresholds", "KMIN_MAP"},
      {"alpha_interval", "ALPHA_RESUME_INTERVAL"},
      {"decrease_interval", "RATE_DECREASE_INTERVAL"},
      {"increase_interval", "RP_TIMER"},
      {"target_utilization", "U_TARGET"},
      {"min_rate", "MIN_RATE"},
      {"log_base", "PINT_LOG_BASE"},
      {"payload", "PACKET_PAYLOAD_SIZE"},
      {"time_resolution", "PACKET_PAYLOAD_SIZE"},
  };
  TextReader reader(file, contents);
  while (reader.NextLine()) {
    for (const auto& [part, key] : kNames) {
      if (!reader.tokens().empty() && reader.tokens().front().text == key &&
          field.find(part) != field.npos) {
        return reader.Error(reader.tokens().front(), message);
      }
    }
  }
  return reader.Error({.text = "", .line = 1, .column = 1}, message);
}

}  // namespace astra
