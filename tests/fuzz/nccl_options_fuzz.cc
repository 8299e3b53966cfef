// Any bytes are a list of NCCL's variables, or an error of one line; what was
// taken is within the limits of the variables.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {
namespace {

void Check(std::string_view list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  const std::string message(status.message());
  ASTRA_CHECK(IsPlain(message), "control characters in {}", Quoted(message));
  ASTRA_CHECK(
      status.ok() || status.code() == absl::StatusCode::kInvalidArgument, "{}",
      status.ToString());
  ASTRA_CHECK(status.ok() == message.empty(), "{}", status.ToString());
  ASTRA_CHECK(options.min_channels <= 64 && options.max_channels <= 64, "{} {}",
              options.min_channels, options.max_channels);
  ASTRA_CHECK(options.cross_nic <= 2, "{}", options.cross_nic);
  ASTRA_CHECK(options.queue_pairs >= 1 && options.queue_pairs <= 128, "{}",
              options.queue_pairs);
  ASTRA_CHECK(options.version >= (NcclVersion{2, 18}) &&
                  options.version <= (NcclVersion{2, 99}),
              "{}.{}", options.version.major, options.version.minor);
  // Applying a list twice is applying it once.
  NcclOptions again = options;
  if (status.ok()) {
    ASTRA_CHECK(ApplyNcclOptionList(list, &again).ok(), "{}", Quoted(list));
    ASTRA_CHECK(again.max_channels == options.max_channels &&
                    again.choices.size() == options.choices.size(),
                "{}", Quoted(list));
  }
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
