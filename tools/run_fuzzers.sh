#!/bin/bash
# Replays each fuzzer's seeds, then runs it for some time; what it finds goes to the build
# directory, never to the seeds.
#   run_fuzzers.sh BUILD_DIR SECONDS [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
duration=$2
jobs=${3:-2}

run_one() {
  local binary=$1 build=$2 duration=$3
  local name=${binary##*/fuzz_}
  local seeds=fuzz/corpus/$name
  local found=$build/corpus/$name
  local log=$build/logs/$name.txt
  [ -d "$seeds" ] || { echo "fuzz $name: no seeds in $seeds" >&2; return 1; }
  mkdir -p "$found" "$build/crashes" "$build/logs"
  local limits=(-timeout=10 -rss_limit_mb=2048 "-artifact_prefix=$build/crashes/$name-")
  if "$binary" "${limits[@]}" -runs=0 "$seeds" >"$log" 2>&1 &&
      "$binary" "${limits[@]}" -max_total_time="$duration" -print_final_stats=1 \
        "$found" "$seeds" >>"$log" 2>&1; then
    echo "fuzz $name: ok, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1) runs"
  else
    tail -40 "$log" >&2
    echo "fuzz $name: FAILED, see $log" >&2
    return 1
  fi
}
export -f run_one

shopt -s nullglob
fuzzers=("$build"/bin/fuzz_*)
[ ${#fuzzers[@]} -gt 0 ] || { echo "no fuzzers in $build/bin" >&2; exit 1; }
printf '%s\0' "${fuzzers[@]}" |
  xargs -0 -P "$jobs" -I{} bash -c 'run_one "$1" "$2" "$3" || exit 1' _ {} "$build" "$duration"
