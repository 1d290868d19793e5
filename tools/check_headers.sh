#!/bin/bash
# Every header compiles alone: what it uses, it includes.
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
find include src app -name '*.h*' -print0 | sort -z |
  xargs -0 -r -P "${1:-$(nproc)}" -I{} bash -c 'try "$1"' _ {}
