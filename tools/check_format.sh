#!/bin/bash
# clang-format on all C++ files of the tree: says what differs, or with --fix changes it.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
git ls-files -z --cached --others --exclude-standard -- '*.cc' '*.h' '*.hpp' |
  xargs -0 -r -n 16 -P "$(nproc)" clang-format "${mode[@]}"
