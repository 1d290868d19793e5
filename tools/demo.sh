#!/bin/bash
# What `make run` shows: a conversation that branches and forks, and a writer that is killed in mid-append.
#   demo.sh QUIPU
# Everything happens in a temporary directory, which is removed at the end unless KEEP=1. Every number that is printed was
# counted. Exits with 1 when an acknowledged entry is lost.
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
count() { if [ "$1" = 1 ]; then echo "1 $2"; else echo "$1 $3"; fi; }

# Shows a command, then runs it.
show() {
  local word line='$ quipu'
  for word; do
    case $word in *' '*) line+=" '$word'" ;; *) line+=" $word" ;; esac
  done
  echo "$line"
  "$quipu" "$@"
}

message() { # ID ROLE TEXT [PARENT]
  printf '{"id":"%s",%s"type":"message","payload":{"role":"%s","content":"%s"}}\n' \
    "$1" "${4:+\"parentId\":\"$4\",}" "$2" "$3"
}

# Appends the lines of standard input, which are shown first.
append() { # SESSION
  cat >"$work/input"
  cat "$work/input"
  show append "$1" <"$work/input"
}

title "A session, and a conversation: one batch, stored whole or not at all"
show new --id cusco --title "A trip to Cusco"
{
  message u1 user "Plan three days in Cusco."
  message a1 assistant "With ruins or with markets?"
  message u2 user "Ruins."
  message a2 assistant "Sacsayhuaman, Qenqo, then Pisac by bus."
} | append cusco

title "Another answer to the same question: a branch, and the head moves there on purpose"
{
  message u3 user "Markets." a1
  message a3 assistant "San Pedro in the morning, then the weavers of Chinchero." u3
} | append cusco
show head cusco a3

title "A fork: a session that goes on from an entry of another, nothing copied"
show fork cusco --at a2 --id cusco-with-guide
message g1 user "And with a guide?" | append cusco-with-guide

title "A writer is killed with kill -9 until it dies in the middle of a write"
show new --id crash
{
  printf '{"type":"message","payload":{"role":"tool","content":"'
  head -c 4000000 /dev/zero | tr '\0' x
  printf '"}}\n'
} >"$work/line"
: >"$work/acknowledged"
kills=0 torn_bytes=0
while [ "$kills" -lt "$kills_max" ] && [ "$torn_bytes" = 0 ]; do
  : >"$work/answers"
  # Endless: ends when nobody reads the pipe any more.
  while cat "$work/line" 2>/dev/null; do :; done | "$quipu" append crash --batch 1 >"$work/answers" &
  writer=$!
  while [ ! -s "$work/answers" ] && kill -0 "$writer" 2>/dev/null; do sleep 0.01; done
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -9 "$writer" || { echo "the writer ended by itself"; exit 1; }
  wait "$writer" 2>/dev/null || true
  writer=
  kills=$((kills + 1))
  # Only answers that arrived whole.
  sed -n 's/.*"lastAppendedEntryId":"\([^"]*\)".*}$/\1/p' "$work/answers" >>"$work/acknowledged"
  "$quipu" verify crash >"$work/report" || true
  torn_bytes=$(sed -n 's/.*torn_tail at byte [0-9]*, \([0-9]*\) bytes.*/\1/p' "$work/report")
  torn_bytes=${torn_bytes:-0}
done
acknowledged=$(wc -l <"$work/acknowledged")
echo "$(count "$kills" kill kills); $(count "$acknowledged" entry entries) of 4 MB had been acknowledged"

title "What a check says of it, and what a reader sees"
show verify crash || echo "(exit code $?)"
"$quipu" cat crash | cut -b 1-80 | sed -n 's/^{"id":"\([^"]*\)".*/\1/p' | sort >"$work/visible"
sort "$work/acknowledged" >"$work/sorted"
lost=$(comm -23 "$work/sorted" "$work/visible" | wc -l)
echo "acknowledged entries that \`quipu cat\` does not show: $lost"

title "The next append mends it, and what was torn is kept"
message after user "Still here." | append crash
sound=0
show verify || sound=$?
quarantine=0
for file in "$QUIPU_STORE"/quarantine/*; do
  [ -f "$file" ] || continue
  quarantine=$((quarantine + 1))
  echo "quarantine/$(basename "$file"): $(wc -c <"$file") bytes"
done

title "The tree"
show tree cusco
show path cusco-with-guide g1

title "Sessions of other agents on this machine, in a store of their own"
export QUIPU_STORE=$work/others
if [ "$("$quipu" sources --json 2>/dev/null)" = "[]" ]; then
  echo "(there are none: here is a sample)"
  printf '%s\n' >"$work/sample.jsonl" \
    '{"type":"session","version":3,"id":"sample","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/atlas"}' \
    '{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":"Which map is the oldest?","timestamp":1772357401000}}' \
    '{"type":"message","id":"b2c3d4e5","parentId":"a1b2c3d4","timestamp":"2026-03-01T09:30:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls -tr maps | head -1"}}],"provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"toolUse","usage":{"input":900,"output":40,"cacheRead":0,"cacheWrite":0},"timestamp":1772357402000}}' \
    '{"type":"message","id":"c3d4e5f6","parentId":"b2c3d4e5","timestamp":"2026-03-01T09:30:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"1582-cusco.png"}],"isError":false,"timestamp":1772357403000}}' \
    '{"type":"message","id":"d4e5f6a7","parentId":"c3d4e5f6","timestamp":"2026-03-01T09:30:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The one of Cusco, of 1582."}],"provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"stop","usage":{"input":960,"output":12,"cacheRead":0,"cacheWrite":0},"timestamp":1772357404000}}'
  show import pi "$work/sample.jsonl"
else
  show import || echo "(exit code $?)"
fi
show list --all --limit 10
newest=$("$quipu" list --all --ids --limit 1)
[ -z "$newest" ] || { echo "\$ quipu show $newest | head -30"; "$quipu" show "$newest" | head -30 || true; }
show usage --by agent
export QUIPU_STORE=$work/store

title "What happened"
if [ "$torn_bytes" -gt 0 ]; then
  echo "* A writer was killed $(count "$kills" time times). The last kill tore a write: $torn_bytes bytes of an"
  echo "  entry that was never acknowledged, now in $(count "$quarantine" file files) in quarantine."
else
  echo "* A writer was killed $(count "$kills" time times). No kill hit the middle of a write this time."
fi
echo "* $(count "$acknowledged" entry entries) had been acknowledged. Lost: $lost."
echo "* $(count "$("$quipu" list --ids | wc -l)" session sessions) in the store; verify says" \
  "$([ "$sound" = 0 ] && echo "that all are sound." || echo "that something is wrong.")"
[ "$lost" = 0 ] && [ "$sound" = 0 ]
