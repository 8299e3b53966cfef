#include "workload/models/model_library.h"

#include <set>
#include <string>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "workload/models/model_file.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModelLibraryTest, BundledModelsSayWhatTheyAre) {
  std::set<std::string> names;
  for (const EmbeddedFile& file : BundledModels()) {
    const ModelSpec model = ValueOrDie(ParseModel(file.name, file.contents));
    EXPECT_EQ(model.name + ".yaml", file.name);
    EXPECT_FALSE(model.sources.empty()) << file.name;
    EXPECT_THAT(std::string(file.contents),
                HasSubstr(model.published_parameters ? "published_parameters: "
                                                     : "no_published_count: "));
    EXPECT_EQ(ValueOrDie(ParseModel("m", FormatModel(model))), model);
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    for (const std::string& alias : model.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
  }
}

TEST(ModelLibraryTest, NamesAreSortedAndWithoutAliases) {
  const std::vector<std::string> names = ModelNames();
  EXPECT_EQ(names.size(), BundledModels().size());
  EXPECT_THAT(names, Contains("llama3-405b"));
  EXPECT_THAT(names, ::testing::WhenSorted(::testing::ElementsAreArray(names)));
  EXPECT_THAT(names, ::testing::Not(Contains("deepseek-r1")));
}

TEST(ModelLibraryTest, FindsNamesAndAliasesHoweverTheyAreWritten) {
  Warnings warnings;
  EXPECT_EQ(ValueOrDie(FindModel("llama3-8b", &warnings)).hidden, 4096);
  EXPECT_EQ(ValueOrDie(FindModel("DeepSeek_R1", &warnings)).name,
            "deepseek-v3");
  EXPECT_THAT(FindModel("lama3-8b", &warnings),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("unknown model \"lama3-8b\"; did you mean "
                                 "\"llama3-8b\"? (known: deepseek-v2, ")));
  EXPECT_TRUE(warnings.empty());
}

TEST(ModelLibraryTest, FindsFilesOfBothFormats) {
  const TemporaryFolder folder;
  const std::string yaml = folder.PathOf("tiny.yaml");
  WriteText(yaml,
            "name: tiny\nlayers: 2\nhidden: 64\nvocabulary: 100\n"
            "attention: {kind: full, heads: 4, kv_heads: 2, head_dim: 16}\n"
            "feed_forward: {ffn: 256, gated: true}\n");
  const std::string json = folder.PathOf("config.json");
  WriteText(json,
            "\n {\"model_type\": \"llama\", \"_name_or_path\": \"tiny\", "
            "\"num_hidden_layers\": 2, \"hidden_size\": 64, "
            "\"vocab_size\": 100, \"num_attention_heads\": 4, "
            "\"num_key_value_heads\": 2, \"intermediate_size\": 256,\n"
            "\"odd\": 1}");
  Warnings warnings;
  const ModelSpec model = ValueOrDie(FindModel(yaml, &warnings));
  EXPECT_EQ(model.name, "tiny");
  EXPECT_EQ(ValueOrDie(FindModel(json, &warnings)), model);
  EXPECT_THAT(
      warnings,
      ElementsAre(json + ":3:8: \"odd\" is not understood and left out"));
}

TEST(ModelLibraryTest, AYamlFileMayBeWrittenInBraces) {
  const TemporaryFolder folder;
  const std::string yaml = folder.PathOf("tiny.yaml");
  WriteText(yaml,
            "{\"name\": \"tiny\", \"layers\": 2, \"hidden\": 64, "
            "\"vocabulary\": 100, \"attention\": {\"kind\": \"full\", "
            "\"heads\": 4, \"kv_heads\": 2, \"head_dim\": 16}, "
            "\"feed_forward\": {\"ffn\": 256, \"gated\": true}}");
  Warnings warnings;
  EXPECT_EQ(ValueOrDie(FindModel(yaml, &warnings)).name, "tiny");
}

TEST(ModelLibraryTest, SaysWhichFileIsNotThere) {
  Warnings warnings;
  EXPECT_THAT(FindModel("no/such", &warnings),
              StatusIs(absl::StatusCode::kNotFound,
                       "no/such: cannot be read: No such file or directory"));
  EXPECT_THAT(FindModel("config.json", &warnings),
              StatusIs(absl::StatusCode::kNotFound,
                       "config.json: cannot be read: No such file or "
                       "directory"));
}

}  // namespace
}  // namespace astra
