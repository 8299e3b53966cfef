#include "workload/traces/chakra_file.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "fmt/core.h"
#include "protozero/exception.hpp"
#include "protozero/pbf_reader.hpp"
#include "protozero/pbf_writer.hpp"

namespace astra {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;

// Fields of the messages, by their numbers in the schema.
enum MetadataField : uint32_t { kVersion = 1, kMetadataAttribute = 2 };
enum NodeField : uint32_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kControlDependencies = 4,
  kDataDependencies = 5,
  kStart = 6,
  kDuration = 7,
  kInputs = 8,
  kOutputs = 9,
  kNodeAttribute = 10,
  kStorage = 11,
};
enum AttributeField : uint32_t {
  kAttributeName = 1,
  kDocumentation = 2,
  kDouble = 3,
  kFloat = 5,
  kInt32 = 7,
  kInt64 = 9,
  kUint32 = 11,
  kUint64 = 13,
  kSint32 = 15,
  kSint64 = 17,
  kFixed32 = 19,
  kFixed64 = 21,
  kSfixed32 = 23,
  kSfixed64 = 25,
  kBool = 27,
  kString = 29,
  kBytesList = 32,
};

pbf_reader ReaderOf(std::string_view message) {
  return {message.data(), message.size()};
}

// Values beyond those of int64_t are larger than anything that a trace counts.
int64_t Clamped(uint64_t value) {
  constexpr auto kMost = static_cast<uint64_t>(INT64_MAX);
  return static_cast<int64_t>(std::min(value, kMost));
}

// Returns the value of the field that `message` stands at, or none for a field
// that holds a list.
std::optional<decltype(ChakraAttribute::value)> ValueOf(pbf_reader& message) {
  switch (message.tag()) {
    case kDouble:
      return message.get_double();
    case kFloat:
      return static_cast<double>(message.get_float());
    case kInt32:
      return int64_t{message.get_int32()};
    case kInt64:
      return message.get_int64();
    case kUint32:
      return int64_t{message.get_uint32()};
    case kUint64:
      return Clamped(message.get_uint64());
    case kSint32:
      return int64_t{message.get_sint32()};
    case kSint64:
      return message.get_sint64();
    case kFixed32:
      return int64_t{message.get_fixed32()};
    case kFixed64:
      return Clamped(message.get_fixed64());
    case kSfixed32:
      return int64_t{message.get_sfixed32()};
    case kSfixed64:
      return message.get_sfixed64();
    case kBool:
      return message.get_bool();
    case kString:
      return message.get_string();
    default:
      return std::nullopt;
  }
}

// Whether the field has the wire type that ValueOf() reads it with.
bool IsReadable(const pbf_reader& message) {
  switch (message.tag()) {
    case kDouble:
    case kFixed64:
    case kSfixed64:
      return message.has_wire_type(pbf_wire_type::fixed64);
    case kFloat:
    case kFixed32:
    case kSfixed32:
      return message.has_wire_type(pbf_wire_type::fixed32);
    case kString:
    case kAttributeName:
      return message.has_wire_type(pbf_wire_type::length_delimited);
    default:
      return message.has_wire_type(pbf_wire_type::varint);
  }
}

ChakraAttribute AttributeOf(pbf_reader message) {
  ChakraAttribute attribute;
  while (message.next()) {
    if (IsReadable(message) && message.tag() == kAttributeName) {
      attribute.name = message.get_string();
      continue;
    }
    auto value = IsReadable(message) ? ValueOf(message) : std::nullopt;
    if (value) {
      attribute.value = *std::move(value);
    } else {
      message.skip();
    }
  }
  return attribute;
}

// Reads a field of repeated numbers, packed or one by one.
void AddNumbers(pbf_reader& message, std::vector<uint64_t>& numbers) {
  if (message.has_wire_type(pbf_wire_type::varint)) {
    numbers.push_back(message.get_uint64());
    return;
  }
  const auto packed = message.get_packed_uint64();
  numbers.insert(numbers.end(), packed.begin(), packed.end());
}

bool HasTypeOf(const pbf_reader& message) {
  switch (message.tag()) {
    case kId:
    case kType:
    case kStart:
    case kDuration:
      return message.has_wire_type(pbf_wire_type::varint);
    case kControlDependencies:
    case kDataDependencies:
      return message.has_wire_type(pbf_wire_type::varint) ||
             message.has_wire_type(pbf_wire_type::length_delimited);
    default:
      return message.has_wire_type(pbf_wire_type::length_delimited);
  }
}

// Reads the field that `message` stands at. Returns an error in words.
std::string ReadField(pbf_reader& message, ChakraNode& node,
                      std::set<uint32_t>& unknown) {
  if (message.tag() > kStorage) {
    unknown.insert(message.tag());
    message.skip();
    return "";
  }
  if (!HasTypeOf(message)) {
    return fmt::format("field {} of a node has another type than in Chakra",
                       message.tag());
  }
  switch (message.tag()) {
    case kId:
      node.id = message.get_uint64();
      break;
    case kName:
      node.name = message.get_string();
      break;
    case kType: {
      const int32_t type = message.get_enum();
      if (type < 0 || type >= kNumChakraNodeTypes) {
        return fmt::format("node type {} is none of Chakra's, 0 to {}", type,
                           kNumChakraNodeTypes - 1);
      }
      node.type = static_cast<ChakraNodeType>(type);
      break;
    }
    case kControlDependencies:
      AddNumbers(message, node.control_dependencies);
      break;
    case kDataDependencies:
      AddNumbers(message, node.data_dependencies);
      break;
    case kStart:
      node.start_us = message.get_uint64();
      break;
    case kDuration:
      node.duration_us = message.get_uint64();
      break;
    case kNodeAttribute:
      node.attributes.push_back(AttributeOf(message.get_message()));
      break;
    default:  // Tensors, and what storage does: nothing here depends on them.
      message.skip();
  }
  return "";
}

std::string ReadNode(pbf_reader message, ChakraNode& node,
                     std::set<uint32_t>& unknown) {
  while (message.next()) {
    std::string error = ReadField(message, node, unknown);
    if (!error.empty()) return error;
  }
  return "";
}

// Before version 0.0.4 the metadata had no version, and attributes in its
// field 1. An attribute begins with its name, whose tag no version begins with.
bool IsAttribute(std::string_view field) {
  constexpr char kNameTag = (kAttributeName << 3) | 2;
  return !field.empty() && field.front() == kNameTag;
}

void ReadMetadata(pbf_reader message, ChakraFile& file) {
  while (message.next()) {
    if (!message.has_wire_type(pbf_wire_type::length_delimited)) {
      message.skip();
      continue;
    }
    // A message has its tag only until its value is read.
    const uint32_t tag = message.tag();
    const auto view = message.get_view();
    const std::string_view field(view.data(), view.size());
    if (tag == kVersion && !IsAttribute(field)) {
      file.version = field;
      continue;
    }
    if (tag > kMetadataAttribute) continue;
    file.attributes.push_back(AttributeOf(ReaderOf(field)));
    const auto* text = std::get_if<std::string>(&file.attributes.back().value);
    if (file.attributes.back().name == "schema" && text != nullptr) {
      file.version = *text;
    }
  }
}

// Takes the next message from `rest`; none if its length is wrong.
std::optional<std::string_view> TakeMessage(std::string_view& rest) {
  const char* begin = rest.data();
  const char* end = begin + rest.size();
  const uint64_t length = protozero::decode_varint(&begin, end);
  if (length > static_cast<uint64_t>(end - begin)) return std::nullopt;
  const std::string_view message(begin, length);
  rest = {begin + length, static_cast<size_t>(end - begin) - length};
  return message;
}

void AddAttribute(const ChakraAttribute& attribute, uint32_t field,
                  pbf_writer& parent) {
  pbf_writer writer(parent, field);
  writer.add_string(kAttributeName, attribute.name);
  if (const auto* flag = std::get_if<bool>(&attribute.value)) {
    writer.add_bool(kBool, *flag);
  } else if (const auto* number = std::get_if<int64_t>(&attribute.value)) {
    writer.add_int64(kInt64, *number);
  } else if (const auto* real = std::get_if<double>(&attribute.value)) {
    writer.add_double(kDouble, *real);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    writer.add_string(kString, *text);
  }
}

std::string FormatNode(const ChakraNode& node) {
  std::string text;
  pbf_writer writer(text);
  writer.add_uint64(kId, node.id);
  writer.add_string(kName, node.name);
  writer.add_enum(kType, static_cast<int32_t>(node.type));
  writer.add_packed_uint64(kControlDependencies,
                           node.control_dependencies.begin(),
                           node.control_dependencies.end());
  writer.add_packed_uint64(kDataDependencies, node.data_dependencies.begin(),
                           node.data_dependencies.end());
  if (node.start_us > 0) writer.add_uint64(kStart, node.start_us);
  if (node.duration_us > 0) writer.add_uint64(kDuration, node.duration_us);
  for (const ChakraAttribute& attribute : node.attributes) {
    AddAttribute(attribute, kNodeAttribute, writer);
  }
  return text;
}

void AppendMessage(std::string_view message, std::string& text) {
  protozero::add_varint_to_buffer(&text, message.size());
  text += message;
}

}  // namespace

std::string_view Name(ChakraNodeType type) {
  constexpr std::string_view kNames[] = {
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
      "STORAGE_NODE", "BATCH_NODE",     "CHECKPOINT_NODE"};
  return kNames[static_cast<size_t>(type)];
}

absl::StatusOr<ChakraFile> ParseChakraFile(std::string_view file,
                                           std::string_view contents) {
  ChakraFile parsed;
  std::set<uint32_t> unknown;
  std::string_view rest = contents;
  bool has_metadata = false;
  while (!rest.empty()) {
    const size_t begin = contents.size() - rest.size();
    std::string error;
    try {
      const std::optional<std::string_view> message = TakeMessage(rest);
      if (!message) {
        error = "a message is longer than the rest of the file";
      } else if (!has_metadata) {
        has_metadata = true;
        ReadMetadata(ReaderOf(*message), parsed);
      } else {
        error =
            ReadNode(ReaderOf(*message), parsed.nodes.emplace_back(), unknown);
      }
    } catch (const protozero::exception& damaged) {
      error = fmt::format("damaged message ({})", damaged.what());
    }
    if (!error.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("{}: byte {}: {}; expected a Chakra execution trace",
                      file, begin, error));
    }
  }
  if (!has_metadata) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the file is empty; expected a Chakra execution trace", file));
  }
  parsed.unknown_fields.assign(unknown.begin(), unknown.end());
  return parsed;
}

std::string FormatChakraFile(const ChakraFile& file) {
  std::string metadata;
  pbf_writer writer(metadata);
  if (!file.version.empty()) writer.add_string(kVersion, file.version);
  for (const ChakraAttribute& attribute : file.attributes) {
    AddAttribute(attribute, kMetadataAttribute, writer);
  }
  std::string text;
  AppendMessage(metadata, text);
  for (const ChakraNode& node : file.nodes) {
    AppendMessage(FormatNode(node), text);
  }
  return text;
}

}  // namespace astra
