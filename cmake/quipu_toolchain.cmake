# ccache when present, and the sanitizers: both must reach every target, so they are set for the
# whole directory tree.

find_program(QUIPU_CCACHE ccache)
mark_as_advanced(QUIPU_CCACHE)
if(QUIPU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${QUIPU_CCACHE}")
endif()

if(QUIPU_SANITIZE)
  # -fno-sanitize-recover: a finding must fail the test, not scroll by.
  add_compile_options(-fsanitize=${QUIPU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${QUIPU_SANITIZE} -fno-sanitize-recover=all)
endif()

if(QUIPU_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "QUIPU_LIBFUZZER needs clang++ (the preset asan-ubsan chooses it)")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# quipu_target_defaults(<target> [LENIENT])
# Warnings and include paths of our own code. LENIENT leaves out -Wconversion, for tests and
# benchmarks.
function(quipu_target_defaults target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LENIENT" "" "")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
    $<$<NOT:$<BOOL:${arg_LENIENT}>>:-Wconversion>
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
    # GCC 12 warns of an overlap inside std::string's own operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${QUIPU_DEVELOPER}>:-Werror>)
endfunction()
