// Errors about one field of a file, from checks that know the values but not
// the file. The reader of the file adds the place of the field.
//
//   return FieldError("stages.1.count", "the count is 0: expected 1 or more");
//   document.ErrorAt(FieldOf(error), error.message());  // f.yaml:9:12: the ...

#ifndef ASTRA_CORE_BASE_FIELD_ERROR_H_
#define ASTRA_CORE_BASE_FIELD_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

// Returns InvalidArgument with `message`, about the field at `path`. The path
// has keys and, for items of lists, their numbers from 0, separated by dots.
absl::Status FieldError(std::string_view path, std::string_view message);

// Returns the path of a FieldError; empty for any other status.
std::string FieldOf(const absl::Status& status);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_FIELD_ERROR_H_
