# ccache and lld when present, and the sanitizers: all must reach every target, so they are set for
# the whole directory tree.

find_program(QUIPU_CCACHE ccache)
mark_as_advanced(QUIPU_CCACHE)
if(QUIPU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers: what they define is in their hash, and times are in none of them.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "CCACHE_SLOPPINESS=pch_defines,time_macros" "${QUIPU_CCACHE}")
endif()

if(QUIPU_SANITIZE)
  # -fno-sanitize-recover: a finding must fail the test, not scroll by.
  add_compile_options(-fsanitize=${QUIPU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${QUIPU_SANITIZE} -fno-sanitize-recover=all)
  # A hundred programs with the library in each: a quarter of the time.
  find_program(QUIPU_LLD ld.lld)
  mark_as_advanced(QUIPU_LLD)
  if(QUIPU_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

set(QUIPU_COVERAGE "")
if(QUIPU_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "QUIPU_LIBFUZZER needs clang++ (the preset asan-ubsan chooses it)")
  endif()
  set(QUIPU_COVERAGE -fsanitize=fuzzer-no-link)
endif()

# quipu_compile_options(<target> [LENIENT] [UNOPTIMISED])
# Warnings and options of our own code. LENIENT leaves out -Wconversion, for tests and
# benchmarks. UNOPTIMISED is for tests: no optimisation, nothing for fuzzers.
function(quipu_compile_options target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LENIENT;UNOPTIMISED" "" "")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
    $<$<NOT:$<BOOL:${arg_LENIENT}>>:-Wconversion>
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
    # GCC 12 warns of an overlap inside std::string's own operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${QUIPU_DEVELOPER}>:-Werror>
    $<IF:$<BOOL:${arg_UNOPTIMISED}>,-O0,${QUIPU_COVERAGE}>)
endfunction()

include(quipu_precompiled)

# quipu_target_defaults(<target> [LENIENT] [UNOPTIMISED])
# These options, and what makes developers' builds faster. With sanitizers all that is LENIENT is
# UNOPTIMISED: at the sizes of such runs the time goes by in the library.
function(quipu_target_defaults target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LENIENT;UNOPTIMISED" "" "")
  set(options ${ARGN})
  if(arg_LENIENT AND QUIPU_SANITIZE)
    set(arg_UNOPTIMISED ON)
    list(APPEND options UNOPTIMISED)
  endif()
  quipu_compile_options(${target} ${options})
  if(arg_UNOPTIMISED)
    quipu_precompiled(${target})
  elseif(NOT arg_LENIENT)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${QUIPU_UNITY})
  endif()
endfunction()
