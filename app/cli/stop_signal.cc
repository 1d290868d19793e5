#include "cli/stop_signal.h"

#include <signal.h>

#include <csignal>

namespace quipu::cli {
namespace {

volatile std::sig_atomic_t stop_signalled = 0;

}  // namespace

// Without SA_RESTART: whoever waits for the system wakes up.
void note_stop_signals() {
  struct sigaction stop {};
  stop.sa_handler = [](int) { stop_signalled = 1; };
  ::sigaction(SIGINT, &stop, nullptr);
  ::sigaction(SIGTERM, &stop, nullptr);
  struct sigaction was {};
  const bool is_known = ::sigaction(SIGHUP, nullptr, &was) == 0;
  if (is_known && was.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &stop, nullptr);  // nohup
}

bool stop_wanted() { return stop_signalled != 0; }

}  // namespace quipu::cli
