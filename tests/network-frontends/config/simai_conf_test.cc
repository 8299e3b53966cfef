#include "network-frontends/config/simai_conf.h"

#include <string>

#include "network-frontends/config/network_file.h"
#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::ReadText;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PacketOptions Parsed(std::string_view contents) {
  Warnings warnings;
  return ValueOrDie(ParseSimaiConf("c", contents, &warnings));
}

TEST(SimaiConfTest, TheFileOfTheProjectIsSimAIsNetwork) {
  Warnings warnings;
  const PacketOptions o = ValueOrDie(ReadNetwork(
      ::astra::testing::SourcePath("inputs/networks/simai.conf"), &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(o.nic.payload, Bytes(9000));
  EXPECT_EQ(o.nic.header, Bytes(52));
  EXPECT_EQ(o.nic.ack, Bytes(60));
  EXPECT_EQ(o.nic.packets_per_ack, 1u);
  EXPECT_FALSE(o.nic.ack_has_priority);
  EXPECT_EQ(o.nic.window, WindowScope::kNetwork);
  EXPECT_EQ(o.nic.window_factor, 1);
  EXPECT_TRUE(o.nic.window_follows_rate);
  EXPECT_EQ(o.nic.queue_pairs, QueuePairs::kPerMessage);
  EXPECT_EQ(o.nic.completion, Completion::kAcknowledged);
  EXPECT_EQ(o.fabric.buffer, MiB(32));
  EXPECT_TRUE(o.fabric.ecn);
  EXPECT_TRUE(o.fabric.pfc);
  EXPECT_FALSE(o.nv_switch.ecn);
  EXPECT_EQ(o.nv_switch.buffer, MiB(32));
  ASSERT_THAT(o.fabric.ecn_thresholds, SizeIs(6));
  EXPECT_EQ(o.fabric.ecn_thresholds[3].rate, Gbps(200));
  EXPECT_EQ(o.fabric.ecn_thresholds[3].min_queue, Bytes(300'000));
  EXPECT_EQ(o.fabric.ecn_thresholds[3].max_queue, Bytes(1'200'000));
  EXPECT_EQ(o.fabric.ecn_thresholds[3].max_probability, 0.8);
  EXPECT_EQ(o.congestion.name, "dcqcn");
  EXPECT_EQ(o.congestion.of<Dcqcn>().alpha_interval, Microseconds(1));
  EXPECT_EQ(o.congestion.of<Dcqcn>().increase_interval, Microseconds(900));
  EXPECT_EQ(o.congestion.of<Dcqcn>().additive_increase, Mbps(50));
  EXPECT_EQ(o.congestion.of<Dcqcn>().hyper_increase, Mbps(100));
  EXPECT_EQ(o.congestion.of<Dctcp>().additive_increase, Mbps(1000));
  EXPECT_EQ(o.congestion.of<Hpcc>().max_stages, 0u);
  EXPECT_EQ(o.congestion.of<HpccPint>().hpcc.max_stages, 0u);
  EXPECT_THAT(o.link_events, IsEmpty());
  EXPECT_EQ(o.time_resolution, Nanoseconds(1));
  EXPECT_EQ(o.ecmp_hash, EcmpHash::kSimai);
}

TEST(SimaiConfTest, CcModesHaveNames) {
  EXPECT_EQ(Parsed("CC_MODE 1").congestion.name, "dcqcn");
  EXPECT_EQ(Parsed("CC_MODE 3").congestion.name, "hpcc");
  EXPECT_EQ(Parsed("CC_MODE 7").congestion.name, "timely");
  EXPECT_EQ(Parsed("CC_MODE 8").congestion.name, "dctcp");
  EXPECT_EQ(Parsed("CC_MODE 10").congestion.name, "hpcc_pint");
}

TEST(SimaiConfTest, AcksAnswerWholePackets) {
  const auto packets_per_ack = [](std::string_view interval) {
    return Parsed(fmt::format("PACKET_PAYLOAD_SIZE 1000\nL2_ACK_INTERVAL {}\n",
                              interval))
        .nic.packets_per_ack;
  };
  EXPECT_EQ(packets_per_ack("0"), 1u);
  EXPECT_EQ(packets_per_ack("1000"), 1u);
  EXPECT_EQ(packets_per_ack("1001"), 2u);
}

TEST(SimaiConfTest, ALinkGoesDownWhereATimeIsGiven) {
  EXPECT_THAT(Parsed("LINK_DOWN 0 0 0").link_events, IsEmpty());
  const PacketOptions o = Parsed("LINK_DOWN 25 3 12");
  ASSERT_THAT(o.link_events, SizeIs(1));
  EXPECT_EQ(o.link_events[0].time, Microseconds(25));
  EXPECT_EQ(o.link_events[0].a, NodeId(3));
  EXPECT_EQ(o.link_events[0].b, NodeId(12));
  EXPECT_EQ(o.link_events[0].rate_factor, 0);
}

TEST(SimaiConfTest, SamplesAreTakenAtTheShorterInterval) {
  EXPECT_FALSE(Parsed("").record.sample_interval.has_value());
  EXPECT_EQ(Parsed("QP_MON_INTERVAL 100\nQLEN_MON_INTERVAL 10000")
                .record.sample_interval,
            Microseconds(100));
  const RecordOptions record =
      Parsed("MON_START 7\nQLEN_MON_INTERVAL 0.5").record;
  EXPECT_EQ(record.sample_interval, Nanoseconds(500));
  EXPECT_EQ(record.sample_start, Microseconds(7));
}

TEST(SimaiConfTest, OneWarningNamesWhatHasNoEffect) {
  Warnings warnings;
  ValueOrDie(ParseSimaiConf("c",
                            "# as SimAI has it\r\n"
                            "FLOW_FILE /etc/flow1.txt # of ns-3\r\n"
                            "CC_MODE 3\r\n\r\n"
                            "GLOBAL_T 0\r\n"
                            "SIMULATOR_STOP_TIME 40000000000000.00\r\n",
                            &warnings));
  EXPECT_THAT(warnings, ElementsAre("c: no effect: FLOW_FILE, GLOBAL_T, "
                                    "SIMULATOR_STOP_TIME"));
}

class SimaiConfRefusesTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(SimaiConfRefusesTest, SaysWhatIsWrongAndWhere) {
  Warnings warnings;
  EXPECT_THAT(ParseSimaiConf("c", GetParam().contents, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

const BadInput kBadInputs[] = {
    {"UnknownKey", "\nCC_MODUS 1",
     "c:2:1: unknown key \"CC_MODUS\"; did you mean \"CC_MODE\"?"},
    {"UnknownMode", "CC_MODE 2",
     "c:1:9: CC_MODE is \"2\": expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 "
     "(DCTCP) or 10 (HPCC-PINT)"},
    {"NoValue", "CC_MODE # 1", "c:1:12: CC_MODE needs 1 value(s)"},
    {"TwoValues", "CC_MODE 1 3",
     "c:1:11: \"3\" after the 1 value(s) of CC_MODE"},
    {"TwiceTheKey", "HAS_WIN 1\nHAS_WIN 1",
     "c:2:1: \"HAS_WIN\" is there twice"},
    {"NoFlag", "HAS_WIN yes",
     "c:1:9: HAS_WIN is \"yes\": expected a whole number from 0 to 1"},
    {"NoRate", "RATE_AI 50",
     "c:1:9: RATE_AI: \"50\" is not a rate: expected a number and a unit, such "
     "as 400Gbps"},
    {"NotSupported", "L2_BACK_TO_ZERO 1",
     "c:1:17: L2_BACK_TO_ZERO is \"1\": expected 0, go back N"},
    {"NegativeTime", "RP_TIMER -1",
     "c:1:10: RP_TIMER is \"-1\": expected a number from 0 to 1000000000"},
    {"NoInterval", "QP_MON_INTERVAL 0",
     "c:1:17: QP_MON_INTERVAL is 0: expected microseconds above 0"},
    {"ShortMap", "KMAX_MAP 2 25000000000 400",
     "c:1:27: KMAX_MAP needs 5 value(s)"},
    {"RateTwice", "KMAX_MAP 2 25 400 25 500",
     "c:1:19: KMAX_MAP: rate 25 is there twice"},
    {"MapAlone", "KMAX_MAP 1 25 400", "c:1:1: KMAX_MAP without KMIN_MAP"},
    {"OtherRates", "KMIN_MAP 1 25 1\nKMAX_MAP 1 25 2\nPMAX_MAP 1 50 1\n",
     "c:3:1: PMAX_MAP has other rates than KMIN_MAP"},
    {"HalfALink", "LINK_DOWN 5 1", "c:1:14: LINK_DOWN needs 3 value(s)"},
};

INSTANTIATE_TEST_SUITE_P(Bad, SimaiConfRefusesTest,
                         ::testing::ValuesIn(kBadInputs),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
