// Reads attributes of Chakra nodes by name.

#ifndef WORKLOAD_TRACES_CHAKRA_ATTRIBUTES_H_
#define WORKLOAD_TRACES_CHAKRA_ATTRIBUTES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "workload/traces/chakra_file.h"

namespace astra {
namespace chakra {

// Those of ASTRA-sim's feeder and of Chakra's converters.
constexpr std::string_view kIsCpuOp = "is_cpu_op";
constexpr std::string_view kCommType = "comm_type";
constexpr std::string_view kCommSize = "comm_size";
constexpr std::string_view kGroup = "pg_name";
constexpr std::string_view kSource = "comm_src";
constexpr std::string_view kTarget = "comm_dst";
constexpr std::string_view kTag = "comm_tag";
constexpr std::string_view kNumOps = "num_ops";
constexpr std::string_view kTensorSize = "tensor_size";

// Our own, for what the schema has no word for.
constexpr std::string_view kDurationPs = "duration_ps";
constexpr std::string_view kUpdatePs = "update_ps";
constexpr std::string_view kPhase = "phase";
constexpr std::string_view kDimension = "dimension";
constexpr std::string_view kCollectiveKind = "collective_kind";
constexpr std::string_view kBufferBytes = "buffer_bytes";
constexpr std::string_view kSlowdown = "communication_slowdown";  // Of a file.

constexpr std::string_view kRead[] = {
    kIsCpuOp,  kCommType, kCommSize,  kGroup,          kSource,
    kTarget,   kTag,      kNumOps,    kTensorSize,     kDurationPs,
    kUpdatePs, kPhase,    kDimension, kCollectiveKind, kBufferBytes};

}  // namespace chakra

// The attributes of a node, which must outlive the object.
class ChakraAttributes {
 public:
  explicit ChakraAttributes(const ChakraNode& node) : node_(node) {}

  bool has(std::string_view name) const { return Find(name) != nullptr; }

  // Returns the attribute as a whole number from 0 to `most`; none where it is
  // absent or not one.
  std::optional<int64_t> Integer(
      std::string_view name,
      int64_t most = std::numeric_limits<int64_t>::max()) const;

  // Returns the attribute as a number that is not negative; 0 where it is
  // absent or not one.
  double Number(std::string_view name) const;

  // Returns the attribute as a text; "" where it is absent or not one.
  std::string_view Text(std::string_view name) const;

 private:
  const ChakraAttribute* Find(std::string_view name) const;

  const ChakraNode& node_;
};

}  // namespace astra

#endif  // WORKLOAD_TRACES_CHAKRA_ATTRIBUTES_H_
