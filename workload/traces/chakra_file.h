// Reads and writes one file of a Chakra execution trace, NAME.RANK.et: the
// metadata of the trace, then the nodes of one rank, each a protocol buffer
// message behind its length.
//
// Source: github.com/mlcommons/chakra, schema/protobuf/et_def.proto; the
// attributes are those that ASTRA-sim's feeder reads.

#ifndef WORKLOAD_TRACES_CHAKRA_FILE_H_
#define WORKLOAD_TRACES_CHAKRA_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

// The numbers of the schema.
enum class ChakraNodeType : uint8_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemoryLoad = 2,
  kMemoryStore = 3,
  kCompute = 4,
  kSend = 5,
  kReceive = 6,
  kCollective = 7,
  kStorage = 8,
  kBatch = 9,
  kCheckpoint = 10,
};
constexpr int32_t kNumChakraNodeTypes = 11;

// Returns the name in the schema, such as "COMP_NODE".
std::string_view Name(ChakraNodeType type);

// A named value. Lists and bytes have no value here: nothing reads them but by
// name.
struct ChakraAttribute {
  std::string name;
  std::variant<std::monostate, bool, int64_t, double, std::string> value;
};

struct ChakraNode {
  uint64_t id = 0;
  std::string name;
  ChakraNodeType type = ChakraNodeType::kInvalid;
  std::vector<uint64_t> control_dependencies;
  std::vector<uint64_t> data_dependencies;
  uint64_t start_us = 0;
  uint64_t duration_us = 0;
  std::vector<ChakraAttribute> attributes;
};

struct ChakraFile {
  std::string version;  // Of the schema; empty where the file says none.
  std::vector<ChakraAttribute> attributes;
  std::vector<ChakraNode> nodes;
  // Numbers of fields of nodes that the schema does not have; ascending.
  std::vector<uint32_t> unknown_fields;
};

// Parses `contents`; `file` names it in messages.
//
// Errors: InvalidArgument "FILE: byte N: ..." for what is no such file, with
// the byte at which the message begins that cannot be read.
absl::StatusOr<ChakraFile> ParseChakraFile(std::string_view file,
                                           std::string_view contents);

// Returns the file. ParseChakraFile() reads the same from it.
std::string FormatChakraFile(const ChakraFile& file);

}  // namespace astra

#endif  // WORKLOAD_TRACES_CHAKRA_FILE_H_
