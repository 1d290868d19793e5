# bash completion for quipu: commands, options, session ids.

_quipu() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="init new append head fork list show tree path cat stats rename tag archive project verify repair migrate dump version"
  local shared="--store --json --color --no-pager --help"
  local i command= position=0 store=()
  COMPREPLY=()

  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --store) store=(--store "${COMP_WORDS[++i]}") ;;
      --color | --id | --cwd | --title | --agent | --project | --parent | --tag | --status | --since | --until | --limit | --after | --remove | --expect-tail | --expect-head | --batch | --durability | --at | --entry) ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((position++)); fi ;;
    esac
  done

  case $previous in
    --store | --cwd) compopt -o dirnames; return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$current"); return ;;
    --durability) mapfile -t COMPREPLY < <(compgen -W "commit relaxed" -- "$current"); return ;;
    --project) compopt -o dirnames; return ;;
    --status) mapfile -t COMPREPLY < <(compgen -W "active terminated" -- "$current"); return ;;
    --id | --title | --agent | --parent | --tag | --since | --until | --limit | --after | --remove | --expect-tail | --expect-head | --batch | --at | --entry) return ;;
  esac

  if [[ $current == -* ]]; then
    local own=
    case $command in
      new) own="--id --cwd --title --agent --project" ;;
      append) own="--expect-tail --expect-head --batch --durability" ;;
      fork) own="--at --id --detach" ;;
      list) own="--all --project --agent --archived --parent --title --tag --status --since --until --limit --after --ids --wide" ;;
      stats) own="--project --all" ;;
      tag) own="--remove" ;;
      archive) own="--undo" ;;
      show) own="--entry --full" ;;
      cat) own="--sealed" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$own $shared" -- "$current")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif [[ $command == project && $position -eq 0 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "list show rename relocate assign" -- "$current")
  elif [[ $command == project ]]; then
    compopt -o dirnames
  elif [[ $position -eq 0 && $command != @(init|new|list|version) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "${store[@]}" list --all --ids 2>/dev/null)" -- "$current")
  elif [[ $command == append ]]; then
    compopt -o default
  fi
}
complete -F _quipu quipu
