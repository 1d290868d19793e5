// The commands: each adds itself to the command line.
#pragma once

#include "cli/command_line.h"

namespace quipu::cli {

void add_init(CommandLine& line);
void add_new(CommandLine& line);
void add_append(CommandLine& line);
void add_head(CommandLine& line);
void add_fork(CommandLine& line);
void add_branch(CommandLine& line);
void add_diff(CommandLine& line);
void add_label(CommandLine& line);
void add_redact(CommandLine& line);
void add_list(CommandLine& line);
void add_show(CommandLine& line);
void add_tree(CommandLine& line);
void add_path(CommandLine& line);
void add_cat(CommandLine& line);
void add_context(CommandLine& line);
void add_compact(CommandLine& line);
void add_state(CommandLine& line);
void add_queue(CommandLine& line);
void add_recover(CommandLine& line);
void add_attach(CommandLine& line);
void add_import(CommandLine& line);
void add_export(CommandLine& line);
void add_sources(CommandLine& line);
void add_adopt(CommandLine& line);
void add_usage(CommandLine& line);
void add_events(CommandLine& line);
void add_search(CommandLine& line);
void add_reindex(CommandLine& line);
void add_stats(CommandLine& line);
void add_rename(CommandLine& line);
void add_tag(CommandLine& line);
void add_archive(CommandLine& line);
void add_project(CommandLine& line);
void add_memory(CommandLine& line);
void add_knowledge(CommandLine& line);
void add_verify(CommandLine& line);
void add_repair(CommandLine& line);
void add_migrate(CommandLine& line);
void add_upgrade(CommandLine& line);
void add_copy(CommandLine& line);
void add_dump(CommandLine& line);
void add_version(CommandLine& line);

/// What `version` and `--version` say.
int print_version(Context& context);

}  // namespace quipu::cli
