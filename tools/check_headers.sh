#!/bin/bash
# Every header compiles alone: what it uses, it includes. A header that some source file includes
# before anything else has been compiled alone by the build; the others are compiled here.
set -euo pipefail
cd "$(dirname "$0")/.."

libpq=$(pg_config --includedir)
export libpq
try() {
  printf '#include "%s"\n' "$PWD/$1" |
    "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Iinclude -Isrc -Iapp -isystem "$libpq" \
      -x c++ - ||
    { echo "$1 does not compile alone" >&2; exit 1; }
}
export -f try

first_includes=$(find src app -name '*.cc' -print0 | xargs -0 -n 1 grep -m 1 '^#include' |
  sed -nE 's/^#include ["<]([^">]+)[">].*/\1/p')
find include src app -name '*.h*' | sort |
  while read -r header; do
    grep -qxF "${header#*/}" <<<"$first_includes" || printf '%s\0' "$header"
  done |
  xargs -0 -r -P "${1:-$(nproc)}" -I{} bash -c 'try "$1"' _ {}
