# Builds that only developers make read less:
#
# * The headers of the standard library, of GoogleTest and of include/quipu, which nearly every test
#   includes, are read once a build instead of once a file. A precompiled header fits the options that it was made
#   with, so it is for what is UNOPTIMISED (quipu_target_defaults).
# * With sanitizers, several files of a folder are compiled as one (QUIPU_UNITY): private names, too,
#   are used once in a folder.
#
# What users get is compiled file by file, each with the headers that it names.
set(QUIPU_UNITY OFF)
if(QUIPU_SANITIZE)
  set(QUIPU_UNITY ON)
endif()

# What ccache and the compilers must know of each other.
set(for_ccache
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")

if(QUIPU_DEVELOPER)
  find_package(GTest REQUIRED)
  set(empty "${PROJECT_BINARY_DIR}/precompiled.cc")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "" @ONLY)
  add_library(quipu_precompiled OBJECT "${empty}")
  quipu_compile_options(quipu_precompiled LENIENT UNOPTIMISED)
  target_compile_options(quipu_precompiled PRIVATE ${for_ccache})
  target_link_libraries(quipu_precompiled PRIVATE GTest::gmock GTest::gtest)
  target_precompile_headers(quipu_precompiled PRIVATE
    <algorithm> <array> <atomic> <chrono> <cstdint> <filesystem> <fstream> <functional> <map>
    <memory> <optional> <random> <set> <span> <string> <string_view> <thread> <unordered_map>
    <vector> <gmock/gmock.h> <gtest/gtest.h> "${PROJECT_SOURCE_DIR}/include/quipu/quipu.hpp")
  target_include_directories(quipu_precompiled PRIVATE "${PROJECT_SOURCE_DIR}/include")
endif()

function(quipu_precompiled target)
  target_compile_options(${target} PRIVATE ${for_ccache})
  target_precompile_headers(${target} REUSE_FROM quipu_precompiled)
endfunction()
