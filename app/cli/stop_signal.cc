#include "cli/stop_signal.h"

#include <signal.h>

#include <csignal>

namespace quipu::cli {
namespace {

volatile std::sig_atomic_t wanted = 0;

}  // namespace

// Without SA_RESTART: whoever waits for the system wakes up.
void note_stop_signals() {
  struct sigaction stop {};
  stop.sa_handler = [](int) { wanted = 1; };
  ::sigaction(SIGINT, &stop, nullptr);
  ::sigaction(SIGTERM, &stop, nullptr);
}

bool stop_wanted() { return wanted != 0; }

}  // namespace quipu::cli
