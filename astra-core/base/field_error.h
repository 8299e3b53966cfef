// Errors about one field of what a file holds, from checks that know the values
// but not the file. The reader of the file says where the field stands.
//
//   return FieldError("stages.1.count", "the count is 0: expected 1 or more");
//   document.ErrorAt(FieldOf(error), error.message());  // f.yaml:9:12: the ...

#ifndef ASTRA_CORE_BASE_FIELD_ERROR_H_
#define ASTRA_CORE_BASE_FIELD_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

// InvalidArgument with `message`, about the field that `path` leads to: keys
// and, for items of lists, their numbers from 0, with dots between them.
absl::Status FieldError(std::string_view path, std::string_view message);

// The path of a FieldError; empty for any other status.
std::string FieldOf(const absl::Status& status);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FIELD_ERROR_H_
