# quipu_library(<name> [INTERNAL] [SOURCES ...] [DEPENDS ...] [LIBRARIES ...])
#
# One folder as the target quipu_<name>; without SOURCES it is headers only.
#   DEPENDS    other folders, by their short names: DEPENDS base fs links quipu_base and quipu_fs
#   LIBRARIES  anything else to link, by target name
#   INTERNAL   for tests (the simulated disk, test/support) and parts of programs: never a part of
#              libquipu, never installed
#
# The tests link these targets one by one, so that a folder that needs more than it says fails to
# link. What users link is libquipu (src/CMakeLists.txt), made from the objects of all that are not
# INTERNAL.
set_property(GLOBAL PROPERTY QUIPU_PRODUCT_LIBRARIES "")

function(quipu_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;DEPENDS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quipu_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target quipu_${name})
  list(TRANSFORM arg_DEPENDS PREPEND quipu_)

  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    quipu_target_defaults(${target})
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS}
      ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
      EXCLUDE_FROM_ALL ${arg_INTERNAL})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  # Outside src/ paths start at the top folder too: "cli/output.h", "support/model_store.h".
  # A part of a program sees include/ and app/, never src/.
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "/.*" "" top "${folder}")
  target_include_directories(${target} ${scope}
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/${top}")
  if(NOT top STREQUAL "app" AND NOT top STREQUAL "src")
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src")
  endif()
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES} Threads::Threads)

  if(arg_SOURCES AND NOT arg_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY QUIPU_PRODUCT_LIBRARIES ${target})
  endif()
endfunction()

# quipu_executable(<target> OUTPUT_NAME ... SOURCES ... [LIBRARIES ...])
# A program for users; it lands at the top of the build directory. It sees include/quipu only, not
# src/.
function(quipu_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quipu_executable(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${target} ${arg_SOURCES})
  quipu_target_defaults(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/app")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_OUTPUT_NAME}
    # Only a shared libquipu needs it: the installed program finds it in any prefix.
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()
