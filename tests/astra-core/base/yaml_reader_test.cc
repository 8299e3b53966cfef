#include "astra-core/base/yaml_reader.h"

#include <string>
#include <string_view>

#include "astra-core/base/field_error.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kNames[] = {"full", "latent"};

TEST(YamlReaderTest, ReadsEveryKindOfField) {
  YamlDocument document("f",
                        "text: a b\n"
                        "integer: 12\n"
                        "number: 0.5\n"
                        "bool: true\n"
                        "choice: latent\n"
                        "one: x\n"
                        "list: [x, 'y z']\n"
                        "map: {inner: 3}\n"
                        "maps:\n"
                        "  - {inner: 4}\n"
                        "  - {inner: 5}\n");
  YamlFields fields = document.Root("a file");
  EXPECT_EQ(fields.Text("text"), "a b");
  EXPECT_EQ(fields.Integer("integer"), 12);
  EXPECT_EQ(fields.Number("number"), 0.5);
  EXPECT_TRUE(fields.Bool("bool"));
  EXPECT_EQ(fields.Choice("choice", kNames), 1u);
  EXPECT_THAT(fields.Texts("one"), ElementsAre("x"));
  EXPECT_THAT(fields.Texts("list"), ElementsAre("x", "y z"));
  EXPECT_EQ(fields.Map("map", "a map").Integer("inner"), 3);
  int64_t sum = 0;
  for (YamlFields& item : fields.Maps("maps", "an item")) {
    sum += item.Integer("inner");
    item.Close();
  }
  EXPECT_EQ(sum, 9);
  fields.Close();
  EXPECT_TRUE(document.status().ok()) << document.status();
}

TEST(YamlReaderTest, HasDefaultsForWhatIsAbsent) {
  YamlDocument document("f", "there: 1\n");
  YamlFields fields = document.Root("a file");
  EXPECT_FALSE(fields.has("absent"));
  EXPECT_EQ(fields.TextOr("absent", "otherwise"), "otherwise");
  EXPECT_EQ(fields.IntegerOr("absent", 7), 7);
  EXPECT_EQ(fields.NumberOr("absent", 0.25), 0.25);
  EXPECT_TRUE(fields.BoolOr("absent", true));
  EXPECT_EQ(fields.ChoiceOr("absent", 1, kNames), 1u);
  EXPECT_THAT(fields.Texts("absent"), IsEmpty());
  EXPECT_EQ(fields.Maps("absent", "an item").size(), 0u);
  fields.Map("absent", "a map").Close();
  EXPECT_THAT(fields.keys(), ElementsAre("there"));
  EXPECT_EQ(fields.Integer("there"), 1);
  fields.Close();
  EXPECT_TRUE(document.status().ok()) << document.status();
}

TEST(YamlReaderTest, SharesWhatAnAliasRefersTo) {
  YamlDocument document("f", "a: &x {inner: 3}\nb: *x\n");
  YamlFields fields = document.Root("a file");
  EXPECT_EQ(fields.Map("a", "a map").Integer("inner"), 3);
  EXPECT_EQ(fields.Map("b", "a map").Integer("inner"), 3);
}

// What is read after an error are defaults; the first error stays.
TEST(YamlReaderTest, KeepsTheFirstError) {
  YamlDocument document("f", "a: x\nb: y\n");
  YamlFields fields = document.Root("a file");
  EXPECT_EQ(fields.Integer("a", 5), 5);
  EXPECT_EQ(fields.Integer("b", 6), 6);
  EXPECT_EQ(document.status().message().substr(0, 6), "f:1:4:");
}

struct BadCase {
  std::string_view name;
  std::string_view text;
  std::string_view message;
};

class BadYamlTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadYamlTest, SaysWhatAndWhere) {
  YamlDocument document("f", GetParam().text);
  YamlFields fields = document.Root("a thing");
  fields.Text("text");
  fields.IntegerOr("integer", 1, 1, 9);
  fields.NumberOr("number", 1, 0, 2);
  fields.BoolOr("bool", false);
  fields.ChoiceOr("kind", 0, kNames);
  fields.Texts("list");
  fields.Map("map", "the map").Close();
  fields.Maps("maps", "an item");
  fields.Close();
  EXPECT_EQ(std::string(document.status().message()), GetParam().message);
}

constexpr BadCase kBadCases[] = {
    {"Empty", "", "f:1:1: a thing is nothing, expected a mapping"},
    {"AList", "[1]", "f:1:1: a thing is a list, expected a mapping"},
    {"NotYaml", "text: [\n", "f:2:1: not YAML: end of sequence flow not found"},
    {"Missing", "integer: 2\n", "f:1:1: a thing has no \"text\""},
    {"Misspelt", "colour: 1\ntexd: a\n",
     "f:2:7: unknown field of a thing \"texd\"; did you mean \"text\"? "
     "(known: bool, integer, kind, list, map, maps, number, text)"},
    {"MissingBesideUnknown", "colour: 1\n", "f:1:1: a thing has no \"text\""},
    {"Twice", "text: a\ntext: b\n", "f:2:1: \"text\" is there twice"},
    {"KeyIsAList", "text: a\n[1]: b\n", "f:2:1: expected a name as the key"},
    {"Unknown", "text: a\nintegre: 2\n",
     "f:2:10: unknown field of a thing \"integre\"; did you mean \"integer\"? "
     "(known: bool, integer, kind, list, map, maps, number, text)"},
    {"TextIsAList", "text: [a]\n", "f:1:7: text is a list, expected one value"},
    {"TooLarge", "text: a\ninteger: 10\n",
     "f:2:10: integer is \"10\": expected a whole number from 1 to 9"},
    {"NotANumber", "text: a\nnumber: x\n",
     "f:2:9: number is \"x\": expected a number from 0 to 2"},
    {"NotABool", "text: a\nbool: yes\n",
     "f:2:7: bool is \"yes\": expected true or false"},
    {"NotAChoice", "text: a\nkind: ful\n",
     "f:2:7: unknown kind \"ful\"; did you mean \"full\"? (known: full, "
     "latent)"},
    {"ListOfLists", "text: a\nlist: [[a]]\n",
     "f:2:8: list: expected a list of values"},
    {"MapIsAValue", "text: a\nmap: 1\n",
     "f:2:6: the map is a value, expected a mapping"},
    {"FieldInTheMap", "text: a\nmap: {x: 1}\n",
     "f:2:10: unknown field of the map \"x\": none is expected"},
    {"SecondDocument", "# x\n%YAML 1.2\n---\ntext: a\n---\ntext: b\n",
     "f:5:1: a second document in the file"},
    {"TextBehindTheEnd", "text: a\n...\n\nb\n",
     "f:4:1: a second document in the file"},
    {"MapsIsAMap", "text: a\nmaps: {x: 1}\n",
     "f:2:7: maps is a mapping, expected a list"},
};

INSTANTIATE_TEST_SUITE_P(All, BadYamlTest, ::testing::ValuesIn(kBadCases),
                         [](const auto& bad) {
                           return std::string(bad.param.name);
                         });

TEST(YamlReaderTest, ReportsAtTheFieldThatAPathLeadsTo) {
  constexpr std::string_view kText =
      "sizes: {tp: 2}\nstages:\n  - {count: 1}\n  - {count: 0}\n";
  const auto place_of = [&](std::string_view path) {
    YamlDocument document("f", kText);
    const absl::Status error = FieldError(path, "wrong");
    document.ErrorAt(FieldOf(error), std::string(error.message()));
    return std::string(document.status().message());
  };
  EXPECT_EQ(place_of("sizes.tp"), "f:1:13: wrong");
  EXPECT_EQ(place_of("sizes.pp"), "f:1:8: wrong");  // Its mapping.
  EXPECT_EQ(place_of("stages.1.count"), "f:4:13: wrong");
  EXPECT_EQ(place_of("stages.7.count"), "f:3:3: wrong");
  EXPECT_EQ(place_of("stages.x"), "f:3:3: wrong");
  EXPECT_EQ(place_of(""), "f:1:1: wrong");
  EXPECT_EQ(FieldOf(absl::InvalidArgumentError("other")), "");
}

// What a file of a few bytes could otherwise take the stack or memory with.
struct BombCase {
  friend void PrintTo(const BombCase& bomb, std::ostream* out) {
    *out << bomb.name;
  }
  std::string name;
  std::string text;
  std::string_view message;
};

std::string Times(int count, std::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Each alias is twice the one before it: 2^40 values in all.
std::string Doubled() {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    text += fmt::format("a{}: &a{} [*a{}, *a{}]\n", i, i, i - 1, i - 1);
  }
  return text;
}

// Each alias is one level deeper than the one before it.
std::string Deepened() {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 100'000; ++i) {
    text += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
  }
  return text;
}

class YamlBombTest : public ::testing::TestWithParam<BombCase> {};

TEST_P(YamlBombTest, IsRefusedWhereItGoesTooFar) {
  YamlDocument document("f", GetParam().text);
  EXPECT_EQ(std::string(document.status().message()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, YamlBombTest,
    ::testing::Values(
        BombCase{"ListOfItself", "name: &a [*a]\n",
                 "f:1:11: an alias to a value that it is a part of"},
        BombCase{"MappingOfItself", "a: &a\n  b: {c: [1, *a]}\n",
                 "f:2:14: an alias to a value that it is a part of"},
        BombCase{"KeyOfItself", "&a {*a : 1}\n",
                 "f:1:5: an alias to a value that it is a part of"},
        BombCase{"Lists", Times(100, "[") + Times(100, "]"),
                 "f:1:65: more than 64 levels of lists and mappings"},
        BombCase{"Mappings", Times(100, "{a: ") + Times(100, "}"),
                 "f:1:254: more than 64 levels of lists and mappings"},
        BombCase{"Dashes", Times(100'000, "- "),
                 "f:1:129: more than 64 levels of lists and mappings"},
        BombCase{"AliasesOfAliases", Deepened(),
                 "f:63:12: more than 64 levels of lists and mappings"},
        BombCase{"Doubled", Doubled(), "f:17:6: more than 1000000 values"},
        BombCase{"LongText",
                 "a: &a " + std::string(1 << 20, 'x') + "\nb: [" +
                     Times(999, "*a, ") + "]\n",
                 "f:2:1017: more than 268435456 bytes of text"}),
    [](const auto& bomb) { return bomb.param.name; });

// The parser takes these for the beginnings of keys, too.
TEST(YamlReaderTest, EndsOnListsThatAreNotClosed) {
  EXPECT_FALSE(YamlDocument("f", Times(1'000'000, "[")).status().ok());
  EXPECT_FALSE(YamlDocument("f", Times(1'000'000, "{a: ")).status().ok());
}

TEST(YamlReaderTest, ReadsAsManyLevelsAsItMay) {
  const std::string text = "a: " + Times(63, "[") + Times(63, "]") + "\n";
  EXPECT_TRUE(YamlDocument("f", text).status().ok());
}

}  // namespace
}  // namespace astra
