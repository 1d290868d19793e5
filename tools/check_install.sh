#!/bin/bash
# Installs to an empty prefix and builds programs against it, through CMake and through pkg-config.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
make install PREFIX="$prefix" >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }

for file in bin/quipu share/man/man1/quipu.1 share/bash-completion/completions/quipu \
    share/zsh/site-functions/_quipu share/fish/vendor_completions.d/quipu.fish; do
  [ -s "$prefix/$file" ] || { echo "not installed: $file" >&2; exit 1; }
done
bash -n "$prefix/share/bash-completion/completions/quipu"
"$prefix/bin/quipu" --version >/dev/null
if grep -rIl -e "$PWD" "$prefix"; then
  echo "installed files name the source directory" >&2
  exit 1
fi

mkdir "$scratch/program"
cd "$scratch/program"
cat >main.cc <<'END'
#include <quipu/quipu.hpp>

#include <cstdio>

int main() {
  auto store = quipu::Store::open("memory:");
  std::puts(store.ok() ? "opened" : store.error().message().c_str());
  return store.ok() ? 0 : 1;
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(program CXX)
find_package(quipu 0.1 REQUIRED)
add_executable(program main.cc)
target_link_libraries(program PRIVATE quipu::quipu)
END

cmake -S . -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build by_cmake >/dev/null
./by_cmake/program >/dev/null

libdir=$(dirname "$(find "$prefix" -name quipu.pc)")
PKG_CONFIG_PATH=$libdir "${CXX:-g++}" -std=c++20 main.cc -o by_pkg_config \
  $(PKG_CONFIG_PATH=$libdir pkg-config --cflags --libs quipu)
./by_pkg_config >/dev/null
echo "install: the installed library and command line work" >&2
