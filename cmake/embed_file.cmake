# astra_embed_file(<library> <path> <Symbol>)
#
# Puts the text of a file, whose path is relative to the folder of the caller,
# into the library astra::<library>, which declares and calls
#
#   std::string_view astra::<Symbol>();
#
# A changed file makes the next build configure again.
function(astra_embed_file library path symbol)
  set(file ${CMAKE_CURRENT_SOURCE_DIR}/${path})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} contents)
  string(FIND "${contents}" ")embedded\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${path} holds what would end it: )embedded\"")
  endif()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  file(WRITE ${source}.new "\
// The file ${path}, by astra_embed_file() of embed_file.cmake.

#include <string_view>

namespace astra {

std::string_view ${symbol}() {
  return R\"embedded(${contents})embedded\";
}

}  // namespace astra
")
  file(COPY_FILE ${source}.new ${source} ONLY_IF_DIFFERENT)
  target_sources(astra_${library} PRIVATE ${source})
endfunction()
