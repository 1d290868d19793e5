# quipu_test(<name> SOURCES ... [LIBRARIES ...] [LABELS ...] [TIMEOUT seconds] [COST seconds]
#            [ARGS ...] [CLI] [OWN_MAIN] [OPTIMISED])
#
# A GoogleTest binary <name>, and one ctest test of the same name.
#   LIBRARIES  by target name: quipu_base, quipu_fs_sim, quipu::quipu ...
#   LABELS     `threads` for everything that uses threads: the TSan run takes these only
#   TIMEOUT    600 seconds when not given: a machine that is busy with other work is no failure
#   COST       of a long one, about: ctest starts these first, so that none is left over at the end
#   CLI        the test runs the command line; its path is the macro QUIPU_CLI_PATH
#   OWN_MAIN   the sources have their own main()
#   OPTIMISED  most of the time goes by in the test's own code. All others are compiled without
#              optimisation, which takes half the time; what they test is optimised in any case
#
# Sources may include by path from src/, include/, app/ and test/. The macro QUIPU_SOURCE_DIR is
# the root of the tree, for data files. Tests that choose their own size multiply it by the
# environment variable QUIPU_TEST_SCALE (1 when unset; the sanitizer runs set less).
find_package(GTest REQUIRED)
find_package(rapidcheck QUIET)
# What the TSan build builds.
add_custom_target(quipu_thread_tests)

function(quipu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CLI;OWN_MAIN;OPTIMISED" "TIMEOUT;COST" "SOURCES;LIBRARIES;LABELS;ARGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quipu_test(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  add_executable(${name} ${arg_SOURCES})
  if(arg_OPTIMISED)
    quipu_target_defaults(${name} LENIENT)
  else()
    quipu_target_defaults(${name} LENIENT UNOPTIMISED)
  endif()
  target_include_directories(${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/app"
    "${PROJECT_SOURCE_DIR}/test")
  target_compile_definitions(${name} PRIVATE QUIPU_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest)
  if(NOT arg_OWN_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  if(rapidcheck_FOUND)
    target_link_libraries(${name} PRIVATE rapidcheck_gtest)
  endif()
  if(arg_CLI)
    target_compile_definitions(${name} PRIVATE QUIPU_CLI_PATH="$<TARGET_FILE:quipu_cli>")
    add_dependencies(${name} quipu_cli)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

  if("threads" IN_LIST arg_LABELS)
    add_dependencies(quipu_thread_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
