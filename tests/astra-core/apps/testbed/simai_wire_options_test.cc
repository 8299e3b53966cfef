#include "astra-core/apps/testbed/simai_wire_options.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

absl::StatusOr<SimaiWireOptions> Read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "simai_wire");
  return ReadSimaiWireOptions(ValueOrDie(CommandLine::Parse(
      SimaiWireOptionSpecs(), static_cast<int>(arguments.size()),
      arguments.data())));
}

TEST(SimaiWireOptionsTest, HasWhatTheReadmeSaysUnlessTold) {
  const SimaiWireOptions options = ValueOrDie(Read({"-n", "t.txt"}));
  EXPECT_EQ(options.topology, "t.txt");
  EXPECT_EQ(options.wire.fabric.queue, MiB(64));
  EXPECT_EQ(options.wire.hold, Microseconds(600));
  EXPECT_FALSE(options.until_eof);
}

TEST(SimaiWireOptionsTest, ReadsAllOptions) {
  const SimaiWireOptions options =
      ValueOrDie(Read({"-n", "t.txt", "--queue-kib", "64", "--hold", "0us",
                       "--seed", "9", "--until-eof"}));
  EXPECT_EQ(options.wire.fabric.queue, KiB(64));
  EXPECT_EQ(options.wire.fabric.seed, 9U);
  EXPECT_EQ(options.wire.hold, TimePs());
  EXPECT_TRUE(options.until_eof);
}

struct BadOption {
  const char* name;
  std::vector<const char*> arguments;
  const char* message;
};

class BadOptionTest : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptionTest, IsAnError) {
  EXPECT_THAT(Read(GetParam().arguments),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    , BadOptionTest,
    ::testing::Values(BadOption{"NoTopology", {}, "--topology is missing"},
                      BadOption{"NoQueue",
                                {"-n", "t", "--queue-kib", "0"},
                                "--queue-kib is \"0\": expected"},
                      BadOption{
                          "NoTime", {"-n", "t", "--hold", "5"}, "--hold: "}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace astra
