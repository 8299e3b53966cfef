// Reads YAML files into typed fields, with "FILE:LINE:COLUMN: ..." errors.
//
//   YamlDocument document("gpu.yaml", contents);
//   YamlFields fields = document.Root("a GPU");
//   const std::string name = fields.Text("name");
//   const int64_t sms = fields.Integer("sms", 1, 10'000);
//   fields.Close();                              // No other keys may be there.
//   ASTRA_RETURN_IF_ERROR(document.status());    // The first error, if any.
//
// The document keeps its first error, and later reads return defaults. A reader
// therefore checks the status once, at its end.

#ifndef ASTRA_CORE_BASE_YAML_READER_H_
#define ASTRA_CORE_BASE_YAML_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace astra {

class YamlDocument;
struct YamlField;

// A node of the file: a scalar, a list or a mapping. Its document owns it.
struct YamlValue {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  uint32_t line = 0;  // Counted from 1.
  uint32_t column = 0;
  std::string text;  // Text of a scalar.
  // A list has its items here, with empty keys. A mapping has its fields, in
  // the order of the file, with no key twice.
  std::vector<YamlField> children;
};

struct YamlField {
  std::string key;
  YamlValue value;
};

// The fields of one mapping. Every field must be read or queried before
// Close().
class YamlFields {
 public:
  bool has(std::string_view key) const { return Find(key) != nullptr; }

  // Read a required field. On an error they return "", the smallest value
  // allowed, or false.
  std::string Text(std::string_view key);
  int64_t Integer(std::string_view key, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max());
  double Number(std::string_view key, double min = 0,
                double max = std::numeric_limits<double>::max());
  bool Bool(std::string_view key);

  // Read an optional field, or return `otherwise`.
  std::string TextOr(std::string_view key, std::string_view otherwise);
  int64_t IntegerOr(std::string_view key, int64_t otherwise, int64_t min = 0,
                    int64_t max = std::numeric_limits<int64_t>::max());
  double NumberOr(std::string_view key, double otherwise, double min = 0,
                  double max = std::numeric_limits<double>::max());
  bool BoolOr(std::string_view key, bool otherwise);

  // Read a field whose text must be one of `names`, and return its position
  // there.
  size_t Choice(std::string_view key, absl::Span<const std::string_view> names);
  size_t ChoiceOr(std::string_view key, size_t otherwise,
                  absl::Span<const std::string_view> names);

  // Reads a field that is a mapping; empty if absent. `what` names it in
  // messages.
  YamlFields Map(std::string_view key, std::string_view what);

  // Reads a field that is a list of scalars or a single scalar; empty if
  // absent.
  std::vector<std::string> Texts(std::string_view key);

  // Reads a field that is a list of mappings; empty if absent. `what` names
  // each of them in messages.
  std::vector<YamlFields> Maps(std::string_view key, std::string_view what);

  // Returns the field itself, or null if it is absent.
  const YamlValue* Value(std::string_view key);

  // Returns all keys in the order of the file, for mappings whose keys are
  // free.
  std::vector<std::string> keys() const;

  // Records an error at the field `key`, or at the mapping if it is absent.
  void Error(std::string_view key, std::string_view message);

  // Records an error at the mapping, which has none of the fields `keys`. If
  // Close() finds a field that looks like a misspelling of one of them, its
  // error takes the place of this one.
  void Missing(absl::Span<const std::string_view> keys,
               std::string_view message);

  // Records an error if there is a field that nobody asked for.
  void Close();

 private:
  friend class YamlDocument;

  YamlFields(YamlDocument* document, const YamlValue* map,
             const YamlValue* place, std::string_view what)
      : document_(document), map_(map), place_(place), what_(what) {}

  const YamlValue* Find(std::string_view key) const;
  const YamlValue* Require(std::string_view key);
  const YamlValue* Scalar(std::string_view key, bool required);

  YamlDocument* document_;
  const YamlValue* map_;    // Null for an empty mapping.
  const YamlValue* place_;  // Place of errors about missing fields.
  std::string what_;
  std::vector<std::string> asked_;
};

// A YAML file as a tree of values.
class YamlDocument {
 public:
  // Most values in a file. A repetition by an alias counts each time, and a
  // value with an anchor counts twice.
  static constexpr size_t kMaxNodes = 1'000'000;

  // Most bytes of texts and keys in a file, counted in the same way.
  static constexpr size_t kMaxTextBytes = size_t{256} << 20;

  // Most levels of nested lists and mappings.
  static constexpr size_t kMaxDepth = 64;

  // `file` is the file's name in messages. A syntax error is reported by
  // status().
  YamlDocument(std::string_view file, std::string_view contents);

  // The document must not move, because its fields point to it.
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  // Returns the mapping at the root of the file. `what` names it in messages.
  YamlFields Root(std::string_view what);

  // Returns the mapping `value`, a value of this document.
  YamlFields Fields(const YamlValue& value, std::string_view what);

  // Returns the first error, an InvalidArgument, or ok.
  const absl::Status& status() const { return status_; }

  // Records an error at the place of `value`.
  void Error(const YamlValue& value, std::string_view message);

  // Records an error at the field that `path` leads to from the root, in the
  // form of FieldError(), or at the last part of the path that exists.
  void ErrorAt(std::string_view path, std::string_view message);

 private:
  friend class YamlFields;

  std::string file_;
  YamlValue root_;
  absl::Status status_;
  // If the first error is one of Missing(): its mapping and its fields.
  const YamlValue* lacking_ = nullptr;
  std::vector<std::string> lacked_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_YAML_READER_H_
