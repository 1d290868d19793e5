# bash completion for quipu: commands, options, session ids.

_quipu() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="init new append head fork branch diff label redact list show tree path cat context compact state queue recover attach import export sources adopt usage events search memory knowledge reindex stats rename tag archive project verify repair migrate upgrade copy dump version"
  local shared="--store --schema --replica --json --color --no-pager --help"
  local i command= position=0 store=()
  COMPREPLY=()

  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --schema | --replica | --session) ((i++)) ;;
      --store) store=(--store "${COMP_WORDS[++i]}") ;;
      --color | --id | --cwd | --title | --expect-tail | --expect-head | --batch | --durability | --at | --entry | --head | --provider | --model | --budget | --keep | --summarizer | --trigger | --summary | --remove | --reason | --text | --type | --agent | --project | --parent | --tag | --status | --since | --from | --until | --to | --limit | --after | --phase | --out | --branch | --role | --tool | --neighbours | --queries | --types | --older | --bytes | --kind | --duplicates | --max-nodes | --max-age | --jsonl | --filter | --only) ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((position++)); fi ;;
    esac
  done

  case $previous in
    --store | --cwd) compopt -o dirnames; return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current"); return ;;
    --durability) mapfile -t COMPREPLY < <(compgen -W "commit relaxed" -- "$current"); return ;;
    --provider)
      mapfile -t COMPREPLY < <(compgen -W "quipu anthropic openai-chat openai-responses gemini" -- "$current")
      return
      ;;
    --id | --title | --expect-tail | --expect-head | --batch | --at | --entry | --head | --model | --budget | --keep | --summarizer | --trigger | --summary | --remove | --reason | --text | --type | --agent | --parent | --tag | --since | --from | --until | --limit | --after | --branch | --tool | --types | --older | --bytes | --max-nodes | --max-age | --filter) return ;;
    --kind) mapfile -t COMPREPLY < <(compgen -W "short long agent" -- "$current"); return ;;
    --duplicates) mapfile -t COMPREPLY < <(compgen -W "keep skip merge" -- "$current"); return ;;
    --role) mapfile -t COMPREPLY < <(compgen -W "user assistant system tool summary title label" -- "$current"); return ;;
    --phase) mapfile -t COMPREPLY < <(compgen -W "0 1 2 3" -- "$current"); return ;;
    --only) mapfile -t COMPREPLY < <(compgen -W "sessions memory knowledge" -- "$current"); return ;;
    --out | --queries | --jsonl) compopt -o default; return ;;
    --project) compopt -o dirnames; return ;;
    --status) mapfile -t COMPREPLY < <(compgen -W "active terminated" -- "$current"); return ;;
  esac

  if [[ $current == -* ]]; then
    local own=
    case $command in
      new) own="--id --cwd --title --agent --project" ;;
      append) own="--expect-tail --expect-head --batch --durability" ;;
      fork) own="--at --id --detach" ;;
      branch) own="--at --summary" ;;
      label) own="--list --remove" ;;
      redact) own="--reason" ;;
      queue) own="--text --id" ;;
      recover) own="--apply" ;;
      attach) own="--type" ;;
      import) own="--dry-run --watch --since --project" ;;
      export) own="--to --out --install --report --normalise" ;;
      adopt) own="--phase --out --in-place --dry-run" ;;
      upgrade) own="--dry-run --i-have-a-backup" ;;
      copy) own="--session" ;;
      usage) own="--by --breakdown --since --from --until --to --tz --project --all --agent --model --prices --csv" ;;
      search) own="--all --project --agent --session --branch --role --tool --since --until --limit --after --neighbours --paths --queries" ;;
      events) own="--follow --after --now --types --session --limit --jsonl --batch --older --bytes --dry-run" ;;
      reindex) own="--only" ;;
      memory) own="--agent --project --kind --limit --since --hybrid --queries --duplicates --after --max-nodes --max-age --dry-run" ;;
      knowledge) own="--jsonl --title --limit --hybrid --filter --queries --after" ;;
      show) own="--entry --head --full --raw" ;;
      context) own="--provider --model --head --budget --explain --full --open-ended" ;;
      compact) own="--keep --summarizer --trigger --lift --entry" ;;
      list) own="--all --project --agent --archived --parent --title --tag --status --since --until --limit --after --ids --wide" ;;
      stats) own="--project --all" ;;
      tag) own="--remove" ;;
      archive) own="--undo" ;;
      cat) own="--sealed" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$own $shared" -- "$current")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif [[ $position -eq 0 && $command == attach ]]; then
    mapfile -t COMPREPLY < <(compgen -W "put get list" -- "$current")
  elif [[ $position -eq 0 && $command == events ]]; then
    mapfile -t COMPREPLY < <(compgen -W "tail append prune" -- "$current")
  elif [[ $command == events ]]; then
    compopt -o default
  elif [[ $position -eq 1 && $command == queue ]]; then
    mapfile -t COMPREPLY < <(compgen -W "add list remove" -- "$current")
  elif [[ $command == project && $position -eq 0 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "list show rename relocate assign" -- "$current")
  elif [[ $command == project ]]; then
    compopt -o dirnames
  elif [[ $position -eq 0 && $command == adopt ]]; then
    mapfile -t COMPREPLY < <(compgen -W "codepilot" -- "$current")
  elif [[ $command == adopt ]]; then
    compopt -o default
  elif [[ $position -eq 0 && $command == usage ]]; then
    mapfile -t COMPREPLY < <(compgen -W "add" -- "$current")
  elif [[ $position -eq 0 && $command == memory ]]; then
    mapfile -t COMPREPLY < <(compgen -W "add search list evict forget" -- "$current")
  elif [[ $position -eq 0 && $command == knowledge ]]; then
    mapfile -t COMPREPLY < <(compgen -W "add query list remove" -- "$current")
  elif [[ $position -eq 0 && $command == events ]]; then
    mapfile -t COMPREPLY < <(compgen -W "tail append prune" -- "$current")
  elif [[ $command == @(copy|usage|memory|knowledge|events) ]]; then
    compopt -o default
  elif [[ $command == @(import|sources) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "claude codepilot codex craft gemini jsonl myagents opencode pi" -- "$current")
    compopt -o default
  elif [[ $position -eq 0 && $command != @(init|new|list|search|reindex|upgrade|version) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "${store[@]}" list --all --ids 2>/dev/null)" -- "$current")
  elif [[ $command == @(append|branch|attach|queue) ]]; then
    compopt -o default
  fi
}
complete -F _quipu quipu
