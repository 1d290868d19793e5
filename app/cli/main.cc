// quipu: the command line. One file a command; see commands.h.
#include <fcntl.h>

#include <clocale>
#include <csignal>
#include <exception>

#include <fmt/format.h>

#include "cli/commands.h"

namespace quipu::cli {
namespace {

// A closed standard stream would be reopened by the next file of the store, and
// what we print would go into it. Opened the wrong way round, the number is
// taken and every use of it fails.
void occupy_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int taken = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

int run(int argc, char** argv) {
  Context context;
  CommandLine line(context);
  // In the order of the help.
  for (const auto add :
       {add_init,   add_new,     add_append,    add_head,    add_fork,    add_branch,
        add_diff,   add_label,   add_redact,    add_list,    add_show,    add_tree,
        add_path,   add_cat,     add_context,   add_compact, add_stats,   add_rename,
        add_tag,    add_archive, add_project,   add_state,   add_queue,   add_recover,
        add_attach, add_import,  add_export,    add_sources, add_adopt,   add_search,
        add_usage,  add_memory,  add_knowledge, add_events,  add_reindex, add_verify,
        add_repair, add_migrate, add_upgrade,   add_copy,    add_dump,    add_version}) {
    add(line);
  }
  if (const auto said = line.parse(argc, argv)) return *said;
  return context.finish(context.run());
}

}  // namespace
}  // namespace quipu::cli

int main(int argc, char** argv) {
  quipu::cli::occupy_standard_streams();
  // Whoever started us may have it ignored; `quipu cat | head` ends quietly.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that may not grow is an error like a full disk, with nothing lost.
  std::signal(SIGXFSZ, SIG_IGN);
  // For the character set only: numbers and messages stay the same everywhere.
  std::setlocale(LC_CTYPE, "");
  try {
    return quipu::cli::run(argc, argv);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "quipu: {}\n", problem.what());
    return quipu::cli::kExitFailed;
  }
}
