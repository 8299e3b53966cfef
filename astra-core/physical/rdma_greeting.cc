#include "astra-core/physical/rdma_greeting.h"

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/bytes.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr uint32_t kMagic = 0x47525350;  // "PSRG".

}  // namespace

std::string Encode(const RdmaGreeting& greeting) {
  ByteWriter body;
  body.Add32(kMagic);
  body.AddText(greeting.provider);
  body.AddText(greeting.address);
  body.Add64(greeting.memory.address);
  body.Add64(greeting.memory.key);
  body.Add32(greeting.slot_bytes);
  body.Add32(greeting.first_notice);
  ByteWriter writer;
  writer.AddText(body.Take());
  return writer.Take();
}

absl::StatusOr<size_t> ParseGreetingLength(std::string_view bytes) {
  const size_t length = ByteReader(bytes).Read32();
  if (length <= RdmaGreeting::kMostBytes) return length;
  return absl::InvalidArgumentError(
      fmt::format("a greeting of {} bytes is too long", length));
}

absl::StatusOr<RdmaGreeting> ParseRdmaGreeting(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint32_t magic = reader.Read32();
  RdmaGreeting greeting;
  greeting.provider = reader.ReadText();
  greeting.address = reader.ReadText();
  greeting.memory.address = reader.Read64();
  greeting.memory.key = reader.Read64();
  greeting.slot_bytes = reader.Read32();
  greeting.first_notice = reader.Read32();
  ASTRA_RETURN_IF_ERROR(reader.status());
  if (magic != kMagic) {
    return absl::InvalidArgumentError("what arrived is no greeting of a rank");
  }
  return greeting;
}

}  // namespace astra
