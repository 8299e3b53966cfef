# Compiles through ccache where it is installed, so that a clean build, also one
# in another folder, takes only the time of what has changed.
#
# Paths below the source folder are hashed relative to it (CCACHE_BASEDIR) and the
# working directory is not hashed (CCACHE_NOHASHDIR), so that two checkouts share
# what they compile. The sloppiness is what ccache asks for where headers are
# precompiled; no source of ours prints the time at which it was compiled.
# Debug information may thus name the folder that compiled a source first.

option(ASTRA_CCACHE "Compile through ccache where it is installed." ON)
find_program(ASTRA_CCACHE_PROGRAM ccache)
mark_as_advanced(ASTRA_CCACHE_PROGRAM)

if(ASTRA_CCACHE AND ASTRA_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${ASTRA_CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    # CMake hides the paths of precompiled headers behind -Xclang, where ccache
    # does not make them relative.
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
    set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH
      -Xclang -emit-pch -include <PCH_HEADER> -x c++-header)
  endif()
endif()
