#include "collectives/schedules/msccl_file.h"

#include <string>
#include <vector>

#include "collectives/schedules/schedule_file.h"
#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WithLine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kRing =
    ::astra::testing::SourcePath("inputs/schedules/ring_4.xml");

// "i0" stands for chunk 0 of the input; "tb.step" for what to wait for.
std::string Step(int s, std::string_view type, std::string_view source,
                 std::string_view target, int count = 1, int depid = -1,
                 int deps = -1) {
  return fmt::format(
      "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
      "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"0\"/>\n",
      s, type, source[0], source.substr(1), target[0], target.substr(1), count,
      depid, deps);
}

std::string Block(int id, int send, int receive,
                  const std::vector<std::string>& steps) {
  return fmt::format(
      "<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n{}"
      "</tb>\n",
      id, send, receive, fmt::join(steps, ""));
}

std::string Gpu(int id, int inputs, int outputs, int scratch,
                const std::vector<std::string>& blocks) {
  return fmt::format(
      "<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n{}"
      "</gpu>\n",
      id, inputs, outputs, scratch, fmt::join(blocks, ""));
}

std::string Algorithm(std::string_view kind, int chunks, bool is_in_place,
                      const std::vector<std::string>& gpus) {
  return fmt::format(
      "<algo name=\"toy\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"{}\" "
      "ngpus=\"{}\" coll=\"{}\" inplace=\"{}\">\n{}</algo>\n",
      chunks, gpus.size(), kind, is_in_place ? 1 : 0, fmt::join(gpus, ""));
}

absl::StatusOr<CustomSchedule> Parse(std::string_view contents) {
  Warnings warnings;
  return ParseMsccl("f", contents, &warnings);
}

// In step k, rank r sends chunk r - k; all but the first wait for its arrival.
TEST(MscclFile, RingOf4Gpus) {
  Warnings warnings;
  const CustomSchedule schedule = ValueOrDie(ReadMsccl(kRing, &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(schedule.name(), "ring");
  EXPECT_EQ(schedule.collective().kind, CollectiveKind::kAllReduce);
  ASSERT_EQ(schedule.flows().size(), 4 * 6);
  std::vector<uint32_t> step_of(24);
  for (uint32_t i = 0; i < 24; ++i) {
    const ScheduleFlow& flow = schedule.flows()[i];
    for (const uint32_t earlier : flow.after) {
      step_of[i] = step_of[earlier] + 1;
      EXPECT_EQ(schedule.flows()[earlier].target, flow.source);
      EXPECT_EQ(schedule.flows()[earlier].first_chunk, flow.first_chunk);
    }
    EXPECT_EQ(flow.after.size(), step_of[i] == 0 ? 0 : 1);
    const uint32_t rank = flow.source.index();
    EXPECT_EQ(flow.target, GroupRank((rank + 1) % 4));
    EXPECT_EQ(flow.first_chunk, ChunkId((rank + 8 - step_of[i]) % 4));
    EXPECT_EQ(flow.op, step_of[i] < 3 ? FlowOp::kReduce : FlowOp::kCopy);
  }
}

TEST(MscclFile, TheRingCanBeWrittenAsYaml) {
  Warnings warnings;
  const CustomSchedule schedule = ValueOrDie(ReadMsccl(kRing, &warnings));
  const std::string written = ValueOrDie(WriteSchedule(schedule));
  EXPECT_EQ(ValueOrDie(ParseSchedule("f", written)).flows(), schedule.flows());
}

// Out of place, through scratch: local steps send nothing, but what comes after
// them waits for what they read.
TEST(MscclFile, LocalStepsBecomeDependencies) {
  const CustomSchedule schedule = ValueOrDie(Parse(Algorithm(
      "allreduce", 1, false,
      {Gpu(0, 1, 1, 1,
           {Block(
                0, 1, 1,
                {Step(0, "r", "i0", "s0"), Step(1, "s", "o0", "o0", 1, 1, 1)}),
            Block(1, -1, -1,
                  {Step(0, "cpy", "i0", "o0"),
                   Step(1, "re", "s0", "o0", 1, 0, 0)})}),
       Gpu(1, 1, 1, 0,
           {Block(0, 0, 0,
                  {Step(0, "s", "i0", "s0"), Step(1, "r", "o0", "o0")})})})));
  ASSERT_EQ(schedule.flows().size(), 2);
  EXPECT_EQ(schedule.flows()[0].source, GroupRank(1));
  EXPECT_EQ(schedule.flows()[0].op, FlowOp::kReduce);
  EXPECT_EQ(schedule.flows()[1].op, FlowOp::kCopy);
  EXPECT_THAT(schedule.flows()[1].after, ElementsAre(0));
}

// Rank 0 sends both of its chunks only when both of rank 1's are there.
TEST(MscclFile, ANopWaitsForAnotherBlock) {
  const CustomSchedule schedule = ValueOrDie(Parse(Algorithm(
      "allgather", 4, true,
      {Gpu(0, 2, 4, 0,
           {Block(0, -1, 1,
                  {Step(0, "r", "o2", "o2"), Step(1, "r", "o3", "o3")}),
            Block(1, 1, -1,
                  {Step(0, "nop", "i-1", "o-1", 0, 0, 1),
                   Step(1, "s", "i0", "o0", 2)})}),
       Gpu(1, 2, 4, 0,
           {Block(0, 0, 0,
                  {Step(0, "s", "i0", "o2"), Step(1, "s", "i1", "o3"),
                   Step(2, "r", "o0", "o0", 2)})})})));
  ASSERT_EQ(schedule.flows().size(), 3);
  EXPECT_EQ(schedule.flows()[2].first_chunk, ChunkId(0));
  EXPECT_EQ(schedule.flows()[2].num_chunks, 2);
  // The first chunk came before it on the same connection.
  EXPECT_THAT(schedule.flows()[2].after, ElementsAre(1));
}

// Chunks 0 and 2 lie side by side in the scratch buffer only.
TEST(MscclFile, SplitsAMessageOfChunksThatAreNotConsecutive) {
  const CustomSchedule schedule = ValueOrDie(Parse(Algorithm(
      "broadcast", 3, true,
      {Gpu(0, 3, 3, 2,
           {Block(0, 1, -1,
                  {Step(0, "cpy", "i0", "s0"), Step(1, "cpy", "i2", "s1"),
                   Step(2, "s", "s0", "s0", 2), Step(3, "s", "i1", "o1")})}),
       Gpu(1, 3, 3, 2,
           {Block(
               0, -1, 0,
               {Step(0, "r", "s0", "s0", 2), Step(1, "r", "o1", "o1"),
                Step(2, "cpy", "s0", "o0"), Step(3, "cpy", "s1", "o2")})})})));
  ASSERT_EQ(schedule.flows().size(), 3);
  EXPECT_EQ(schedule.flows()[0].first_chunk, ChunkId(0));
  EXPECT_EQ(schedule.flows()[1].first_chunk, ChunkId(2));
  EXPECT_EQ(schedule.flows()[2].first_chunk, ChunkId(1));
}

// Chunk j of GPU i's input becomes chunk i of GPU j's output.
TEST(MscclFile, AllToAllOf2Gpus) {
  const auto gpu = [](int id) {
    const int peer = 1 - id;
    return Gpu(
        id, 2, 2, 0,
        {Block(0, peer, peer,
               {Step(0, "cpy", fmt::format("i{}", id), fmt::format("o{}", id)),
                Step(1, "s", fmt::format("i{}", peer), "o0"),
                Step(2, "r", "i0", fmt::format("o{}", peer))})});
  };
  const CustomSchedule schedule =
      ValueOrDie(Parse(Algorithm("alltoall", 2, false, {gpu(0), gpu(1)})));
  EXPECT_EQ(schedule.collective().num_chunks, 4);
  EXPECT_EQ(schedule.flows()[0].first_chunk, ChunkId(1));  // Of pair (0, 1).
  EXPECT_EQ(schedule.flows()[1].first_chunk, ChunkId(2));  // Of pair (1, 0).
}

// GPU 1's output is the second half of its input.
TEST(MscclFile, ReduceScatterInPlace) {
  const auto gpu = [](int id) {
    const int peer = 1 - id;
    return Gpu(id, 2, 1, 0,
               {Block(0, peer, peer,
                      {Step(0, "s", fmt::format("i{}", peer), "o0"),
                       Step(1, "rrc", fmt::format("i{}", id), "o0")})});
  };
  EXPECT_THAT(Parse(Algorithm("reduce_scatter", 2, true, {gpu(0), gpu(1)})),
              StatusIs(absl::StatusCode::kOk, ""));
}

// GPU 1 passes on what it got from GPU 0, without its own contribution.
TEST(MscclFile, SeveralCopiesOfAChunkCannotBeWrittenAsYaml) {
  const auto add = [](int s, std::string_view from) {
    return Step(s, "re", from, "i0");
  };
  const CustomSchedule schedule = ValueOrDie(Parse(Algorithm(
      "allreduce", 1, true,
      {Gpu(0, 1, 1, 2,
           {Block(0, 1, 2,
                  {Step(0, "s", "i0", "s0"), Step(1, "rcs", "s0", "s0"),
                   Step(2, "r", "s1", "s1"), add(3, "s0"), add(4, "s1")})}),
       Gpu(1, 1, 1, 2,
           {Block(0, 2, 0,
                  {Step(0, "s", "i0", "s0"), Step(1, "rcs", "s0", "s0"),
                   Step(2, "r", "s1", "s1"), add(3, "s0"), add(4, "s1")})}),
       Gpu(2, 1, 1, 2,
           {Block(0, 0, 1,
                  {Step(0, "s", "i0", "s0"), Step(1, "rcs", "s0", "s0"),
                   Step(2, "r", "s1", "s1"), add(3, "s0"), add(4, "s1")})})})));
  EXPECT_EQ(schedule.flows().size(), 6);
  EXPECT_THAT(WriteSchedule(schedule),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::StartsWith(
                           "schedule \"toy\" has more than one copy of a chunk "
                           "on a rank, or else is wrong: step ")));
}

constexpr std::string_view kPair =
    "<algo name=\"pair\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" "
    "ngpus=\"2\" coll=\"allgather\" inplace=\"1\">\n"
    "  <gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n"
    "    <tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n"
    "      <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
    "dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
    "dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "    </tb>\n"
    "  </gpu>\n"
    "  <gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n"
    "    <tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n"
    "      <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
    "dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "      <step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
    "dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
    "    </tb>\n"
    "  </gpu>\n"
    "</algo>\n";

// kPair with `from` as `to` in line `number`.
std::string Edit(size_t number, std::string_view from, std::string_view to) {
  std::string line(testing::SplitLines(kPair)[number - 1]);
  line.pop_back();
  const size_t found = line.find(from);
  ASTRA_CHECK(found != std::string::npos, "{}", from);
  return WithLine(kPair, number, line.replace(found, from.size(), to));
}

TEST(MscclFile, WarnsOnceOfWhatIsNotKnown) {
  Warnings warnings;
  const std::string file = Edit(3, "chan=\"0\"", "chan=\"0\" rbid=\"2\"");
  EXPECT_THAT(ParseMsccl("f", Edit(1, "proto", "speed=\"1\" proto"), &warnings),
              StatusIs(absl::StatusCode::kOk, ""));
  EXPECT_THAT(ParseMsccl("f", file, &warnings),
              StatusIs(absl::StatusCode::kOk, ""));
  EXPECT_THAT(ParseMsccl("f", WithLine(kPair, 6, "</tb><op/><op/>"), &warnings),
              StatusIs(absl::StatusCode::kOk, ""));
  EXPECT_THAT(
      warnings,
      ElementsAre("f:1:1: attribute \"speed\" of <algo> is not known and has "
                  "no effect",
                  "f:3:5: attribute \"rbid\" of <tb> is not known and has no "
                  "effect",
                  "f:6:6: element \"op\" is not known and has no effect"));
}

class BadAlgorithm : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadAlgorithm, IsRefused) {
  EXPECT_THAT(Parse(GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadAlgorithm,
    ::testing::Values(
        BadInput{"Empty", "", "f:1:1: not XML: No document element found"},
        BadInput{"NotClosed", "<algo>\n<gpu>\n</algo>",
                 "f:3:3: not XML: Start-end tags mismatch"},
        BadInput{"ZeroByte", std::string("<algo>\n\0</algo>", 15),
                 "f:2:1: not XML: a zero byte"},
        BadInput{"OtherRoot", "<system/>", "f:1:1: there is no <algo>"},
        BadInput{"TwoRoots", "<algo/>\n<algo/>", "f:2:1: a second <algo>"},
        BadInput{"NoName", Edit(1, "name=\"pair\" ", ""),
                 "f:1:1: <algo> has no \"name\": expected a name"},
        BadInput{"UnknownKind", Edit(1, "allgather", "allgathr"),
                 "f:1:1: <algo>: unknown coll \"allgathr\"; did you mean "
                 "\"allgather\"? (known: allreduce, allgather, reduce_scatter, "
                 "reducescatter, alltoall, broadcast, reduce)"},
        BadInput{"TooManyGpus", Edit(1, "ngpus=\"2\"", "ngpus=\"2000\""),
                 "f:1:1: <algo>: ngpus is \"2000\": expected a whole number "
                 "from 2 to 1024"},
        BadInput{"ChunksOfNoGpu",
                 Edit(1, "nchunksperloop=\"2\"", "nchunksperloop=\"3\""),
                 "f:1:1: nchunksperloop is 3: expected a multiple of the 2 "
                 "GPUs"},
        BadInput{"MissingGpu",
                 "<algo name=\"n\" coll=\"reduce\" ngpus=\"2\" "
                 "nchunksperloop=\"1\" nchannels=\"1\" inplace=\"1\"/>",
                 "f:1:1: there is no <gpu> with the id 0"},
        BadInput{"InputOfAnotherSize",
                 Edit(1, "ngpus=\"2\" coll=\"allgather\"",
                      "ngpus=\"3\" coll=\"allreduce\""),
                 "f:2:3: <gpu>: i_chunks is 1: expected 2, of nchunksperloop "
                 "and coll"},
        BadInput{"GpuTwice", Edit(8, "id=\"1\"", "id=\"0\""),
                 "f:8:3: gpu 0 is there twice"},
        BadInput{"ItsOwnPeer", Edit(3, "recv=\"1\"", "recv=\"0\""),
                 "f:3:5: <tb>: gpu 0 is its own peer"},
        BadInput{"AttributeTwice", Edit(3, "chan=\"0\"", "chan=\"0\" id=\"1\""),
                 "f:3:5: <tb> has \"id\" twice"}),
    [](const auto& bad) { return bad.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Steps, BadAlgorithm,
    ::testing::Values(
        BadInput{"NoType", Edit(4, "type=\"s\" ", ""),
                 "f:4:7: <step> has no \"type\": expected one of s, r, rcs, "
                 "rrs, rrc, rrcs, cpy, re, nop"},
        BadInput{"UnknownType", Edit(4, "type=\"s\"", "type=\"rrx\""),
                 "f:4:7: <step>: unknown type \"rrx\"; did you mean \"rrs\"? "
                 "(known: s, r, rcs, rrs, rrc, rrcs, cpy, re, nop)"},
        BadInput{"NoCount", Edit(4, "cnt=\"1\" ", ""),
                 "f:4:7: <step> has no \"cnt\": expected a whole number from 1 "
                 "to 65536"},
        BadInput{"OutOfOrder", Edit(5, "s=\"1\"", "s=\"2\""),
                 "f:5:7: <step>: s is \"2\": expected a whole number from 1 to "
                 "1"},
        BadInput{"BeyondTheBuffer", Edit(4, "srcoff=\"0\"", "srcoff=\"1\""),
                 "f:4:7: <step>: srcoff is 1 with 1 chunk(s): buffer \"i\" has "
                 "1"},
        BadInput{"NoPeer", Edit(3, "send=\"1\"", "send=\"-1\""),
                 "f:4:7: a step that sends in a <tb> with send=\"-1\""},
        BadInput{"NoSuchBlock",
                 Edit(5, "depid=\"-1\" deps=\"-1\"", "depid=\"7\" deps=\"0\""),
                 "f:5:7: <step>: depid is 7: the gpu has no such <tb>"},
        BadInput{"NoSuchStep",
                 Edit(5, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"2\""),
                 "f:5:7: <step>: deps is 2: thread block 0 has 2 step(s)"}),
    [](const auto& bad) { return bad.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Runs, BadAlgorithm,
    ::testing::Values(
        BadInput{"MessageThatNobodyReceives", WithLine(kPair, 11, ""),
                 "f:3:5: thread block 0 of gpu 0 sends 1 message(s) on channel "
                 "0, but thread block 0 of gpu 1 receives 0"},
        BadInput{"NoBlockThatReceives", Edit(9, "recv=\"0\"", "recv=\"-1\""),
                 "f:11:7: a step that receives in a <tb> with recv=\"-1\""},
        // Chunk 0 of GPU 0's output is its input.
        BadInput{"WrongPlace", Edit(5, "dstoff=\"1\"", "dstoff=\"0\""),
                 "f:2:3: rank 0 ends with chunk 1 of the collective's buffer "
                 "in chunk 0 of its output, where chunk 0 belongs"},
        BadInput{
            "NothingThere",
            Edit(4, "srcbuf=\"i\" srcoff=\"0\"", "srcbuf=\"o\" srcoff=\"1\""),
            "f:4:7: gpu 0 reads chunk 1 of its buffer \"o\", which holds "
            "nothing"},
        BadInput{"OneWaitsForItself",
                 Edit(4, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"1\""),
                 "f:4:7: thread blocks wait for one another: thread block 0 "
                 "of gpu 0 waits for thread block 0 of gpu 0"}),
    [](const auto& bad) { return bad.param.name; });

// Both receive before they send.
TEST(MscclFile, NamesTheThreadBlocksOfADeadlock) {
  const auto gpu = [](int id) {
    return Gpu(id, 1, 2, 0,
               {Block(id + 3, 1 - id, 1 - id,
                      {Step(0, "r", "i0", fmt::format("o{}", 1 - id)),
                       Step(1, "s", "i0", "o0")})});
  };
  EXPECT_THAT(
      Parse(Algorithm("allgather", 2, true, {gpu(0), gpu(1)})),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:4:1: thread blocks wait for one another: thread block 3 of "
               "gpu 0 waits for thread block 4 of gpu 1 waits for thread "
               "block 3 of gpu 0"));
}

// GPU 1 gives GPU 0's contribution back instead of its own.
TEST(MscclFile, NamesTheContributionThatIsMissing) {
  EXPECT_THAT(
      Parse(Algorithm(
          "allreduce", 1, false,
          {Gpu(0, 1, 1, 0,
               {Block(0, 1, 1,
                      {Step(0, "s", "i0", "s0"), Step(1, "r", "i0", "o0")})}),
           Gpu(1, 1, 1, 1,
               {Block(0, 0, 0,
                      {Step(0, "rcs", "i0", "s0"),
                       Step(1, "cpy", "i0", "o0")})})})),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:2:1: rank 0 ends without chunk 0's contribution of rank 1"));
}

TEST(MscclFile, AContributionCountsOnce) {
  const auto gpu = [](int id) {
    return Gpu(
        id, 1, 1, 0,
        {Block(0, 1 - id, 1 - id,
               {Step(0, "s", "i0", "i0"), Step(1, "s", "i0", "i0"),
                Step(2, "rrc", "i0", "i0"), Step(3, "rrc", "i0", "i0")})});
  };
  EXPECT_THAT(Parse(Algorithm("allreduce", 1, true, {gpu(0), gpu(1)})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f:15:1: rank 0's contribution to chunk 0 is added to "
                       "what has it"));
}

}  // namespace
}  // namespace astra
