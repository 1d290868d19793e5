# fish completion for quipu: commands, options, session ids.

set -l commands init new append head fork list show tree path cat verify repair migrate dump version
set -l with_session append head fork show tree path cat verify repair migrate dump

complete -c quipu -f
complete -c quipu -l store -x -a '(__fish_complete_directories)' -d 'the store'
complete -c quipu -l json -d 'answers and errors as JSON'
complete -c quipu -l color -x -a 'auto always never' -d 'colours'
complete -c quipu -l no-pager -d 'no pager'
complete -c quipu -s h -l help -d 'help'

set -l none "not __fish_seen_subcommand_from $commands"
complete -c quipu -n "$none" -a init -d 'make the store'
complete -c quipu -n "$none" -a new -d 'make a session'
complete -c quipu -n "$none" -a append -d 'append entries, one JSON object a line'
complete -c quipu -n "$none" -a head -d 'print or set the entry that the session goes on from'
complete -c quipu -n "$none" -a fork -d 'make a session that goes on from an entry'
complete -c quipu -n "$none" -a list -d 'list the sessions'
complete -c quipu -n "$none" -a show -d 'show the conversation up to the head'
complete -c quipu -n "$none" -a tree -d 'draw the branches'
complete -c quipu -n "$none" -a path -d 'print the ids from the root to an entry'
complete -c quipu -n "$none" -a cat -d 'print the entries in log order'
complete -c quipu -n "$none" -a verify -d 'check every seal, parent and index'
complete -c quipu -n "$none" -a repair -d 'mend what can be mended'
complete -c quipu -n "$none" -a migrate -d 'rewrite sessions of older versions'
complete -c quipu -n "$none" -a dump -d 'show how the log is stored'
complete -c quipu -n "$none" -a version -d 'print the version'

complete -c quipu -n "__fish_seen_subcommand_from $with_session" -a '(quipu list --ids 2>/dev/null)' -d session
complete -c quipu -n '__fish_seen_subcommand_from append' -F
complete -c quipu -n '__fish_seen_subcommand_from new' -l id -x -d 'its id'
complete -c quipu -n '__fish_seen_subcommand_from new' -l cwd -x -a '(__fish_complete_directories)' -d 'its directory'
complete -c quipu -n '__fish_seen_subcommand_from new' -l title -x -d 'its title'
complete -c quipu -n '__fish_seen_subcommand_from append' -l expect-tail -x -d 'the last entry must be'
complete -c quipu -n '__fish_seen_subcommand_from append' -l expect-head -x -d 'the head must be'
complete -c quipu -n '__fish_seen_subcommand_from append' -l batch -x -d 'a batch every N lines'
complete -c quipu -n '__fish_seen_subcommand_from append' -l durability -x -a 'commit relaxed' -d 'when to answer'
complete -c quipu -n '__fish_seen_subcommand_from fork' -l at -x -d 'the entry'
complete -c quipu -n '__fish_seen_subcommand_from fork' -l id -x -d 'the new id'
complete -c quipu -n '__fish_seen_subcommand_from fork' -l detach -d 'copy the path'
complete -c quipu -n '__fish_seen_subcommand_from list' -l ids -d 'only the ids'
complete -c quipu -n '__fish_seen_subcommand_from list' -l wide -d 'nothing is shortened'
complete -c quipu -n '__fish_seen_subcommand_from show' -l entry -x -d 'only this entry'
complete -c quipu -n '__fish_seen_subcommand_from show' -l full -d 'nothing is folded'
complete -c quipu -n '__fish_seen_subcommand_from cat' -l sealed -d 'as stored'
