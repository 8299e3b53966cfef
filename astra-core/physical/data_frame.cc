#include "astra-core/physical/data_frame.h"

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/bytes.h"

namespace astra {
namespace {

constexpr uint32_t kMagic = 0x46505350;  // "PSPF".

}  // namespace

std::string Encode(const DataFrame& frame) {
  ByteWriter writer;
  writer.Add32(kMagic);
  writer.Add32(frame.iteration);
  writer.Add32(frame.communicator);
  writer.Add32(frame.number);
  writer.Add64(frame.flow.index());
  writer.AddTime(frame.bytes.count());
  return writer.Take();
}

absl::StatusOr<DataFrame> ParseDataFrame(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint32_t magic = reader.Read32();
  DataFrame frame;
  frame.iteration = reader.Read32();
  frame.communicator = reader.Read32();
  frame.number = reader.Read32();
  frame.flow = FlowId(reader.Read64());
  frame.bytes = Bytes(reader.ReadTime());
  ASTRA_RETURN_IF_ERROR(reader.status());
  if (magic != kMagic || frame.bytes < Bytes(0)) {
    return absl::InvalidArgumentError("what arrived is no frame of a message");
  }
  return frame;
}

}  // namespace astra
