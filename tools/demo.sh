#!/bin/bash
# What `make run` shows: a conversation that branches and forks, and a writer that is killed in mid-append.
#   demo.sh QUIPU
# Everything happens in a temporary directory, which is removed at the end unless KEEP=1. Every number is counted here.
set -euo pipefail

quipu=$(realpath "${1:?usage: demo.sh QUIPU}")
kills_max=${KILLS_MAX:-60}
work=$(mktemp -d)
writer=
clean_up() {
  [ -z "$writer" ] || kill -9 "$writer" 2>/dev/null || true
  if [ "${KEEP:-0}" = 1 ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap clean_up EXIT
export QUIPU_STORE=$work/store QUIPU_PAGER=

title() { printf '\n== %s\n' "$*"; }
# Shows a command, then runs it.
show() { printf '$ quipu %s\n' "$*"; "$quipu" "$@"; }
message() { # ID ROLE TEXT [PARENT]
  printf '{"id":"%s",%s"type":"message","payload":{"role":"%s","content":"%s"}}\n' \
    "$1" "${4:+\"parentId\":\"$4\",}" "$2" "$3"
}

title "A session, and a conversation in one atomic batch"
show new --id cusco --title "A trip to Cusco"
{
  message u1 user "Plan three days in Cusco."
  message a1 assistant "With ruins or with markets?"
  message u2 user "Ruins."
  message a2 assistant "Sacsayhuaman, Qenqo, then Pisac by bus."
} | show append cusco

title "Another answer to the same question: a branch, and the head moves there on purpose"
{
  message u3 user "Markets." a1
  message a3 assistant "San Pedro in the morning, then the weavers of Chinchero." u3
} | show append cusco
show head cusco a3
show tree cusco

title "A fork: a new session that goes on from an entry, nothing copied"
show fork cusco --at a2 --id cusco-with-guide
message g1 user "And with a guide?" | show append cusco-with-guide
show path cusco-with-guide g1

title "A writer is killed with kill -9 until it dies in the middle of a write"
show new --id crash
{ printf '{"type":"message","payload":{"role":"tool","content":"'
  head -c 4000000 /dev/zero | tr '\0' x
  printf '"}}\n'; } >"$work/line"
: >"$work/acknowledged"
kills=0 torn=0
while [ "$kills" -lt "$kills_max" ] && [ "$torn" = 0 ]; do
  : >"$work/answers"
  # Endless: ends when the reader of the pipe is gone.
  while cat "$work/line" 2>/dev/null; do :; done | "$quipu" append crash --batch 1 >"$work/answers" &
  writer=$!
  while [ ! -s "$work/answers" ] && kill -0 "$writer" 2>/dev/null; do sleep 0.01; done
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -9 "$writer"
  wait "$writer" 2>/dev/null || true
  writer=
  kills=$((kills + 1))
  # Only answers that arrived whole: a line that ends.
  sed -n 's/.*"lastAppendedEntryId":"\([^"]*\)".*}$/\1/p' "$work/answers" >>"$work/acknowledged"
  # From now on only the kill that tore something is of interest.
  "$quipu" verify crash >"$work/report" || torn=1
done
acknowledged=$(wc -l <"$work/acknowledged")
echo "killed $kills times; $acknowledged entries of 4 MB had been acknowledged"

title "What a check says, and what a reader sees"
show verify crash || echo "(exit code $?)"
"$quipu" cat crash | cut -b 1-80 | sed -n 's/^{"id":"\([^"]*\)".*/\1/p' | sort >"$work/visible"
sort "$work/acknowledged" >"$work/sorted"
lost=$(comm -23 "$work/sorted" "$work/visible" | wc -l)
echo "acknowledged entries that \`quipu cat\` does not show: $lost"

title "The next append mends it; what was torn is kept"
message after user "Still here." | show append crash
show verify
quarantine=0 quarantine_bytes=0
for file in "$QUIPU_STORE"/quarantine/*; do
  [ -f "$file" ] || continue
  quarantine=$((quarantine + 1))
  quarantine_bytes=$((quarantine_bytes + $(wc -c <"$file")))
  echo "quarantine/$(basename "$file"): $(wc -c <"$file") bytes"
done

title "What happened"
if [ "$torn" = 1 ]; then
  echo "* A writer was killed $kills times; the last kill left a torn tail, the others hit between writes."
else
  echo "* A writer was killed $kills times; this time no kill hit the middle of a write."
fi
echo "* $acknowledged entries had been acknowledged, $lost of them were lost."
echo "* $quarantine files with $quarantine_bytes torn bytes are in quarantine."
echo "* $("$quipu" list --ids | wc -l) sessions are in the store, all sound."
[ "$lost" = 0 ]
