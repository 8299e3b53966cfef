// Reads XML files into typed attributes. Errors are "FILE:LINE:COLUMN: ..." at
// the element concerned. The first error is kept; values read after it are the
// least ones allowed.

#ifndef ASTRA_CORE_XML_XML_READER_H_
#define ASTRA_CORE_XML_XML_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "astra-core/xml/xml_place.h"
#include "pugixml.hpp"

namespace astra {

class XmlReader {
 public:
  static constexpr size_t kMaxFileBytes = size_t{256} << 20;
  static constexpr size_t kMaxWarnings = 100;  // Further warnings are dropped.

  // `file` is its name in messages. Unknown elements and attributes go to
  // `warnings`, each once. All arguments must outlive the reader.
  XmlReader(std::string_view file, std::string_view contents,
            Warnings* warnings)
      : file_(file), contents_(contents), warnings_(warnings) {}

  // Returns the root element, which must be a `name`; null on an error.
  pugi::xml_node Root(const char* name);

  // Returns the elements of `parent` that have one of these names, in the order
  // of the file, and warns of others.
  std::vector<pugi::xml_node> Children(
      pugi::xml_node parent, absl::Span<const std::string_view> names);
  std::vector<pugi::xml_node> Children(pugi::xml_node parent,
                                       std::string_view name) {
    return Children(parent, absl::MakeConstSpan(&name, 1));
  }

  // Read an attribute, which must exist.
  std::string Text(pugi::xml_node node, const char* key,
                   std::string_view expected);
  int64_t Integer(pugi::xml_node node, const char* key, int64_t min,
                  int64_t max);
  uint32_t Count(pugi::xml_node node, const char* key, uint32_t min,
                 uint32_t max);
  // Reads an attribute; -1 becomes nullopt.
  std::optional<uint32_t> Optional(pugi::xml_node node, const char* key,
                                   uint32_t max);
  // Reads an attribute and returns its index in `names`.
  size_t Choice(pugi::xml_node node, const char* key,
                absl::Span<const std::string_view> names);

  // Fails if an attribute occurs twice, and warns of attributes not in `known`.
  void CheckAttributes(pugi::xml_node node,
                       absl::Span<const std::string_view> known);

  // Returns the place of the "<" of an element.
  XmlPlace PlaceOf(pugi::xml_node node) {
    return PlaceAt(node.offset_debug() - 1);
  }

  // Warns, once for each `what`, that the file says what has no effect.
  void WarnOfNoEffect(pugi::xml_node node, const std::string& what);

  // Records an error, unless there is already one.
  void Fail(XmlPlace place, std::string_view message);

  const absl::Status& status() const { return status_; }

 private:
  void Warn(pugi::xml_node node, const std::string& what, std::string_view why);
  XmlPlace PlaceAt(ptrdiff_t offset);

  std::string_view file_;
  std::string_view contents_;
  Warnings* warnings_;
  pugi::xml_document document_;
  std::set<std::string> warned_;
  absl::Status status_;

  // Lines are counted up to this offset.
  size_t counted_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
};

}  // namespace astra

#endif  // ASTRA_CORE_XML_XML_READER_H_
