// The drawing of a topology: each server and switch of a small one, groups of a
// large one.

#include "topology/topology_svg.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pugixml.hpp"
#include "tests/testing/matchers.h"
#include "tests/testing/server_types.h"
#include "topology/fabrics/fabric_file.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

std::string Draw(const std::string& text) {
  Warnings warnings;
  const FabricSpec spec = ValueOrDie(ParseFabric(
      "f", "simai_fabric: 1\n" + text, SmallServerTypes(), &warnings));
  return TopologySvg(ValueOrDie(DrawFabric(spec)));
}

size_t Count(const std::string& svg, const char* path) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(svg.c_str()));
  return document.select_nodes(path).size();
}

// 4 servers, 4 leaves of 2 rails and 2 segments, 2 spines.
TEST(TopologySvgTest, SmallTopologiesAreDrawnAsTheyAre) {
  const std::string svg = Draw(
      "servers: {count: 4, gpus: 2}\n"
      "fabric: {kind: fat-tree, rails: true, tiers: [{down: 2}, {down: 4}]}\n");
  EXPECT_EQ(Count(svg, "//rect"), 4u + 4 + 2);
  // Each server to 2 leaves, each leaf to 2 spines.
  EXPECT_EQ(Count(svg, "//path"), 8u + 8);
  EXPECT_THAT(svg, HasSubstr("server 0 to switch 12: 1 cable, 400 Gbps"));
  EXPECT_THAT(svg, HasSubstr("<title>8 GPUs in 4 servers, 6 switches, "));
}

// 512 servers of 8 segments, each with 8 rails, below 64 spines.
TEST(TopologySvgTest, LargeTopologiesAreDrawnByGroups) {
  const std::string svg = Draw(
      "servers: {count: 512, gpus: 8}\n"
      "fabric: {kind: fat-tree, rails: true, tiers: [{down: 64}, {down: "
      "64}]}\n");
  EXPECT_EQ(Count(svg, "//rect"), 8u + 8 + 1);
  EXPECT_EQ(Count(svg, "//path"), 8u + 8);
  EXPECT_THAT(svg, HasSubstr(">64 x server</text>"));
  EXPECT_THAT(svg, HasSubstr(">8 x tier 1</text>"));
  // Labels are narrower than boxes, so that neighbours stand apart.
  EXPECT_THAT(svg, HasSubstr(">512 cables</tspan>"));
  EXPECT_THAT(svg, HasSubstr("dy=\"14\">204.8 Tbps</tspan></text>"));
  EXPECT_THAT(svg, HasSubstr("64 x server to 8 x tier 1: 512 cables, 204800 "
                             "Gbps in all"));
}

// Neighbours of a torus are joined by arcs.
TEST(TopologySvgTest, SwitchesOfOneTierAreJoined) {
  const std::string svg =
      Draw("servers: {count: 4, gpus: 1}\nfabric: {kind: torus, shape: [4]}\n");
  EXPECT_EQ(Count(svg, "//path"), 4u + 4);
}

}  // namespace
}  // namespace astra::testing
