# astra_embed_inputs(<library> <folder> <Symbol> [<ending>])
#
# Puts the files of `folder` that have the ending (default yaml) into the library
# astra::<library>, so that programs find them wherever they are installed.
# `folder` is relative to the root of the project. The library declares and calls
#
#   absl::Span<const astra::EmbeddedFile> astra::<Symbol>();
#
# which holds them by name ("llama3-8b.yaml"), sorted. A changed, new or deleted
# file makes the next build configure again.
function(astra_embed_inputs library folder symbol)
  set(ending yaml)
  if(ARGN)
    set(ending ${ARGN})
  endif()
  file(GLOB paths CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.${ending})
  if(NOT paths)
    message(FATAL_ERROR "${folder} has no .${ending} files to embed")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths})

  set(entries "")
  foreach(path IN LISTS paths)
    cmake_path(GET path FILENAME name)
    file(READ ${path} contents)
    string(APPEND entries "    {\"${name}\", R\"file(${contents})file\"sv},\n")
  endforeach()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  file(WRITE ${source}.new "\
// The files of ${folder}, by astra_embed_inputs() of embed_inputs.cmake.

#include \"absl/types/span.h\"
#include \"astra-core/base/embedded_file.h\"

namespace astra {
namespace {

using namespace std::literals;

constexpr EmbeddedFile kFiles[] = {
${entries}};

}  // namespace

absl::Span<const EmbeddedFile> ${symbol}() { return kFiles; }

}  // namespace astra
")
  file(COPY_FILE ${source}.new ${source} ONLY_IF_DIFFERENT)
  target_sources(astra_${library} PRIVATE ${source})
endfunction()
