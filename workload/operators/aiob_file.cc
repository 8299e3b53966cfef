#include "workload/operators/aiob_file.h"

#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "workload/operators/microseconds.h"

namespace astra {
namespace {

struct Key {
  std::string_view name;
  TimePs AiobSection::*time;
};
constexpr Key kKeys[] = {{"time_gpu_max", &AiobSection::max},
                         {"time_gpu_min", &AiobSection::min},
                         {"time_gpu_avg", &AiobSection::average}};

class AiobParser {
 public:
  AiobParser(std::string_view file, std::string_view contents)
      : reader_(file, contents) {}

  absl::StatusOr<AiobFile> Parse() {
    ASTRA_RETURN_IF_ERROR(ReadTrainIter());
    while (reader_.NextLine()) {
      if (!reader_.tokens().empty()) ASTRA_RETURN_IF_ERROR(ReadLine());
    }
    ASTRA_RETURN_IF_ERROR(EndSection());
    if (result_.sections.empty()) {
      return reader_.ErrorAtEnd("no section, such as \"Emb:\"");
    }
    return std::move(result_);
  }

 private:
  // Reads the line "train_iter:10" or "train_iter: 10".
  absl::Status ReadTrainIter() {
    constexpr std::string_view kKey = "train_iter:";
    reader_.NextLine();
    const absl::Span<const Token> words = reader_.tokens();
    if (words.empty() || words[0].text.substr(0, kKey.size()) != kKey) {
      const Token at = {
          .text = "",
          .line = 1,
          .column = words.empty() ? uint32_t{1} : words[0].column};
      return reader_.Error(at, "expected \"train_iter:\" and a number");
    }
    Token number = words[0];
    number.text.remove_prefix(kKey.size());
    number.column += static_cast<uint32_t>(kKey.size());
    if (number.text.empty() && words.size() > 1) number = words[1];
    const absl::StatusOr<int64_t> value =
        ParseInteger("train_iter", number.text, 1);
    if (!value.ok()) {
      return reader_.Error(number, std::string(value.status().message()));
    }
    result_.train_iter = *value;
    return RefuseAfter(number);
  }

  // Returns an error if a word follows `last` in its line.
  absl::Status RefuseAfter(const Token& last) const {
    for (const Token& word : reader_.tokens()) {
      if (word.column <= last.column) continue;
      return reader_.Error(word,
                           fmt::format("unexpected {}", Quoted(word.text)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadLine() {
    Token key = reader_.tokens()[0];
    if (key.text.size() < 2 || key.text.back() != ':') {
      return reader_.Error(key,
                           fmt::format("{} lacks a \":\"", Quoted(key.text)));
    }
    key.text.remove_suffix(1);
    return key.column == 1 ? BeginSection(key) : ReadTime(key);
  }

  absl::Status BeginSection(const Token& name) {
    ASTRA_RETURN_IF_ERROR(EndSection());
    ASTRA_RETURN_IF_ERROR(RefuseAfter(name));
    if (!names_.insert(name.text).second) {
      return reader_.Error(
          name, fmt::format("section {} is there twice", Quoted(name.text)));
    }
    section_ = name;
    given_.clear();
    result_.sections.emplace_back().name = name.text;
    return absl::OkStatus();
  }

  absl::Status EndSection() const {
    if (result_.sections.empty()) return absl::OkStatus();
    for (const Key& key : kKeys) {
      if (given_.count(key.name) > 0) continue;
      return reader_.Error(
          section_,
          fmt::format("section {} lacks {}", Quoted(section_.text), key.name));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTime(const Token& name) {
    if (result_.sections.empty()) {
      return reader_.Error(name, "expected a section, such as \"Emb:\", first");
    }
    ASTRA_ASSIGN_OR_RETURN(const Key key, KeyOf(name));
    if (!given_.insert(key.name).second) {
      return reader_.Error(name, fmt::format("{} is there twice", key.name));
    }
    if (reader_.tokens().size() == 1) {
      return reader_.ErrorAtEnd("expected a number of microseconds");
    }
    const Token& number = reader_.tokens()[1];
    const absl::StatusOr<double> us =
        ParseNumber(key.name, number.text, 0, kMaxMicroseconds);
    if (!us.ok()) {
      return reader_.Error(number, std::string(us.status().message()));
    }
    result_.sections.back().*key.time = FromMicroseconds(*us);
    return RefuseAfter(number);
  }

  absl::StatusOr<Key> KeyOf(const Token& name) const {
    std::vector<std::string_view> names;
    for (const Key& key : kKeys) {
      if (name.text == key.name) return key;
      names.push_back(key.name);
    }
    return reader_.Error(name, UnknownName("time", name.text, names));
  }

  TextReader reader_;
  AiobFile result_;
  Token section_;                     // The section that is being read.
  std::set<std::string_view> given_;  // Times of this section so far.
  std::set<std::string_view> names_;  // Names of all sections so far.
};

}  // namespace

const AiobSection* AiobFile::Find(std::string_view name) const {
  for (const AiobSection& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

absl::StatusOr<AiobFile> ParseAiob(std::string_view file,
                                   std::string_view contents) {
  return AiobParser(file, contents).Parse();
}

absl::StatusOr<AiobFile> ReadAiob(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseAiob(path, contents);
}

std::string FormatAiob(const AiobFile& file) {
  std::string text = fmt::format("train_iter:{}\n", file.train_iter);
  for (const AiobSection& section : file.sections) {
    AppendFormat(&text, "{}:\n", section.name);
    for (const Key& key : kKeys) {
      AppendFormat(&text, "    {}: {}\n", key.name,
                   MicrosecondsText(section.*key.time));
    }
  }
  return text;
}

}  // namespace astra
