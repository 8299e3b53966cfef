#include "astra-core/sweep/execution/point_record.h"

#include <filesystem>
#include <string>
#include <utility>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::StatusIs;
using testing::TemporaryFolder;
using testing::ValueOrDie;

PointRecord Example() {
  PointRecord record;
  record.key = "3f2a";
  record.finished = false;
  record.illegal = true;
  record.exit_code = 139;
  record.reason = "killed by signal 11";
  record.version = "0.1.0";
  record.commands = {"gen_topo --gpu 8", "simai_analytical -w 'a b.txt'"};
  record.inputs = {{"inputs/a.txt", "00ff"}, {"b.yaml", "11ee"}};
  record.metrics = {{"iteration_ms", 8094.014984701}, {"mfu", 0.1}, {"b", -3}};
  record.cost = {1.25, 2.5, 235.25, "node7", "2026-01-31T12:00:00Z", 3};
  return record;
}

// The text of a record in which `from` is replaced.
std::string Changed(const std::string& from, const std::string& to) {
  std::string text = FormatPointRecord(Example());
  const size_t at = text.find(from);
  ASTRA_CHECK(at != std::string::npos, "no {}", from);
  return text.replace(at, from.size(), to);
}

auto Parse(const std::string& text) {
  return ParsePointRecord("r.json", text, "3f2a");
}

TEST(PointRecordTest, IsReadAsItWasWritten) {
  const PointRecord expected = Example();
  const PointRecord record = ValueOrDie(Parse(FormatPointRecord(expected)));
  EXPECT_EQ(record.key, expected.key);
  EXPECT_EQ(record.finished, false);
  EXPECT_EQ(record.illegal, true);
  EXPECT_EQ(record.exit_code, 139);
  EXPECT_EQ(record.reason, expected.reason);
  EXPECT_EQ(record.version, "0.1.0");
  EXPECT_EQ(record.commands, expected.commands);
  ASSERT_EQ(record.inputs.size(), 2);
  EXPECT_EQ(record.inputs[1].path, "b.yaml");
  EXPECT_EQ(record.inputs[1].sha256, "11ee");
  ASSERT_EQ(record.metrics.size(), 3);  // In their order, to the last bit.
  EXPECT_EQ(record.metrics[0].name, "iteration_ms");
  EXPECT_EQ(record.metrics[0].value, 8094.014984701);
  EXPECT_EQ(record.metrics[1].name, "mfu");
  EXPECT_EQ(record.metrics[1].value, 0.1);
  EXPECT_EQ(record.metrics[2].name, "b");
  EXPECT_EQ(record.metrics[2].value, -3);
  EXPECT_EQ(record.cost.wall_s, 1.25);
  EXPECT_EQ(record.cost.cpu_s, 2.5);
  EXPECT_EQ(record.cost.peak_memory_mib, 235.25);
  EXPECT_EQ(record.cost.host, "node7");
  EXPECT_EQ(record.cost.ended, "2026-01-31T12:00:00Z");
  EXPECT_EQ(record.cost.attempts, 3);
}

TEST(PointRecordTest, LeavesOutNumbersThatJsonCannotHold) {
  PointRecord record = Example();
  record.metrics = {{"a", 1.0 / 0.0}, {"b", 2}};
  record.reason = "no \xff UTF-8";
  record = ValueOrDie(Parse(FormatPointRecord(record)));
  ASSERT_EQ(record.metrics.size(), 1);
  EXPECT_EQ(record.metrics[0].name, "b");
  EXPECT_EQ(record.reason, "no \xef\xbf\xbd UTF-8");
}

TEST(PointRecordTest, RefusesWhatIsNoRecord) {
  const std::string half = FormatPointRecord(Example()).substr(0, 99);
  for (const std::string& text : {std::string(), std::string("[]"), half}) {
    EXPECT_THAT(Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "r.json: is no record of a run: expected a JSON "
                         "object"))
        << text;
  }
}

TEST(PointRecordTest, RefusesFieldsThatAreMissingOrOfAnotherType) {
  const std::pair<std::string, std::string> cases[] = {
      {Changed("\"exit_code\": 139", "\"exit\": 139"),
       "r.json: \"exit_code\" of a record is missing: expected a whole number "
       "from 0 to 2147483647"},
      {Changed("139", "3000000000"),
       "r.json: \"exit_code\" of a record is something else: expected a whole "
       "number from 0 to 2147483647"},
      {Changed("139", "18446744073709551615"),
       "r.json: \"exit_code\" of a record is something else: expected a whole "
       "number from 0 to 2147483647"},
      {Changed("139", "-1"),
       "r.json: \"exit_code\" of a record is something else: expected a whole "
       "number from 0 to 2147483647"},
      {Changed("false", "0"),
       "r.json: \"finished\" of a record is something else: expected true or "
       "false"},
      {Changed("\"illegal\": true", "\"illegal\": 1"),
       "r.json: \"illegal\" of a record is something else: expected true or "
       "false"},
      {Changed("\"0.1.0\"", "1"),
       "r.json: \"version\" of a record is something else: expected a text"},
      {Changed("\"gen_topo --gpu 8\"", "8"),
       "r.json: \"commands\" of a record is something else: expected a list of "
       "texts"},
      {Changed("\"00ff\"", "null"),
       "r.json: \"sha256\" of a record is something else: expected a text"},
      {Changed("-3.0", "\"-3\""),
       "r.json: \"metrics\" of a record is something else: expected an object "
       "of numbers"},
      {Changed("1.25", "-1.25"),
       "r.json: \"wall_s\" of a record is something else: expected a number of "
       "at least 0"},
      {Changed("\"attempts\": 3", "\"attempts\": 0"),
       "r.json: \"attempts\" of a record is something else: expected a whole "
       "number from 1 to 9223372036854775807"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

// Earlier builds did not tell illegal layouts apart.
TEST(PointRecordTest, ReadsARecordThatSaysNothingOfLegality) {
  EXPECT_FALSE(ValueOrDie(Parse(Changed("\"illegal\": true,", ""))).illegal);
}

TEST(PointRecordTest, RefusesTheRecordOfAnotherRun) {
  EXPECT_THAT(ParsePointRecord("r.json", FormatPointRecord(Example()), "77"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "r.json: is the record of \"3f2a\": expected that of "
                       "\"77\""));
}

TEST(ReadPointRecordTest, TellsARunThatIsOverFromOneThatIsNot) {
  const TemporaryFolder temporary;
  const SweepFolder folder(temporary.path());
  ASSERT_TRUE(folder.Create().ok());
  std::string fault = "old";
  EXPECT_FALSE(ReadPointRecord(folder, "3f2a", &fault).has_value());
  EXPECT_EQ(fault, "");

  std::filesystem::create_directories(folder.PointFolder("3f2a"));
  EXPECT_FALSE(ReadPointRecord(folder, "3f2a", &fault).has_value());
  EXPECT_EQ(fault, "");

  testing::WriteText(folder.RecordFile("3f2a"), FormatPointRecord(Example()));
  const auto record = ReadPointRecord(folder, "3f2a", &fault);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->reason, "killed by signal 11");
  EXPECT_EQ(fault, "");

  testing::WriteText(folder.RecordFile("3f2a"), "{");
  EXPECT_FALSE(ReadPointRecord(folder, "3f2a", &fault).has_value());
  EXPECT_EQ(fault, folder.RecordFile("3f2a") +
                       ": is no record of a run: expected a JSON object; its "
                       "point counts as not run");
}

}  // namespace
}  // namespace astra
