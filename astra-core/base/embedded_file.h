// Input files that are compiled into a library.

#ifndef ASTRA_CORE_BASE_EMBEDDED_FILE_H_
#define ASTRA_CORE_BASE_EMBEDDED_FILE_H_

#include <string_view>

namespace astra {

// What cmake/embed_inputs.cmake makes of a file. Points into the program.
struct EmbeddedFile {
  std::string_view name;  // Without its folder.
  std::string_view contents;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_EMBEDDED_FILE_H_
