# quipu_example(<name> <document> [SOURCES ...])
#
# The executable <name>: the first C++ block of a document, compiled as a reader of it would compile
# it, with what the document leaves to the reader in SOURCES.
function(quipu_example name document)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${document}")
  file(READ "${document}" text)
  string(FIND "${text}" "\n```cpp\n" start)
  if(start EQUAL -1)
    message(FATAL_ERROR "${document} has no \`\`\`cpp block")
  endif()
  math(EXPR start "${start} + 8")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "\n```\n" end)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${text}" 0 ${end} text)
  set(example "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
  # Left alone when nothing changed, so that nothing is built again.
  file(CONFIGURE OUTPUT "${example}" CONTENT "${text}" @ONLY)
  add_executable(${name} "${example}" ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE quipu::quipu)
endfunction()
