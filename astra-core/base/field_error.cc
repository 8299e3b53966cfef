#include "astra-core/base/field_error.h"

#include "absl/strings/cord.h"

namespace astra {
namespace {

constexpr char kPayload[] = "simai-cpp/field";

}  // namespace

absl::Status FieldError(std::string_view path, std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(std::string(message));
  status.SetPayload(kPayload, absl::Cord(std::string(path)));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  return payload ? std::string(*payload) : std::string();
}

}  // namespace astra
