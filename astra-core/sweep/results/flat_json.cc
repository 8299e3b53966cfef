#include "astra-core/sweep/results/flat_json.h"

#include <charconv>
#include <cstddef>
#include <system_error>

#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

// A fast reader for what the store mostly writes: objects of numbers without
// escapes in their names. It is about ten times faster than a full JSON reader.
class NumbersReader {
 public:
  NumbersReader(std::string_view text, std::vector<Metric>* numbers)
      : next_(text.data()),
        end_(text.data() + text.size()),
        numbers_(numbers) {}

  // Returns false where `text` is anything else, valid or not.
  bool Read() {
    // Existing entries are overwritten, which reuses their memory.
    size_t count = 0;
    if (!Skip('{')) return false;
    do {
      if (count == numbers_->size()) numbers_->emplace_back();
      Metric& number = (*numbers_)[count++];
      if (!ReadName(number.name) || !ReadNumber(number.value)) return false;
    } while (Skip(','));
    numbers_->resize(count);
    return Skip('}') && next_ == end_;
  }

 private:
  bool Skip(char c) {
    if (next_ == end_ || *next_ != c) return false;
    ++next_;
    return true;
  }

  bool SkipDigits() {
    const char* const begin = next_;
    while (next_ != end_ && *next_ >= '0' && *next_ <= '9') ++next_;
    return next_ != begin;
  }

  // Reads a name and the colon behind it.
  bool ReadName(std::string& name) {
    if (!Skip('"')) return false;
    const char* const begin = next_;
    while (next_ != end_ && *next_ != '"') {
      const bool is_plain = *next_ >= ' ' && *next_ < 0x7f && *next_ != '\\';
      if (!is_plain) return false;
      ++next_;
    }
    name.assign(begin, next_);
    return Skip('"') && Skip(':');
  }

  // Reads a number in JSON's syntax, which is stricter than that of
  // from_chars().
  bool ReadNumber(double& value) {
    const char* const begin = next_;
    Skip('-');
    if (!Skip('0') && !SkipDigits()) return false;
    if (Skip('.') && !SkipDigits()) return false;
    if (Skip('e') || Skip('E')) {
      if (!Skip('+')) Skip('-');
      if (!SkipDigits()) return false;
    }
    const auto [stop, error] = std::from_chars(begin, next_, value);
    return error == std::errc() && stop == next_;
  }

  const char* next_;
  const char* end_;
  std::vector<Metric>* numbers_;
};

// Reads a FlatJson. A function that returns false stops the parser.
class FlatJsonReader : public nlohmann::json_sax<Json> {
 public:
  explicit FlatJsonReader(FlatJson* json) : json_(json) {}

  bool null() override { return depth_ == 1; }
  bool boolean(bool /*value*/) override { return false; }
  bool number_integer(number_integer_t value) override {
    return AddNumber(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return AddNumber(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return AddNumber(value);
  }
  bool string(string_t& value) override {
    json_->texts.emplace_back(name_, std::move(value));
    return depth_ == 1;
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return ++depth_ == 1; }
  bool key(string_t& value) override {
    name_ = std::move(value);
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(size_t /*size*/) override { return ++depth_ == 1; }
  bool end_array() override { return true; }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool AddNumber(double value) {
    json_->numbers.push_back({name_, value});
    return depth_ == 1;
  }

  FlatJson* json_;
  int depth_ = 0;
  std::string name_;
};

// Reads the texts of all arrays in an object.
class TextListsReader : public nlohmann::json_sax<Json> {
 public:
  explicit TextListsReader(std::vector<std::vector<std::string>>* lists)
      : lists_(lists) {}

  bool null() override { return false; }
  bool boolean(bool /*value*/) override { return false; }
  bool number_integer(number_integer_t /*value*/) override { return false; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return false; }
  bool number_float(number_float_t /*value*/,
                    const string_t& /*text*/) override {
    return false;
  }
  bool string(string_t& value) override {
    if (depth_ != 2) return false;
    lists_->back().push_back(std::move(value));
    return true;
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return ++depth_ == 1; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t /*size*/) override {
    lists_->emplace_back();
    return ++depth_ == 2;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  std::vector<std::vector<std::string>>* lists_;
  int depth_ = 0;
};

// This wrapper makes the parser compile only once for both readers.
bool Parse(std::string_view text, nlohmann::json_sax<Json>* reader) {
  return Json::sax_parse(text, reader);
}

}  // namespace

bool FlatJson::Read(std::string_view text) {
  texts.clear();
  if (NumbersReader(text, &numbers).Read()) return true;
  numbers.clear();
  FlatJsonReader reader(this);
  return Parse(text, &reader);
}

std::vector<std::string> FlatJson::Texts() const {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const auto& [name, text] : texts) values.push_back(text);
  return values;
}

bool ReadTextLists(std::string_view text,
                   std::vector<std::vector<std::string>>* lists) {
  lists->clear();
  TextListsReader reader(lists);
  return Parse(text, &reader);
}

}  // namespace astra
