#include "collectives/dispatchers/dispatcher.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr DispatchKernel kKernel = {.start_us = 10,
                                    .start_us_per_KiB = 0.5,
                                    .rank_us = 0.25,
                                    .token_ns = 300,
                                    .copy_ns = 50,
                                    .byte_ns = 0.25,
                                    .efficiency = 0.5};

// Each token goes to both experts, one on each half of the ranks.
ExpertDispatch Dispatch(bool relays) {
  return {.dispatcher = {.name = "d",
                         .relays = relays,
                         .sms = 2,
                         .between_us = 5,
                         .notify_us = 7,
                         .prepare = {.start_us = 3, .token_ns = 4},
                         .dispatch = kKernel,
                         .combine = kKernel},
          .routing = {.experts = 4,
                      .top_k = 4,
                      .dispatch_bytes = 1024,
                      .combine_bytes = 2048}};
}

TEST(DispatcherTest, OneServerHasNoRelays) {
  const TokenWork work =
      WorkOf(Dispatch(true), CollectiveKind::kDispatch, {1, 4});
  EXPECT_NEAR(work.copies, 4, 1e-12);
  // 10 + 0.25 x 4 + 0.5 x 1 KiB, and 3 to prepare.
  EXPECT_NEAR(work.start_us, 14.5, 1e-12);
  EXPECT_NEAR(work.prepare_ns, 4, 1e-12);
  // (300 + 4 (50 + 0.25 x 1024)) / 2.
  EXPECT_NEAR(work.kernel_ns, 762, 1e-9);
  // Three of four copies leave the rank.
  EXPECT_NEAR(work.within_bytes, 3 * 1024, 1e-9);
  EXPECT_NEAR(work.between_bytes, 0, 1e-12);
}

// Two servers of two: both are visited. A relayed copy of the own server counts
// as work, and one copy goes to the other server.
TEST(DispatcherTest, RelaysSendOneCopyToEachServer) {
  const TokenWork work =
      WorkOf(Dispatch(true), CollectiveKind::kDispatch, {2, 2});
  EXPECT_NEAR(work.start_us, 14.5 + 5 + 7, 1e-12);
  // (2 x 300 + (4 + 2) (50 + 256)) / 2.
  EXPECT_NEAR(work.kernel_ns, 1218, 1e-9);
  EXPECT_NEAR(work.within_bytes, 2 * 1024, 1e-9);  // Half of four copies.
  EXPECT_NEAR(work.between_bytes, 1024, 1e-9);     // Half of two.
}

TEST(DispatcherTest, OnTheWayBackEachRelayedCopyIsSummed) {
  const TokenWork work =
      WorkOf(Dispatch(true), CollectiveKind::kCombine, {2, 2});
  // (2 x 300 + 2 x 4 (50 + 512)) / 2; nothing is prepared.
  EXPECT_NEAR(work.kernel_ns, 2548, 1e-9);
  EXPECT_NEAR(work.start_us, 10 + 1 + 1 + 5 + 7, 1e-12);
}

TEST(DispatcherTest, WithoutRelaysEachCopyCrossesByItself) {
  const TokenWork work =
      WorkOf(Dispatch(false), CollectiveKind::kDispatch, {2, 2});
  EXPECT_NEAR(work.kernel_ns, 762, 1e-9);
  EXPECT_NEAR(work.within_bytes, 1024, 1e-9);
  EXPECT_NEAR(work.between_bytes, 2 * 1024, 1e-9);
}

TEST(DispatcherTest, BundledOnesAreFoundWithTheirSms) {
  EXPECT_THAT(DispatcherNames(),
              ElementsAre("deepep", "deepep-ll", "nvlink-one-sided",
                          "nvlink-two-sided"));
  EXPECT_EQ(ValueOrDie(LoadDispatcher("DeepEP")).sms, 20);
  EXPECT_EQ(ValueOrDie(LoadDispatcher("deepep@24")).sms, 24);
  using enum absl::StatusCode;
  EXPECT_THAT(LoadDispatcher("deep").status(),
              StatusIs(kNotFound,
                       "unknown dispatcher \"deep\"; did you mean \"deepep\"? "
                       "(known: deepep, deepep-ll, nvlink-one-sided, "
                       "nvlink-two-sided)"));
  EXPECT_THAT(LoadDispatcher("deepep@0").status(),
              StatusIs(kInvalidArgument,
                       "the SMs of deepep@0 is \"0\": expected a whole number "
                       "from 1 to 1024"));
  EXPECT_THAT(LoadDispatcher("deepep-ll@20").status(),
              StatusIs(kInvalidArgument,
                       "deepep-ll@20: the number of SMs has no effect on "
                       "deepep-ll"));
}

TEST(DispatcherTest, AFileSaysWhereItIsWrong) {
  EXPECT_THAT(
      ParseDispatcher("f", "name: d\nsource: s\norigin: o\ncopies: all\n")
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:4:9: unknown copies \"all\" (known: rank, expert)"));
}

TEST(RoutingTest, ReadsItsWordsAndChecksThem) {
  const ExpertDispatch read = ValueOrDie(ParseRouting(
      "experts=256,top_k=8,groups=8,top_groups=4,dispatch_bytes=7392,"
      "combine_bytes=14336,even"));
  EXPECT_EQ(read.routing, (ExpertRouting{.experts = 256,
                                         .top_k = 8,
                                         .groups = 8,
                                         .top_groups = 4,
                                         .dispatch_bytes = 7392,
                                         .combine_bytes = 14336}));
  EXPECT_TRUE(read.is_even);
  const auto error = [](std::string_view text) {
    return ParseRouting(text).status();
  };
  using enum absl::StatusCode;
  EXPECT_THAT(error("expert=1"),
              StatusIs(kInvalidArgument,
                       "unknown routing \"expert\"; did you mean \"experts\"? "
                       "(known: even, combine_bytes, dispatch_bytes, experts, "
                       "groups, top_groups, top_k)"));
  EXPECT_THAT(error("experts=8,top_k=9,dispatch_bytes=1,combine_bytes=1"),
              StatusIs(kInvalidArgument,
                       "top_k is 9: expected no more than the 8 experts"));
  EXPECT_THAT(error("experts=8,top_k=2,dispatch_bytes=1"),
              StatusIs(kInvalidArgument,
                       "routing has no combine_bytes: expected such as "
                       "experts=256,top_k=8,dispatch_bytes=7392,combine_bytes="
                       "14336"));
}

}  // namespace
}  // namespace astra
