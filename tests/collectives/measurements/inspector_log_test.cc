#include "collectives/measurements/inspector_log.h"

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// The example of NCCL, ext-profiler/inspector/README.md, on one line.
constexpr std::string_view kExample =
    R"({"header":{"id":"0x9e7a479f95a66c","rank":31,"n_ranks":32,"nnodes":4},)"
    R"("metadata":{"inspector_output_format_version":"v4.0",)"
    R"("git_rev":"75e61acda-dirty","rec_mechanism":"nccl_profiler_interface",)"
    R"("dump_timestamp_us":1749490229087081,"hostname":"a{\"","pid":468528},)"
    R"("coll_perf":{"coll":"ReduceScatter","coll_sn":129,)"
    R"("coll_msg_size_bytes":65536,"coll_exec_time_us":110,)"
    R"("coll_timing_source":"kernel_gpu","coll_algobw_gbs":19.065018,)"
    R"("coll_busbw_gbs":18.469236}})";

// Returns a line of a communicator of `ranks`, where `perf` is the text of
// coll_perf without its braces and timing source.
std::string Line(std::string_view ranks, std::string_view perf,
                 std::string_view source = "kernel_gpu") {
  return fmt::format(
      R"({{"header": {{"id": "0x1", "rank": 0, {}}}, "coll_perf": {{{}, )"
      R"("coll_timing_source": "{}"}}}})"
      "\n",
      ranks, perf, source);
}

std::string Call(std::string_view collective, std::string_view bytes,
                 std::string_view time_us = "9") {
  return fmt::format(
      R"("coll": "{}", "coll_sn": 1, "coll_msg_size_bytes": {}, )"
      R"("coll_exec_time_us": {})",
      collective, bytes, time_us);
}

constexpr std::string_view kEight = R"("n_ranks": 8, "nnodes": 1)";

InspectorRecord FirstOf(const std::string& contents) {
  return ValueOrDie(ParseInspectorLog("i", contents)).records.at(0);
}

// 32 parts of 65536 B in 110 us are the 19.065018 GB/s of the example.
TEST(InspectorLogTest, ReadsTheExampleOfNccl) {
  const InspectorLog log = ValueOrDie(ParseInspectorLog("i", kExample));
  ASSERT_EQ(log.records.size(), 1U);
  const InspectorRecord& record = log.records[0];
  EXPECT_EQ(record.problem, "");
  EXPECT_EQ(record.communicator, "0x9e7a479f95a66c");
  EXPECT_EQ(record.serial, 129);
  EXPECT_EQ(record.num_ranks, 32U);
  EXPECT_EQ(record.num_nodes, 4U);
  EXPECT_EQ(record.collective, CollectiveKind::kReduceScatter);
  EXPECT_EQ(record.size, MiB(2));
  EXPECT_EQ(record.time_us, 110);
  EXPECT_NEAR(static_cast<double>(record.size.count()) / 110e3, 19.065018,
              1e-6);
}

TEST(InspectorLogTest, SizesAreThoseOfNcclTests) {
  const auto size = [](std::string_view collective) {
    return FirstOf(Line(kEight, Call(collective, "1024"))).size;
  };
  EXPECT_EQ(size("AllReduce"), KiB(1));
  EXPECT_EQ(size("Broadcast"), KiB(1));
  EXPECT_EQ(size("Reduce"), KiB(1));
  EXPECT_EQ(size("SendRecv"), KiB(1));
  EXPECT_EQ(size("AllGather"), KiB(8));
  EXPECT_EQ(size("ReduceScatter"), KiB(8));
  EXPECT_EQ(size("All2All"), KiB(8));
}

TEST(InspectorLogTest, LinesWithoutTimesArePassedOver) {
  const InspectorLog log = ValueOrDie(ParseInspectorLog(
      "i", R"({"header":{"id":"0x1"},"dump_stats":{"coll_records":1}})"
           "\r\n\n" +
               Line(kEight, Call("AllReduce", "8192", "33.5")) + "  \n"));
  ASSERT_EQ(log.records.size(), 1U);
  EXPECT_EQ(log.records[0].time_us, 33.5);
}

TEST(InspectorLogTest, ARecordThatIsOfNoUseSaysWhy) {
  const auto problem = [](const std::string& contents) {
    return FirstOf(contents).problem;
  };
  EXPECT_EQ(
      problem(Line(R"("n_ranks": 8, "nnodes": 3)", Call("AllReduce", "1024"))),
      "8 ranks do not divide by 3 nodes");
  EXPECT_EQ(problem(Line(kEight, Call("AllGatherV", "1024"))),
            "unknown collective \"AllGatherV\"; did you mean \"all_gather\"? "
            "(known: all_reduce, all_gather, reduce_scatter, alltoall, "
            "sendrecv, broadcast, reduce, gather, scatter, dispatch, "
            "combine)");
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "0"))),
            "coll_msg_size_bytes is \"0\": expected a whole number from 1 to "
            "1125899906842624");
  // The bytes of an unknown type are -1 in NCCL, without a sign.
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "18446744073709551608"))),
            "coll_msg_size_bytes is \"18446744073709551608\": expected a whole "
            "number from 1 to 1125899906842624");
  EXPECT_EQ(problem(Line(kEight, Call("AllGather", "1125899906842624"))),
            "coll_msg_size_bytes is 1125899906842624 for each of 8 ranks: "
            "expected 1125899906842624 in all at most");
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "1024", "0"))),
            "coll_exec_time_us is \"0\": expected a number from 0.001 to "
            "1000000000000");
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "1024"), "collective_cpu")),
            "timed by the host, which cannot see the kernel");
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "1024"), "kernel_cpu")), "");
  EXPECT_EQ(problem(Line(kEight, Call("AllReduce", "1024"), "sundial")),
            "unknown coll_timing_source \"sundial\" (known: kernel_gpu, "
            "kernel_cpu, collective_cpu)");
  EXPECT_EQ(problem(R"({"header":{"id":"0x1","n_ranks":8,"nnodes":1},)"
                    R"("p2p_perf":{"p2p":"Send","p2p_sn":1,"p2p_peer":3}})"),
            "a send or a receive alone");
}

class BadInspectorLogTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInspectorLogTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseInspectorLog("i", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInspectorLogTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "i:1:1: no record of a collective: expected lines of NCCL's "
                 "inspector, with \"coll_perf\""},
        BadInput{"OtherJson", "{\"a\": 1}\n{}\n",
                 "i:3:1: no record of a collective: expected lines of NCCL's "
                 "inspector, with \"coll_perf\""},
        BadInput{"NoObject", "\n[1, 2]\n",
                 "i:2:1: unexpected \"[1, 2]\": expected a record of NCCL's "
                 "inspector, as one JSON object on a line"},
        BadInput{"CutOff", std::string(kExample) + "\n{\"header\":{\"id\":",
                 "i:2:1: not YAML: end of map flow not found"},
        BadInput{"TwoOnALine", "{\"a\": \"}\"}{\"b\": 2}\n",
                 "i:1:11: unexpected \"{\\\"b\\\": 2}\" behind the record: "
                 "expected one record on each line"},
        BadInput{"NoHeader", "{\"coll_perf\": {\"coll\": \"AllReduce\"}}",
                 "i:1:1: the header of a record has no \"id\""},
        BadInput{"NoRanks", Line("\"nnodes\": 1", Call("AllReduce", "1024")),
                 "i:1:12: the header of a record has no \"n_ranks\""},
        BadInput{"RanksBeyondAllLimits",
                 "\n" + Line("\"n_ranks\": 1048577, \"nnodes\": 1",
                             Call("AllReduce", "1024")),
                 "i:2:48: n_ranks is \"1048577\": expected a whole number from "
                 "1 to 1048576"},
        BadInput{"NoSize", Line(kEight, R"("coll": "AllReduce", "coll_sn": 1)"),
                 "i:1:78: coll_perf has no \"coll_msg_size_bytes\""},
        BadInput{"NoMapping",
                 R"({"header": {"id": "0x1", "n_ranks": 8, "nnodes": 1}, )"
                 R"("coll_perf": 7})",
                 "i:1:67: coll_perf is a value, expected a mapping"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
