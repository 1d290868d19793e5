# quipu_benchmark(<name> SOURCES ... [LIBRARIES ...] [SMOKE_ARGS ...] [DRIVER])
#
# A benchmark binary <name>, linked with Google Benchmark, and the ctest test <name>_smoke that
# runs it with SMOKE_ARGS: the smallest sizes, to see that it still works. A DRIVER has its own
# main() and does not use Google Benchmark. `make bench` builds the target quipu_benchmarks and
# runs what it finds in bench/ of the build directory.
find_package(benchmark REQUIRED)
add_custom_target(quipu_benchmarks)

function(quipu_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DRIVER" "" "SOURCES;LIBRARIES;SMOKE_ARGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quipu_benchmark(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  quipu_target_defaults(${name} LENIENT)
  target_include_directories(${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/bench")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  if(arg_DRIVER)
    set(folder "${PROJECT_BINARY_DIR}/bench")
  else()
    target_link_libraries(${name} PRIVATE benchmark::benchmark benchmark::benchmark_main)
    set(folder "${PROJECT_BINARY_DIR}/bench/micro")
    if(NOT arg_SMOKE_ARGS)
      set(arg_SMOKE_ARGS --benchmark_min_time=0.001)
    endif()
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${folder}")
  add_dependencies(quipu_benchmarks ${name})
  add_test(NAME ${name}_smoke COMMAND ${name} ${arg_SMOKE_ARGS})
  set_tests_properties(${name}_smoke PROPERTIES TIMEOUT 120 LABELS bench)
endfunction()
