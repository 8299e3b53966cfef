// Reads YAML files into typed fields, with "FILE:LINE:COLUMN: ..." errors.
//
//   YamlDocument document("gpu.yaml", contents);
//   YamlFields fields = document.Root("a GPU");
//   const std::string name = fields.Text("name");
//   const int64_t sms = fields.Integer("sms", 1, 10'000);
//   fields.Close();                              // No other keys may be there.
//   ASTRA_RETURN_IF_ERROR(document.status());    // The first error, if any.
//
// The first error sticks to the document; what is read after it are defaults,
// so that a reader checks once, at its end.

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

// A node of the file: a scalar, a list or a mapping. Lives in its document.
struct YamlValue {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  uint32_t line = 0;  // Counted from 1.
  uint32_t column = 0;
  std::string text;  // Of a scalar.
  // Of a list: its items, keys empty. Of a mapping: its fields, in the order
  // of the file, no key twice.
  std::vector<YamlField> children;
};

struct YamlField {
  std::string key;
  YamlValue value;
};

// The fields of one mapping. Every field must be asked for before Close().
class YamlFields {
 public:
  bool has(std::string_view key) const { return Find(key) != nullptr; }

  // A field that must be there. On an error: "", the least allowed, or false.
  std::string Text(std::string_view key);
  int64_t Integer(std::string_view key, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max());
  double Number(std::string_view key, double min = 0,
                double max = std::numeric_limits<double>::max());
  bool Bool(std::string_view key);

  // A field that may be absent.
  std::string TextOr(std::string_view key, std::string_view otherwise);
  int64_t IntegerOr(std::string_view key, int64_t otherwise, int64_t min = 0,
                    int64_t max = std::numeric_limits<int64_t>::max());
  double NumberOr(std::string_view key, double otherwise, double min = 0,
                  double max = std::numeric_limits<double>::max());
  bool BoolOr(std::string_view key, bool otherwise);

  // The position in `names` of a field's text, which must be one of them.
  size_t Choice(std::string_view key, absl::Span<const std::string_view> names);
  size_t ChoiceOr(std::string_view key, size_t otherwise,
                  absl::Span<const std::string_view> names);

  // A field that is a mapping, `what` it describes; empty if absent.
  YamlFields Map(std::string_view key, std::string_view what);

  // The texts of a field that is a list of scalars, or one scalar; empty if
  // absent.
  std::vector<std::string> Texts(std::string_view key);

  // The items of a field that is a list of mappings, `what` each describes;
  // empty if absent.
  std::vector<YamlFields> Maps(std::string_view key, std::string_view what);

  // The field itself, or null if absent.
  const YamlValue* Value(std::string_view key);

  // The keys, in the order of the file, for mappings of any names.
  std::vector<std::string> keys() const;

  // Records an error at the field `key`, or at the mapping if it is absent.
  void Error(std::string_view key, std::string_view message);

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
  const YamlValue* map_;    // Null stands for an empty mapping.
  const YamlValue* place_;  // Where to report that a field is missing.
  std::string what_;
  std::vector<std::string> asked_;
};

// A whole file.
class YamlDocument {
 public:
  // The most values that a file may hold. What an alias repeats is counted each
  // time, and what has an anchor once more.
  static constexpr size_t kMaxNodes = 1'000'000;

  // The most bytes that the texts and keys of a file may have, counted alike.
  static constexpr size_t kMaxTextBytes = size_t{256} << 20;

  // The most levels of lists and mappings within each other.
  static constexpr size_t kMaxDepth = 64;

  // `file` is its name in messages. A syntax error is in status().
  YamlDocument(std::string_view file, std::string_view contents);

  // The fields see the document, so it must stay where it is.
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  // The mapping that the file is, `what` it describes.
  YamlFields Root(std::string_view what);

  // The mapping that `value`, of this document, is.
  YamlFields Fields(const YamlValue& value, std::string_view what);

  // InvalidArgument, the first error of all.
  const absl::Status& status() const { return status_; }

  // Records an error at `value`.
  void Error(const YamlValue& value, std::string_view message);

  // Records an error at the field that `path` leads to from the root, as
  // FieldError() has it, or at the last part of the path that is there.
  void ErrorAt(std::string_view path, std::string_view message);

 private:
  std::string file_;
  YamlValue root_;
  absl::Status status_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_YAML_READER_H_
