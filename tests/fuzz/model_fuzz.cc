// Any bytes are a model or an error; a model, once written, is read back as the
// same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/models/model_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  const absl::StatusOr<ModelSpec> model = ParseModel("file", contents);
  if (!model.ok()) {
    ASTRA_CHECK(model.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  const std::string text = FormatModel(*model);
  const absl::StatusOr<ModelSpec> again = ParseModel("file", text);
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *model, "read back as another");
  ASTRA_CHECK(FormatModel(*again) == text, "written in two ways");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
