// Any bytes are a model or an error, and every message is one line; a model,
// written as YAML, is read back as the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "workload/models/hugging_face_config.h"
#include "workload/models/model_file.h"

namespace astra {
namespace {

void Check(std::string_view contents) {
  Warnings warnings;
  const absl::StatusOr<ModelSpec> model =
      ParseHuggingFaceConfig("file", contents, &warnings);
  for (const std::string& warning : warnings) {
    ASTRA_CHECK(warning.find('\n') == std::string::npos,
                "a warning of several lines");
  }
  if (!model.ok()) {
    ASTRA_CHECK(model.status().message().find('\n') == absl::string_view::npos,
                "a message of several lines");
    return;
  }
  const absl::StatusOr<ModelSpec> again =
      ParseModel("file", FormatModel(*model));
  ASTRA_CHECK(again.ok(), "{}", again.status().ToString());
  ASTRA_CHECK(*again == *model, "read back as another");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
