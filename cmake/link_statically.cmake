# With ASTRA_STATIC, programs are linked with static libraries only and run on
# any Linux of their architecture. Sources are compiled just as without it.
#
# The libraries of the system are taken from where CMake found the shared ones;
# those that Debian does not ship are in ASTRA_STATIC_LIBRARIES, where
# scripts/static_libraries puts them. The shared library of collectives/api is
# left out.

set(ASTRA_STATIC_LIBRARIES
  ${PROJECT_SOURCE_DIR}/build/package/static-libraries/lib CACHE PATH
  "Where scripts/static_libraries put its libraries.")

# Sets `result` to the static library beside the shared library `path`, or to
# the one of its name in ASTRA_STATIC_LIBRARIES.
function(astra_static_library path result)
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(GET path FILENAME name)
  string(REGEX REPLACE "\\.so[.0-9]*$" ".a" name ${name})
  foreach(candidate ${ASTRA_STATIC_LIBRARIES}/${name} ${folder}/${name})
    if(EXISTS ${candidate})
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR
    "There is no static library ${name}: run scripts/static_libraries")
endfunction()

# Lets every imported target of this folder stand for its static library.
function(astra_link_statically)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    set(properties IMPORTED_LOCATION)
    foreach(configuration IN LISTS configurations)
      list(APPEND properties IMPORTED_LOCATION_${configuration})
    endforeach()
    foreach(property IN LISTS properties)
      get_target_property(path ${target} ${property})
      if(path MATCHES "\\.so[.0-9]*$")
        astra_static_library(${path} library)
        set_target_properties(${target} PROPERTIES ${property} ${library})
      endif()
    endforeach()
  endforeach()
endfunction()

astra_link_statically()
set_property(TARGET xgboost::xgboost PROPERTY
  INTERFACE_LINK_LIBRARIES ${ASTRA_STATIC_LIBRARIES}/libdmlc.a)
set(ASTRA_PROGRAM_SOURCES ${PROJECT_SOURCE_DIR}/packaging/host_names.cc)
string(APPEND CMAKE_EXE_LINKER_FLAGS " -static-pie -Wl,--gc-sections")
set(CMAKE_SKIP_RPATH ON)
