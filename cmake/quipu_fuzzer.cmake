# quipu_fuzzer(<name> SOURCES ... [LIBRARIES ...])
#
# The binary fuzz_<name> of sources that define LLVMFuzzerTestOneInput. With QUIPU_LIBFUZZER it is
# a real fuzzer. In all builds it replays fuzz/corpus/<name>, as the ctest test
# fuzz_<name>_corpus, so that no fuzzer rots and no input that once failed fails again unseen.
add_custom_target(quipu_fuzzers)

function(quipu_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quipu_fuzzer(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target fuzz_${name})
  add_executable(${target} ${arg_SOURCES})
  quipu_target_defaults(${target} LENIENT)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/app")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  add_dependencies(quipu_fuzzers ${target})

  set(only_replay "")
  if(QUIPU_LIBFUZZER)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(only_replay -runs=0)
  else()
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cc")
  endif()
  add_test(NAME ${target}_corpus
           COMMAND ${target} ${only_replay} "${PROJECT_SOURCE_DIR}/fuzz/corpus/${name}")
  set_tests_properties(${target}_corpus PROPERTIES TIMEOUT 120 LABELS fuzz)
endfunction()
