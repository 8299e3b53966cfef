#include "network-frontends/config/network_file.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every field, none with its default.
const std::string kAll = ReadText(
    ::astra::testing::SourcePath("tests/fuzz/corpus/network_file/all.yaml"));

TEST(NetworkFileTest, EveryFieldIsReadAndWritten) {
  EXPECT_EQ(WriteNetworkFile(ValueOrDie(ParseNetworkFile("n", kAll))), kAll);
}

TEST(NetworkFileTest, SingleValuesAreSetByTheirKeys) {
  PacketOptions options = DefaultNetwork();
  for (const std::string setting :
       {"seed=7", "fabric.latency=300ns", "congestion.name=dctcp",
        "congestion.dcqcn.gain=0.25"}) {
    EXPECT_EQ(SetNetworkValue(setting, options), absl::OkStatus()) << setting;
  }
  EXPECT_EQ(DifferentKeys(options, DefaultNetwork()),
            std::vector<std::string>({"congestion.dcqcn", "congestion.name",
                                      "fabric.latency", "seed"}));
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.fabric.latency, Nanoseconds(300));
}

TEST(NetworkFileTest, WrongSettingsAreRefused) {
  PacketOptions options = DefaultNetwork();
  const auto message = [&](std::string_view setting) {
    return std::string(SetNetworkValue(setting, options).message());
  };
  EXPECT_EQ(message("seed"),
            "\"seed\": expected KEY=VALUE, such as fabric.latency=300ns");
  EXPECT_EQ(message("seed=1}"),
            "\"seed=1}\": expected KEY=VALUE, such as fabric.latency=300ns");
  EXPECT_THAT(message("fabric.latensy=1ns"),
              ::testing::HasSubstr("unknown field of fabric \"latensy\"; did "
                                   "you mean \"latency\"?"));
  EXPECT_EQ(WriteNetworkFile(options), WriteNetworkFile(DefaultNetwork()));
}

TEST(NetworkFileTest, SettingsWithoutEffectAreRefused) {
  const auto message = [](const std::vector<std::string>& settings) {
    PacketOptions options = DefaultNetwork();
    return std::string(SetNetworkValues(settings, options).message());
  };
  EXPECT_EQ(message({"nic.window=none", "nic.window_factor=3"}),
            "nic.window_factor has no effect without nic.window=path or "
            "network");
  EXPECT_EQ(message({"nic.window_factor=3", "nic.window=network"}), "");
  for (const std::string name : {"hpcc", "hpcc_pint", "none", "uec"}) {
    EXPECT_EQ(
        message({"nic.pace_follows_rate=true", "congestion.name=" + name}),
        "nic.pace_follows_rate has no effect without "
        "congestion.name=dcqcn, dctcp, swift or timely")
        << name;
  }
  for (const std::string name : {"dcqcn", "dctcp", "swift", "timely"}) {
    EXPECT_EQ(
        message({"nic.pace_follows_rate=true", "congestion.name=" + name}), "")
        << name;
  }
  EXPECT_EQ(message({"nic.reorder_packets=5"}),
            "nic.reorder_packets has no effect without "
            "nic.loss_recovery=selective-repeat");
  EXPECT_EQ(
      message({"nic.loss_recovery=selective-repeat", "nic.nack_interval=1us"}),
      "nic.nack_interval has no effect without nic.loss_recovery=go-back-n");
  EXPECT_EQ(message({"flowlet_gap=5us"}),
            "flowlet_gap has no effect without load_balancing=flowlet");
  EXPECT_EQ(message({"flowlet_gap=5us", "load_balancing=flowlet"}), "");
  EXPECT_EQ(message({"congestion.dctcp.gain=0.1"}),
            "congestion.dctcp has no effect without congestion.name=dctcp");
  EXPECT_EQ(message({"congestion.dctcp.gain=0.1", "congestion.name=dctcp"}),
            "");
  EXPECT_EQ(message({"fabric.ecn=false", "congestion.dcqcn.gain=0.1"}),
            "congestion.dcqcn has no effect without fabric.ecn=true");
  // What is wrong with a parameter is said by CheckPacketOptions.
  EXPECT_EQ(message({"congestion.dcqcn.decrease_interval=0ns"}), "");
  EXPECT_EQ(message({"fabric.pfc=false", "fabric.reserve=1KiB"}),
            "fabric.reserve has no effect without fabric.pfc=true");
  EXPECT_EQ(message({"fabric.pfc=false", "nv_switch.reserve=1KiB"}), "");
}

TEST(NetworkFileTest, AParameterOfTheFileMayLieIdle) {
  PacketOptions options = ValueOrDie(ParseNetworkFile(
      "n", "simai_network: 1\ncongestion: {dcqcn: {gain: 0.25}}\n"));
  EXPECT_EQ(SetNetworkValues({"congestion.name=hpcc"}, options),
            absl::OkStatus());
  EXPECT_EQ(options.congestion.name, "hpcc");
}

TEST(NetworkFileTest, SaysWithUnitsWhatItMeans) {
  const PacketOptions o = ValueOrDie(ParseNetworkFile(
      "n",
      "simai_network: 1\n"
      "nic: {payload: 9000B, window: network, completion: acknowledged}\n"
      "fabric:\n"
      "  latency: 0.6us\n"
      "  ecn_thresholds:\n"
      "    - {rate: 400Gbps, min_queue: 800kB, max_queue: 3200kB,\n"
      "       max_probability: 0.2}\n"
      "congestion: {name: swift, swift: {per_hop: 500ns}}\n"));
  EXPECT_EQ(o.nic.payload, Bytes(9000));
  EXPECT_EQ(o.nic.window, WindowScope::kNetwork);
  EXPECT_EQ(o.nic.completion, Completion::kAcknowledged);
  EXPECT_EQ(o.fabric.latency, Nanoseconds(600));
  ASSERT_THAT(o.fabric.ecn_thresholds, SizeIs(1));
  EXPECT_EQ(o.fabric.ecn_thresholds[0].min_queue, Bytes(800'000));
  EXPECT_EQ(o.congestion.name, "swift");
  EXPECT_EQ(o.congestion.of<Swift>().per_hop, Nanoseconds(500));
  EXPECT_EQ(o.record.flows_file, FlowsFile::kAuto);
}

TEST(NetworkFileTest, FlowsAreOneOfFourForms) {
  const auto form = [](const std::string& value) {
    return ParseNetworkFile(
        "n", "simai_network: 1\nrecord: {flows: " + value + "}\n");
  };
  EXPECT_EQ(ValueOrDie(form("each")).record.flows_file, FlowsFile::kEach);
  EXPECT_EQ(ValueOrDie(form("summary")).record.flows_file, FlowsFile::kSummary);
  EXPECT_EQ(ValueOrDie(form("false")).record.flows_file, FlowsFile::kNone);
  EXPECT_THAT(form("true"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "n:2:17: unknown flows \"true\" (known: auto, each, "
                       "summary, false)"));
}

TEST(NetworkFileTest, NvSwitchesAreAsTheFabricExceptForPfcAndEcn) {
  const PacketOptions o = ValueOrDie(
      ParseNetworkFile("n",
                       "simai_network: 1\n"
                       "nv_switch: {buffer: 1MiB}\n"
                       "fabric: {latency: 1us, buffer: 2MiB, pfc: false}\n"));
  EXPECT_EQ(o.nv_switch.latency, Microseconds(1));
  EXPECT_EQ(o.nv_switch.buffer, MiB(1));
  EXPECT_TRUE(o.nv_switch.pfc);
  EXPECT_FALSE(o.nv_switch.ecn);
}

TEST(NetworkFileTest, TheProjectsFileSaysTheDefaults) {
  Warnings warnings;
  const PacketOptions options = ValueOrDie(ReadNetwork(
      ::astra::testing::SourcePath("inputs/networks/roce.yaml"), &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(WriteNetworkFile(options), WriteNetworkFile(DefaultNetwork()));
}

TEST(NetworkFileTest, IsKnownByItsFirstKey) {
  EXPECT_TRUE(IsNetworkFile("# a comment\n\nsimai_network: 1\n"));
  EXPECT_TRUE(IsNetworkFile("---\nsimai_network: 1\n"));
  EXPECT_TRUE(IsNetworkFile("{simai_network: 1}"));
  EXPECT_FALSE(IsNetworkFile("# a comment\nCC_MODE 1\n"));
  EXPECT_FALSE(IsNetworkFile(""));
}

class NetworkFileRefusesTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(NetworkFileRefusesTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ParseNetworkFile("n", "simai_network: 1\n" + GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

const BadInput kBadInputs[] = {
    {"UnknownPart", "nics: {}",
     "n:2:7: unknown field of a network \"nics\"; did you mean \"nic\"? "
     "(known: background, congestion, ecmp_hash, error_rate, fabric, "
     "flowlet_gap, load_balancing, nic, nv_switch, record, seed, "
     "simai_network, time_resolution)"},
    {"UnknownField",
     "flowlet_gap: 1us\nbackground: [{source: 0, target: 1, bytes: 1kB, "
     "interval: 1us, start: 0us, stop: 1us, stopp: 2us}]",
     "n:3:94: unknown field of background \"stopp\"; did you mean \"stop\"? "
     "(known: bytes, interval, source, start, stop, target)"},
    {"EventsAreElsewhere", "link_events: []",
     "n:2:14: link_events are gone: simai_simulator reads what happens to "
     "links with --events"},
    {"UnknownChoice", "nic: {window: paths}",
     "n:2:15: unknown window \"paths\"; did you mean \"path\"? (known: none, "
     "path, network)"},
    {"NoUnit", "fabric: {latency: 5}",
     "n:2:19: latency: \"5\" is not a time: expected a number and a unit of s, "
     "ms, us, ns or ps, such as 500ns"},
    {"NoSize", "fabric: {buffer: 5}",
     "n:2:18: buffer: \"5\" is not a size: expected a whole number and a unit "
     "of B, kB, MB, GB, KiB, MiB or GiB, such as 64MiB"},
    {"TooLong", "flowlet_gap: 1001s",
     "n:2:14: flowlet_gap is \"1001s\": expected at most 1000s"},
    {"EmptyPacket", "nic: {payload: 0B}",
     "n:2:16: payload is \"0B\": expected 1B to 64KiB"},
    {"NoShare", "error_rate: 2",
     "n:2:13: error_rate is \"2\": expected a number from 0 to 1"},
    {"NoEnds", "background: [{bytes: 1kB}]",
     "n:2:14: background has no \"source\""},
    {"NoRate", "fabric: {ecn_thresholds: [{min_queue: 1kB}]}",
     "n:2:27: ecn_thresholds has no \"rate\""},
    {"NoSampling", "record: {sample_interval: 0us}",
     "n:2:27: sample_interval is \"0us\": expected 1ps to 1000s"},
};

INSTANTIATE_TEST_SUITE_P(Bad, NetworkFileRefusesTest,
                         ::testing::ValuesIn(kBadInputs),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
