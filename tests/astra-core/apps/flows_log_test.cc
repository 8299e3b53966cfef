#include "astra-core/apps/flows_log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kEachHeader =
    "collective,source,target,channel,bytes,start_us,finish_us,fct_us,"
    "ideal_us,slowdown,retransmissions,path\n";
const std::string kSumsHeader =
    "layer,phase,collective,group,first_rank,start_us,source,target,messages,"
    "bytes,first_start_us,last_finish_us,mean_fct_us,max_fct_us,mean_slowdown,"
    "max_slowdown,retransmissions\n";

FlowRecord Flow(uint32_t source, uint32_t target, int64_t start_us,
                int64_t finish_us) {
  FlowRecord flow;
  flow.source = NodeId(source);
  flow.target = NodeId(target);
  flow.retransmissions = 1;
  flow.bytes = Bytes(1000);
  flow.start = Microseconds(start_us);
  flow.finish = Microseconds(finish_us);
  flow.ideal = Microseconds(2);
  return flow;
}

class FlowsLogTest : public ::testing::Test {
 protected:
  FlowsLog Log(FlowsFile form, uint64_t most = 2) {
    return FlowsLog(form, path_, {"embed", "a,b"}, topology_, most);
  }

  // A collective of rank 0's group that begins after 10 us, two messages from
  // GPU 0 to 1 and one to 1's switch, and one message of background traffic.
  void RunOnce(FlowsLog& log, TimePs end) const {
    log.BeginNetwork();
    CollectiveRecord record;
    record.layer = LayerId(1);
    record.communication = {CollectiveKind::kAllReduce,
                            ParallelDimension::kTensor, Bytes(2000)};
    record.first_start = Microseconds(10);
    log.BeginCollective(0, record);
    const LinkId path[] = {LinkId(0), LinkId(5)};
    log.Arrive(Flow(0, 1, 10, 14), path, 0);
    FlowRecord other = Flow(3, 1, 9, 15);
    other.channel = kBackgroundChannel;
    log.Arrive(other, {}, MessageLog::kNone);
    log.Arrive(Flow(0, 1, 11, 19), path, 0);
    log.Arrive(Flow(0, 2, 12, 20), absl::MakeConstSpan(path, 1), 0);
    log.EndCollective(0);
    log.EndNetwork(end);
  }

  std::string Written(FlowsLog& log) const {
    EXPECT_EQ(log.file()->Close(), absl::OkStatus());
    EXPECT_EQ(log.file()->Rename(), absl::OkStatus());
    return testing::ReadText(path_);
  }

  Topology topology_ = testing::Star(1, 2);  // GPUs 0, 1; switches 2, 3.
  testing::TemporaryFolder folder_;
  std::string path_ = folder_.PathOf("flows.csv");
};

TEST_F(FlowsLogTest, SumsAreByCollectiveAndPair) {
  FlowsLog log = Log(FlowsFile::kSummary);
  RunOnce(log, Microseconds(20));
  EXPECT_FALSE(log.has_each_message());
  EXPECT_EQ(log.num_messages(), 4u);
  // 4 us and 8 us, of 2 us alone.
  EXPECT_EQ(Written(log),
            kSumsHeader +
                "\"a,b\",fwd,all-reduce,TP,0,10.000000,0,1,2,2000,10.000000,"
                "19.000000,6.000000,8.000000,3.0000,4.0000,2\n"
                "\"a,b\",fwd,all-reduce,TP,0,10.000000,0,2,1,1000,12.000000,"
                "20.000000,8.000000,8.000000,4.0000,4.0000,1\n"
                "(background),,,,,0.000000,3,1,1,1000,9.000000,15.000000,"
                "6.000000,6.000000,3.0000,3.0000,1\n");
}

TEST_F(FlowsLogTest, EachMessageStandsInTheOrderOfArrival) {
  FlowsLog log = Log(FlowsFile::kEach);  // The limit is not for it.
  RunOnce(log, Microseconds(20));
  EXPECT_TRUE(log.has_each_message());
  EXPECT_EQ(Written(log),
            kEachHeader +
                "\"a,b\",0,1,0,1000,10.000000,14.000000,4.000000,2.000000,"
                "2.0000,1,0>2>1\n"
                ",3,1,background,1000,9.000000,15.000000,6.000000,2.000000,"
                "3.0000,1,3\n"
                "\"a,b\",0,1,0,1000,11.000000,19.000000,8.000000,2.000000,"
                "4.0000,1,0>2>1\n"
                "\"a,b\",0,2,0,1000,12.000000,20.000000,8.000000,2.000000,"
                "4.0000,1,0>2\n");
}

TEST_F(FlowsLogTest, OneMessageMoreThanTheLimitMakesSumsOfAll) {
  FlowsLog at_limit = Log(FlowsFile::kAuto, 4);
  RunOnce(at_limit, Microseconds(20));
  EXPECT_TRUE(at_limit.has_each_message());
  EXPECT_THAT(Written(at_limit), StartsWith(kEachHeader));

  FlowsLog beyond = Log(FlowsFile::kAuto, 3);
  RunOnce(beyond, Microseconds(20));
  EXPECT_FALSE(beyond.has_each_message());
  const std::string written = Written(beyond);
  FlowsLog sums = Log(FlowsFile::kSummary);
  RunOnce(sums, Microseconds(20));
  EXPECT_EQ(written, Written(sums));
}

// The second network is shorter, and the last one as long as the first.
TEST_F(FlowsLogTest, TheLastOfTheLongestNetworksCounts) {
  FlowsLog log = Log(FlowsFile::kEach);
  RunOnce(log, Microseconds(30));
  log.BeginNetwork();
  log.EndNetwork(Microseconds(20));
  EXPECT_EQ(log.num_messages(), 4u);
  EXPECT_THAT(Written(log), HasSubstr(",0>2>1\n"));
  log.BeginNetwork();
  log.EndNetwork(Microseconds(30));
  EXPECT_EQ(Written(log), kEachHeader);
}

TEST_F(FlowsLogTest, AStoppedRunHasTheSumsOfWhatHadBegun) {
  FlowsLog log = Log(FlowsFile::kSummary);
  log.BeginNetwork();
  log.BeginCollective(7, {});
  log.BeginCollective(2, {});
  log.Arrive(Flow(1, 0, 1, 2), {}, 7);
  log.Arrive(Flow(0, 1, 1, 2), {}, 2);
  log.EndNetwork(Microseconds(2));
  EXPECT_EQ(Written(log),
            kSumsHeader +
                "embed,fwd,all-reduce,TP,0,0.000000,0,1,1,1000,1.000000,"
                "2.000000,1.000000,1.000000,0.5000,0.5000,1\n"
                "embed,fwd,all-reduce,TP,0,0.000000,1,0,1,1000,1.000000,"
                "2.000000,1.000000,1.000000,0.5000,0.5000,1\n");
}

// Messages that go two and two, 10 us apart, four times, and one more: told one
// by one, or as a sequence that begins 5 us after its collective.
class RepeatedFlowsTest : public FlowsLogTest {
 protected:
  RepeatedFlowsTest() {
    MessageSequence sequence;
    sequence.items = {
        {1, Bytes(7), Microseconds(0), Microseconds(9), kIdeal},
        {0, Bytes(9), Microseconds(1), Microseconds(10), kIdeal},
        {1, Bytes(7), Microseconds(40), Microseconds(44), kIdeal}};
    sequence.repetitions = {{0, 2, 3, Microseconds(10)}};
    sequence.num_messages = 9;
    sequence_ = std::make_shared<const MessageSequence>(std::move(sequence));
  }

  void Begin(FlowsLog& log) const {
    log.BeginNetwork();
    CollectiveRecord record;
    record.first_start = Microseconds(100);
    log.BeginCollective(3, record);
  }

  void RunOneByOne(FlowsLog& log) const {
    Begin(log);
    for (int64_t i = 0; i < 4; ++i) {
      log.Arrive(Message(0, 1, 7, 105 + 10 * i, 114 + 10 * i), path_0_to_1_, 3);
      log.Arrive(Message(1, 0, 9, 106 + 10 * i, 115 + 10 * i), path_1_to_0_, 3);
    }
    log.Arrive(Message(0, 1, 7, 145, 149), path_0_to_1_, 3);
    End(log);
  }

  void RunAtOnce(FlowsLog& log) const {
    Begin(log);
    log.Settle(Microseconds(100));
    log.Repeat(
        {.sequence = sequence_,
         .begin = Microseconds(105),
         .connections = connections_,
         .append_path =
             [this](const Connection& connection, std::vector<LinkId>* path) {
               *path =
                   connection.source == NodeId(0) ? path_0_to_1_ : path_1_to_0_;
             }},
        3);
    End(log);
  }

  void End(FlowsLog& log) const {
    log.Settle(Microseconds(150));
    log.EndCollective(3);
    log.EndNetwork(Microseconds(150));
  }

  FlowRecord Message(uint32_t source, uint32_t target, int64_t bytes,
                     int64_t start_us, int64_t finish_us) const {
    FlowRecord message = Flow(source, target, start_us, finish_us);
    message.retransmissions = 0;
    message.bytes = Bytes(bytes);
    message.ideal = kIdeal;
    return message;
  }

  static constexpr TimePs kIdeal = Microseconds(3);
  const std::vector<LinkId> path_0_to_1_ = {LinkId(0), LinkId(5)};
  const std::vector<LinkId> path_1_to_0_ = {LinkId(4), LinkId(1)};
  const std::vector<Connection> connections_ = {{NodeId(1), NodeId(0), 0},
                                                {NodeId(0), NodeId(1), 0}};
  std::shared_ptr<const MessageSequence> sequence_;
};

TEST_F(RepeatedFlowsTest, AreAsIfToldOneByOne) {
  for (const FlowsFile form :
       {FlowsFile::kEach, FlowsFile::kSummary, FlowsFile::kAuto}) {
    FlowsLog once = Log(form, 8);
    RunOneByOne(once);
    EXPECT_EQ(once.num_messages(), 9u);
    const std::string expected = Written(once);
    FlowsLog repeated = Log(form, 8);
    RunAtOnce(repeated);
    EXPECT_EQ(repeated.num_messages(), 9u);
    EXPECT_EQ(Written(repeated), expected);
  }
}

TEST_F(FlowsLogTest, LeavesNothingBehindUnlessItIsRenamed) {
  {
    FlowsLog log = Log(FlowsFile::kAuto);
    RunOnce(log, Microseconds(20));
    log.BeginNetwork();  // Ends with an error.
  }
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

}  // namespace
}  // namespace astra
