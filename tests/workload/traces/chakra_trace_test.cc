// Chakra files: bytes made by hand from the schema, what is refused, and files
// that come back as they were.

#include "workload/traces/chakra_trace.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "workload/traces/chakra_file.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A message behind its length, which is below 128.
std::string Framed(const std::string& message) {
  return static_cast<char>(message.size()) + message;
}

// Field 1 of the metadata, the version "0.0.4".
const std::string kMetadata = Framed(
    "\x0a\x05"
    "0.0.4");

// Id 3, name "sum", type 7 (COMM_COLL_NODE), control dependencies 1 and 2
// packed, data dependency 300 not packed, duration 5 us, and the attribute
// comm_size, an int64 (field 9) of 1024.
const std::string kNode = Framed(
    "\x08\x03"
    "\x12\x03"
    "sum"
    "\x18\x07"
    "\x22\x02\x01\x02"
    "\x28\xac\x02"
    "\x38\x05"
    "\x52\x0e"
    "\x0a\x09"
    "comm_size"
    "\x48\x80\x08");

TEST(ChakraFileTest, BytesMadeFromTheSchemaAreRead) {
  const ChakraFile file = ValueOrDie(ParseChakraFile("f", kMetadata + kNode));
  EXPECT_EQ(file.version, "0.0.4");
  ASSERT_EQ(file.nodes.size(), 1u);
  const ChakraNode& node = file.nodes[0];
  EXPECT_EQ(node.id, 3u);
  EXPECT_EQ(node.name, "sum");
  EXPECT_EQ(node.type, ChakraNodeType::kCollective);
  EXPECT_THAT(node.control_dependencies, ElementsAre(1, 2));
  EXPECT_THAT(node.data_dependencies, ElementsAre(300));
  EXPECT_EQ(node.duration_us, 5u);
  ASSERT_EQ(node.attributes.size(), 1u);
  EXPECT_EQ(node.attributes[0].name, "comm_size");
  EXPECT_EQ(std::get<int64_t>(node.attributes[0].value), 1024);
}

// The first published schema has no version, and the attribute "schema".
TEST(ChakraFileTest, TheOlderMetadataIsRead) {
  const std::string old = Framed(
      "\x0a\x11"
      "\x0a\x06"
      "schema"
      "\xea\x01\x06"
      "1.0.2x");
  EXPECT_EQ(ValueOrDie(ParseChakraFile("f", old)).version, "1.0.2x");
}

TEST(ChakraFileTest, FieldsThatTheSchemaDoesNotHaveAreNamed) {
  const std::string node = Framed(std::string("\x08\x01\x98\x01\x07", 5));
  EXPECT_THAT(ValueOrDie(ParseChakraFile("f", kMetadata + node)).unknown_fields,
              ElementsAre(19));
}

TEST(ChakraFileTest, DamagedFilesAreRefusedWithThePlace) {
  const auto message = [](const std::string& contents) {
    return std::string(ParseChakraFile("f", contents).status().message());
  };
  EXPECT_EQ(message(""),
            "f: the file is empty; expected a Chakra execution trace");
  EXPECT_EQ(message(kMetadata + kNode.substr(0, 10)),
            "f: byte 8: a message is longer than the rest of the file; "
            "expected a Chakra execution trace");
  EXPECT_EQ(message(kMetadata + Framed("\x18\x63")),
            "f: byte 8: node type 99 is none of Chakra's, 0 to 10; expected a "
            "Chakra execution trace");
  EXPECT_THAT(message("{\"schema\": \"1.1.1\", \"nodes\": []}"),
              HasSubstr("expected a Chakra execution trace"));
}

ChakraNode Node(uint64_t id, ChakraNodeType type,
                std::vector<ChakraAttribute> attributes,
                std::vector<uint64_t> after = {}) {
  ChakraNode node;
  node.id = id;
  node.name = "n";
  node.type = type;
  node.data_dependencies = std::move(after);
  node.attributes = std::move(attributes);
  return node;
}

ChakraNode Sum(uint64_t id, int64_t bytes, std::vector<uint64_t> after = {}) {
  return Node(id, ChakraNodeType::kCollective,
              {{"comm_type", int64_t{0}}, {"comm_size", bytes}},
              std::move(after));
}

// Imports two ranks with these nodes, and group "g" of both.
absl::StatusOr<ExecutionTrace> Import(std::vector<ChakraNode> first,
                                      std::vector<ChakraNode> second,
                                      Warnings* warnings,
                                      std::optional<PeakRates> peak = {}) {
  ChakraImport import(
      ValueOrDie(ParseProcessGroups("g.json", R"({"g": [0, 1]})", 2)), 2, peak);
  ChakraFile file;
  file.nodes = std::move(first);
  if (const absl::Status status = import.AddRank("t.0.et", file); !status.ok())
    return status;
  file.nodes = std::move(second);
  if (const absl::Status status = import.AddRank("t.1.et", file); !status.ok())
    return status;
  return import.Finish(warnings);
}

std::string ErrorOf(std::vector<ChakraNode> first,
                    std::vector<ChakraNode> second) {
  Warnings warnings;
  return std::string(Import(std::move(first), std::move(second), &warnings)
                         .status()
                         .message());
}

TEST(ChakraImportTest, NodesComeBehindWhatTheyDependOn) {
  Warnings warnings;
  ChakraNode kernel = Node(9, ChakraNodeType::kCompute, {});
  kernel.duration_us = 4;
  const ExecutionTrace trace =
      ValueOrDie(Import({Sum(1, 8, {9}), kernel}, {Sum(1, 8)}, &warnings));
  EXPECT_THAT(warnings, IsEmpty());
  const RankTrace& rank = trace.ranks[0];
  ASSERT_EQ(rank.nodes.size(), 2u);
  EXPECT_EQ(rank.nodes[0].kind, TraceNodeKind::kCompute);
  EXPECT_EQ(rank.nodes[0].duration, Microseconds(4));
  EXPECT_EQ(rank.nodes[1].kind, TraceNodeKind::kCollective);
  EXPECT_THAT(rank.DependenciesOf(rank.nodes[1]), ElementsAre(0));
}

// Chakra counts what a rank puts into an all-gather, nccl-tests what it gets.
TEST(ChakraImportTest, SizesAreThoseOfTheWholeBuffer) {
  const auto gather = [] {
    return Node(1, ChakraNodeType::kCollective,
                {{"comm_type", int64_t{2}},
                 {"comm_size", int64_t{500}},
                 {"pg_name", std::string("g")}});
  };
  Warnings warnings;
  const ExecutionTrace trace =
      ValueOrDie(Import({gather()}, {gather()}, &warnings));
  EXPECT_EQ(trace.ranks[0].nodes[0].bytes, Bytes(1000));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("count to DP: "
                                              "\"g\"")));
}

// 4e9 operations at 1e12 a second take 4 ms, 3e9 bytes at 1e12 a second 3 ms.
TEST(ChakraImportTest, KernelsWithoutADurationTakeWhatTheGpuNeeds) {
  const auto kernel = [] {
    return Node(1, ChakraNodeType::kCompute,
                {{"num_ops", int64_t{4'000'000'000}},
                 {"tensor_size", int64_t{3'000'000'000}}});
  };
  Warnings warnings;
  const ExecutionTrace trace =
      ValueOrDie(Import({kernel()}, {}, &warnings, PeakRates{1e12, 1e12}));
  EXPECT_EQ(trace.ranks[0].nodes[0].duration, Microseconds(4000));
  EXPECT_EQ(ErrorOf({kernel()}, {}),
            "t.0.et: node 1 (n): has num_ops or tensor_size but no "
            "duration_micros, and the GPU is not known: give --gpu-type");
}

TEST(ChakraImportTest, MistakesAreRefusedWithTheirNode) {
  EXPECT_EQ(ErrorOf({Sum(1, 8), Sum(1, 8)}, {}),
            "t.0.et: node 1 (n): its id is there twice");
  EXPECT_EQ(ErrorOf({Sum(1, 8, {5})}, {}),
            "t.0.et: node 1 (n): depends on node 5, which the file does not "
            "have");
  EXPECT_EQ(ErrorOf({Sum(1, 8, {2}), Sum(2, 8, {1})}, {}),
            "t.0.et: node 1 (n): waits for itself through its dependencies, or "
            "for nodes that do");
  EXPECT_EQ(ErrorOf({Node(1, ChakraNodeType::kCollective, {})}, {}),
            "t.0.et: node 1 (n): comm_type is missing, or none of 0 to 9");
  EXPECT_EQ(ErrorOf({Node(1, ChakraNodeType::kCollective,
                          {{"comm_type", int64_t{0}},
                           {"comm_size", int64_t{8}},
                           {"pg_name", std::string("gg")}})},
                    {}),
            "t.0.et: node 1 (n): group \"gg\" is not in the file of groups; "
            "did you mean \"g\"?");
  EXPECT_EQ(
      ErrorOf({Node(1, ChakraNodeType::kSend,
                    {{"comm_dst", int64_t{2}}, {"comm_size", int64_t{8}}})},
              {}),
      "t.0.et: node 1 (n): comm_dst is missing, or none of the ranks 0 "
      "to 1");
}

// Attributes of our own are held to what they mean.
TEST(ChakraImportTest, OwnAttributesAreChecked) {
  const auto error = [](std::vector<ChakraAttribute> own) {
    own.push_back({"comm_type", int64_t{2}});
    own.push_back({"comm_size", int64_t{8}});
    return ErrorOf({Node(1, ChakraNodeType::kCollective, own)}, {});
  };
  EXPECT_EQ(error({{"buffer_bytes", int64_t{18}}}),
            "t.0.et: node 1 (n): buffer_bytes is not what 2 ranks put in by "
            "comm_size, 16B, and a rest");
  EXPECT_EQ(error({{"update_ps", int64_t{-1}}}),
            "t.0.et: node 1 (n): update_ps is no time below 2^60 ps");
  EXPECT_EQ(error({{"collective_kind", std::string("dispatch")}}),
            "t.0.et: node 1 (n): collective_kind \"dispatch\" is no kind of "
            "all-gather");
  EXPECT_EQ(error({{"dimension", std::string("PP")}}),
            "t.0.et: node 1 (n): dimension \"PP\" is none of TP, CP, DP, EP, "
            "ETP and DP_EP");
}

TEST(ChakraImportTest, RanksThatDisagreeAreRefused) {
  EXPECT_EQ(
      ErrorOf({Sum(1, 8)}, {Sum(4, 16)}),
      "t.1.et: rank 1, node 4 (n): collective 1 of group \"\" is here the "
      "all-reduce of 16B, but the all-reduce of 8B at t.0.et: rank 0, "
      "node 1 (n)");
  EXPECT_EQ(ErrorOf({Sum(1, 8), Sum(2, 8)}, {Sum(4, 8)}),
            "t.0.et: rank 0, node 2 (n): rank 1 (t.1.et) of group \"\" has no "
            "counterpart: it takes part in 1 collectives of the group, this "
            "rank in 2");
  const auto receive = Node(6, ChakraNodeType::kReceive,
                            {{"comm_src", int64_t{0}},
                             {"comm_size", int64_t{8}},
                             {"comm_tag", int64_t{3}}});
  EXPECT_EQ(ErrorOf({}, {receive}),
            "t.1.et: rank 1, node 6 (n): rank 0 (t.0.et) does not send message "
            "1 with tag 3 to rank 1");
}

TEST(ChakraImportTest, WhatHasNoEffectIsNamed) {
  ChakraNode node = Node(1, ChakraNodeType::kCompute,
                         {{"rf_id", int64_t{5}}, {"tid", int64_t{1}}});
  node.duration_us = 1;
  ChakraNode copy =
      Node(2, ChakraNodeType::kMemoryLoad, {{"tensor_size", int64_t{5}}});
  Warnings warnings;
  EXPECT_TRUE(Import({node, copy}, {}, &warnings).ok());
  EXPECT_THAT(
      warnings,
      ElementsAre("the trace has attributes without effect: \"rf_id\", \"tid\"",
                  "1 nodes of type MEM_LOAD_NODE have no duration and take no "
                  "time"));
}

TEST(ProcessGroupsTest, MistakesAreRefusedWithTheirPlace) {
  const auto message = [](const std::string& text) {
    return std::string(ParseProcessGroups("g", text, 4).status().message());
  };
  EXPECT_EQ(message(R"({"a": [0, 4]})"),
            "g:1:11: \"4\" is no rank: the trace has ranks 0 to 3");
  EXPECT_EQ(message(R"({"a": [1, 1]})"), "g:1:7: rank 1 is in the group twice");
  EXPECT_EQ(message(R"({"a": []})"), "g:1:7: a group is a list of ranks");
}

// A trace with every kind of node, written and read.
TEST(ChakraTraceTest, FilesComeBackAsTheyWere) {
  ExecutionTrace trace;
  trace.names = {"a", "b"};
  trace.communication_slowdown = 0.25;
  trace.groups = {{"EP.0", ParallelDimension::kExpert, {RankId(0), RankId(1)}}};
  trace.ranks.resize(2);
  for (uint32_t r = 0; r < 2; ++r) {
    const auto add = [&](TraceNode node) {
      node.id = trace.ranks[r].nodes.size();
      node.name = TraceNameId(node.id % 2);
      node.phase = Phase::kInputGradient;
      node.first_dependency =
          static_cast<uint32_t>(trace.ranks[r].dependencies.size());
      if (node.id > 0) {
        trace.ranks[r].dependencies.push_back(
            static_cast<uint32_t>(node.id - 1));
        node.num_dependencies = 1;
      }
      trace.ranks[r].nodes.push_back(node);
    };
    for (const TraceNodeKind kind :
         {TraceNodeKind::kCompute, TraceNodeKind::kHost,
          TraceNodeKind::kMemory}) {
      TraceNode node;
      node.kind = kind;
      node.duration = TimePs(1'234'567);
      add(node);
    }
    for (const CollectiveKind kind : kCollectiveKinds) {
      TraceNode node;
      node.kind = TraceNodeKind::kCollective;
      node.collective = kind;
      node.bytes = Bytes(1001);  // No multiple of the ranks.
      node.update = TimePs(7);
      if (kind == CollectiveKind::kSendRecv) {
        node.kind = r == 0 ? TraceNodeKind::kSend : TraceNodeKind::kReceive;
        node.peer = RankId(1 - r);
        node.tag = 42;
        node.update = TimePs();
      }
      add(node);
    }
  }
  ChakraImport import(
      ValueOrDie(ParseProcessGroups("g", FormatProcessGroups(trace.groups), 2)),
      2, std::nullopt);
  for (uint32_t r = 0; r < 2; ++r) {
    const std::string text = FormatChakraFile(ChakraFileOf(trace, RankId(r)));
    ASSERT_EQ(import.AddRank("f", ValueOrDie(ParseChakraFile("f", text))),
              absl::OkStatus());
  }
  Warnings warnings;
  const ExecutionTrace back = ValueOrDie(import.Finish(&warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(back.names, trace.names);
  EXPECT_EQ(back.communication_slowdown, trace.communication_slowdown);
  EXPECT_EQ(back.groups[0].ranks, trace.groups[0].ranks);
  EXPECT_EQ(back.groups[0].dimension, trace.groups[0].dimension);
  for (uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(back.ranks[r].dependencies, trace.ranks[r].dependencies);
    EXPECT_EQ(back.ranks[r].nodes, trace.ranks[r].nodes);
  }
}

}  // namespace
}  // namespace astra::testing
