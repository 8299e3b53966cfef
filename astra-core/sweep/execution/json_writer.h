// Writes JSON value by value, as the files and lines of a sweep hold it.
//
//   JsonWriter json;
//   json.BeginObject().Field("event", "point").Field("tp", int64_t{8});
//   json.Key("reasons").BeginArray().Text("a").Text("b").EndArray();
//   json.EndObject();
//   json.text();  // {"event":"point","tp":8,"reasons":["a","b"]}
//
// Bytes of a text that are no UTF-8 become U+FFFD; a number that is infinite or
// not a number becomes null. Sources that include this header compile in a
// third of the time of those that include nlohmann/json.hpp.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_JSON_WRITER_H_
#define ASTRA_CORE_SWEEP_EXECUTION_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace astra {

// Which characters a text may hold as they are.
enum class JsonCharacters : uint8_t { kUtf8, kAscii };

class JsonWriter {
 public:
  explicit JsonWriter(JsonCharacters characters = JsonCharacters::kUtf8)
      : characters_(characters) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  // The name of the value that follows.
  JsonWriter& Key(std::string_view name);

  JsonWriter& Text(std::string_view value);
  JsonWriter& Integer(int64_t value);
  JsonWriter& Number(double value);
  JsonWriter& Null();

  // An array of texts.
  JsonWriter& Texts(absl::Span<const std::string> values);

  JsonWriter& Field(std::string_view name, std::string_view value) {
    return Key(name).Text(value);
  }
  JsonWriter& Field(std::string_view name, double value) {
    return Key(name).Number(value);
  }
  JsonWriter& Field(std::string_view name, std::integral auto value) {
    return Key(name).Integer(static_cast<int64_t>(value));
  }
  JsonWriter& Flag(std::string_view name, bool value);

  // All that was written.
  const std::string& text() const { return text_; }

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();  // A comma before every value of a list but the first.

  JsonCharacters characters_;
  std::string text_;
};

// `text` in quotes.
std::string JsonQuoted(std::string_view text,
                       JsonCharacters characters = JsonCharacters::kUtf8);

// `text` with U+FFFD for every byte that is no UTF-8.
std::string ValidUtf8(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_JSON_WRITER_H_
