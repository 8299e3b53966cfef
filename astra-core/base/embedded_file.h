// Describes input files that are compiled into a library.

#ifndef ASTRA_CORE_BASE_EMBEDDED_FILE_H_
#define ASTRA_CORE_BASE_EMBEDDED_FILE_H_

#include <string_view>

namespace astra {

// A file embedded by cmake/embed_inputs.cmake. The views point into the
// program.
struct EmbeddedFile {
  std::string_view name;  // Name without the folder.
  std::string_view contents;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_EMBEDDED_FILE_H_
