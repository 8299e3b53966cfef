// GOAL text: one by hand, and that all of it can run.

#include "astra-core/traces/goal_text.h"

#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "astra-core/traces/program_trace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/astra-core/engine/pipelined_runs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "workload/program_file.h"

namespace astra::testing {
namespace {

// A ring of two: each rank sends its half of the sum, then of the result.
TEST(GoalTextTest, TwoRanksSumUp) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 2}
phase: inference
modules:
  - name: a
    forward: [{compute: 7us}, {blocking: all-reduce, over: DP, bytes: 1000}]
stages: [{run: [{modules: a}]}]
)"));
  const ExecutionTrace trace = ValueOrDie(TraceOf(program));
  const std::string text =
      ValueOrDie(GoalText(trace, OneServer(2, "800Gbps", "0ns")));
  EXPECT_EQ(text.substr(0, text.find("rank 1")), R"(num_ranks 2
rank 0 {
l1: calc 7000 cpu 0
l2: calc 0 cpu 2
l2 requires l1
l3: send 500b to 1 tag 0 cpu 1
l4: recv 500b from 1 tag 1 cpu 1
l5: send 500b to 1 tag 2 cpu 1
l6: recv 500b from 1 tag 3 cpu 1
l3 requires l2
l4 requires l2
l5 requires l2
l5 requires l4
l6 requires l2
l7: calc 0 cpu 2
l7 requires l3
l7 requires l4
l7 requires l5
l7 requires l6
}
)");
}

// Every message is sent and received once, with one size, and labels are
// required only behind their lines.
TEST(GoalTextTest, MessagesMatchAndLabelsAreThere) {
  const Program program =
      PipelinedProgram({ScheduleNamed("interleaved"), 2, 2, 4});
  const ExecutionTrace trace = ValueOrDie(TraceOf(program));
  const std::string text = ValueOrDie(GoalText(trace, Star(2, 4)));
  const std::regex transfer(
      R"(l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+) cpu 1)");
  const std::regex calc(R"(l(\d+): calc \d+ cpu [023])");
  const std::regex requirement(R"(l(\d+) requires l(\d+))");
  using Message = std::tuple<int, int, int64_t>;  // Sender, receiver, tag.
  std::map<Message, int64_t> sent;
  std::map<Message, int64_t> received;
  std::istringstream lines(text);
  std::set<std::string> labels;
  int rank = -1;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("rank")) {
      labels.clear();
      ++rank;
    } else if (std::regex_match(line, match, transfer)) {
      labels.insert(match[1]);
      const bool sends = match[2] == "send";
      const int peer = std::stoi(match[4]);
      const Message message = {sends ? rank : peer, sends ? peer : rank,
                               std::stoll(match[5])};
      auto& side = sends ? sent : received;
      EXPECT_TRUE(side.try_emplace(message, std::stoll(match[3])).second);
    } else if (std::regex_match(line, match, calc)) {
      labels.insert(match[1]);
    } else if (std::regex_match(line, match, requirement)) {
      EXPECT_EQ(labels.count(match[1]), 1u) << line;
      EXPECT_EQ(labels.count(match[2]), 1u) << line;
    } else {
      EXPECT_TRUE(line == "}" || line == "num_ranks 8") << line;
    }
  }
  EXPECT_EQ(rank, 7);
  EXPECT_FALSE(sent.empty());
  EXPECT_EQ(sent, received);
}

}  // namespace
}  // namespace astra::testing
